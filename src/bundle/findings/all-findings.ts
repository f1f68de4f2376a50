import type {Target} from '../../charts/define.ts';
import {clusterFindings} from '../../diagnose/cluster-findings.ts';
import type {Evidence, Finding} from '../../diagnose/finding.ts';
import {cacheUseText, type LogRecord, sumOfCacheUse} from '../../diagnose/log-matcher.ts';
import type {LiveDrift} from '../../diff/live-drift.ts';
import {ownCommand} from '../../ground/command-line.ts';
import {count} from '../../ground/text.ts';
import type {Values} from '../../ground/tree.ts';
import {isDebugOn} from '../../values/debug.ts';
import type {PreparedBundle} from '../collect/prepare.ts';
import {driftFindings, mistakes, policyFindings, versionFindings} from './release-findings.ts';

/** All findings, errors first, and notes for support. Pure. */
export function allFindings(
  {scope: {objects}, releases, cluster, skewMs = 0, ...prepared}: PreparedBundle,
  namespace: string,
  places: Evidence,
  logs: readonly LogRecord[],
  now: Date,
): Finding[] {
  const ofReleases = releases.flatMap(({name, chart, version, values, drift}) => {
    const target = {chart, version};
    return [
      ...driftFindings({name, namespace}, drift),
      ...mistakes({name, target, values}, places),
      ...versionFindings({name, namespace, target}, {server: cluster?.server, nodes: cluster?.nodes ?? []}, places),
      ...debugFindings({name, namespace, target, values}, places),
      ...(cluster?.enforcement ? policyFindings({name, chart, version}, objects, cluster.enforcement, places) : []),
    ];
  });
  const ofMachine = (prepared.findings?.(logs, now) ?? []).map((finding) => withLine(finding, places));
  const theirNow = new Date(now.getTime() + skewMs);
  const replicas = Object.assign({}, ...releases.map((each) => each.replicas)) as LiveDrift['replicas'];
  const found = [...clusterFindings({objects, logs, places, replicas, now: theirNow}), ...ofReleases, ...ofMachine, ...cacheFindings(logs)];
  return found.toSorted((one, other) => RANKS.indexOf(one.severity) - RANKS.indexOf(other.severity));
}

const RANKS: readonly Finding['severity'][] = ['error', 'warning', 'info'];

/** File of docker or systemd with the state of a finding. */
const SIGNS: Readonly<Record<string, readonly string[]>> = {
  OOM_KILLED: ['"OOMKilled": true', 'Result=oom-kill'],
  CRASH_LOOP: ['"Restarting": true'],
  NOT_RUNNING: ['"Status": ', 'ActiveState='],
  RESTARTED: ['"RestartCount": ', 'NRestarts='],
  UNIT_CHANGED: ['NeedDaemonReload=yes'],
};

/** Adds the line if a finding has only a file. */
export function withLine(finding: Finding, places: Evidence): Finding {
  const {evidence, line, code} = finding;
  if (evidence === undefined || line !== undefined) return finding;
  return {...finding, ...places.inFile(evidence, ...(SIGNS[code] ?? []))};
}

// Notes: not problems, but support asks for them.

interface Installed {
  name: string;
  namespace: string;
  target: Target;
  values: Values | undefined;
}

/** Scalr support requires debug logs of the time of an incident. Pure. */
export function debugFindings({name, namespace, target, values}: Installed, places: Evidence): Finding[] {
  if (values === undefined || isDebugOn(values, target)) return [];
  return [
    {
      severity: 'info',
      code: 'DEBUG_OFF',
      object: `release/${name}`,
      message: 'Debug logs were off when this bundle was collected',
      ...places.inFile(`releases/${name}/values.json`),
      remedy: `If support asks for debug logs: ${ownCommand('debug', {release: name, kubeTarget: {namespace}}, 'on')}, then repeat the run and collect a new bundle`,
    },
  ];
}

/** Cache use of runs according to their logs. Pure. */
export function cacheFindings(logs: readonly LogRecord[]): Finding[] {
  const logsWithCacheUse = logs.filter(({cacheUse}) => cacheUse !== undefined);
  const use = sumOfCacheUse(logsWithCacheUse.map(({cacheUse}) => cacheUse));
  if (use === undefined) return [];
  const isUsed = use.plugins.cached + use.modules.cached > 0;
  return [
    {
      severity: 'info',
      code: isUsed ? 'CACHE_USED' : 'CACHE_NOT_USED',
      object: 'runs',
      message: `${cacheUseText(use)}, in ${count(logsWithCacheUse.length, 'log')}`,
      ...(logsWithCacheUse[0] === undefined ? {} : {evidence: logsWithCacheUse[0].file}),
      remedy: isUsed ? 'None: the cache works' : 'Keep the cache between runs with --cache, --provider-cache and --module-cache',
    },
  ];
}
