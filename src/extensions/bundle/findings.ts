import {floorOf, isBelow, isTooOld, isVersion, versionStatus} from '../../charts/charts.ts';
import {agentVersionOf} from '../../charts/releases/schema.ts';
import {releasesOf, type Target} from '../../charts/releases/target.ts';
import {cacheUseText, type LogRecord, sumOfCacheUse} from '../../checks/diagnose/log-matcher.ts';
import {driftFinding} from '../../checks/status/drift-finding.ts';
import type {ObjectDrift} from '../../cluster/diff/live-drift.ts';
import type {KubernetesObject} from '../../cluster/kubernetes/objects.ts';
import {policyWeakness} from '../../cluster/platform/policies.ts';
import type {NodeObject} from '../../cluster/platform/readings.ts';
import {
  type ClusterTarget,
  helmCommand,
  kubectlCommand,
  ownCommand,
  type ReleaseName,
} from '../../ground/command-line.ts';
import {
  byVerdict,
  type KeyFinding,
  type ObjectFinding,
  type Remedy,
  remediesOf,
  remedyTexts,
} from '../../ground/finding.ts';
import {jsonText} from '../../ground/json.ts';
import {count} from '../../ground/text.ts';
import type {Values} from '../../ground/tree.ts';
import {isDebugOn} from '../../values/debug.ts';
import {knownBugs, validate} from '../../values/validate/validate.ts';
import {clusterFindings} from './cluster-findings.ts';
import type {PreparedBundle} from './collect/prepare.ts';
import {type Enforcement, NETWORK} from './collect/read-objects.ts';
import {type BundledRelease, helmReleaseOf} from './collect/scope.ts';
import type {BundlePositions} from './positions.ts';

interface Installed {
  name: string;
  target: Target;
}

/** A release with the cluster in which the commands of its remedies run. */
interface InCluster extends Installed {
  kubeTarget: ClusterTarget;
}

/** All findings, errors first, and notes for support. Pure. */
export function allFindings(
  prepared: PreparedBundle,
  places: BundlePositions,
  logs: readonly LogRecord[],
  now: Date,
): ObjectFinding[] {
  const {releases, skewMs = 0} = prepared;
  const found = [
    ...clusterFindings({
      objects: prepared.scope.objects,
      kubeTarget: prepared.kubeTarget,
      logs,
      places,
      replicas: Object.assign({}, ...releases.map(({replicas}) => replicas)),
      now: new Date(now.getTime() + skewMs),
    }),
    ...releases.flatMap((release) => releaseFindings(release, prepared, places)),
    ...(prepared.findings?.(logs, now) ?? []).map((finding) => withLine(finding, places)),
    ...cacheFindings(logs),
  ];
  return found.toSorted(byVerdict);
}

function releaseFindings(
  {name, chart, version, values, drift, causes}: PreparedBundle['releases'][number],
  {name: namespace, kubeTarget = {namespace}, scope, cluster}: PreparedBundle,
  places: BundlePositions,
): ObjectFinding[] {
  const installed = {name, kubeTarget, target: {chart, version}, values};
  const versions = {server: cluster?.server, nodes: cluster?.nodes ?? []};
  const {enforcement} = cluster ?? {};
  return [
    ...causes.map((cause) => ({
      ...cause,
      evidence: places.inFile(`releases/${name}/history.json`),
    })),
    ...driftFindings(installed, drift),
    ...configurationFindings(installed, places),
    ...versionFindings(installed, versions, places),
    ...debugFindings(installed, places),
    ...(enforcement === undefined
      ? []
      : policyFindings({name, chart, version}, scope.objects, enforcement, places)),
  ];
}

/** File of docker or systemd with the state of a finding. */
const SIGNS: Readonly<Record<string, readonly string[]>> = {
  OOM_KILLED: ['"OOMKilled": true', 'Result=oom-kill'],
  CRASH_LOOP: ['"Restarting": true'],
  NOT_RUNNING: ['"Status": ', 'ActiveState='],
  RESTARTED: ['"RestartCount": ', 'NRestarts='],
  UNIT_CHANGED: ['NeedDaemonReload=yes'],
};

/** Adds the line if a finding has only a file. */
function withLine(finding: ObjectFinding, places: BundlePositions): ObjectFinding {
  const {evidence, code} = finding;
  if (evidence === undefined || evidence.line !== undefined) return finding;
  const found = places.inFile(evidence.file, ...(SIGNS[code] ?? []));
  return {...finding, evidence: found ?? evidence};
}

// Notes: not problems, but support asks for them.

/** Scalr support requires debug logs of the time of an incident. Pure. */
export function debugFindings(
  {name, kubeTarget, target, values}: InCluster & {values: Values | undefined},
  places: BundlePositions,
): ObjectFinding[] {
  if (values === undefined || isDebugOn(values, target)) return [];
  return [
    {
      code: 'DEBUG_OFF',
      verdict: 'note',
      subject: {object: `release/${name}`},
      message: 'Debug logs were off when this bundle was collected',
      evidence: places.inFile(`releases/${name}/values.json`),
      remedies: remediesOf(
        `Enable debug logs, repeat the run, and collect a new bundle: ${ownCommand('debug', {release: name, kubeTarget}, 'on')}`,
      ),
    },
  ];
}

/** Cache use of runs according to their logs. Pure. */
export function cacheFindings(logs: readonly LogRecord[]): ObjectFinding[] {
  const logsWithCacheUse = logs.filter(({cacheUse}) => cacheUse !== undefined);
  const use = sumOfCacheUse(logsWithCacheUse.map(({cacheUse}) => cacheUse));
  if (use === undefined) return [];
  const isUsed = use.plugins.cached + use.modules.cached > 0;
  const [first] = logsWithCacheUse;
  return [
    {
      code: isUsed ? 'CACHE_USED' : 'CACHE_NOT_USED',
      verdict: 'note',
      subject: {object: 'runs'},
      message: `${cacheUseText(use)}, in ${count(logsWithCacheUse.length, 'log')}`,
      evidence: first && {file: first.file},
      remedies: remediesOf(
        isUsed
          ? undefined
          : 'Keep the cache between runs with --cache, --provider-cache and --module-cache',
      ),
    },
  ];
}

/** Findings of validate for these values, and bugs of this chart version. Pure. */
export function configurationFindings(
  {name, target, values}: Installed & {values: Values | undefined},
  places: BundlePositions,
): ObjectFinding[] {
  const text = jsonText(values ?? {});
  const version = `${target.chart} ${target.version}`;
  const subject = {object: `release/${name}`};
  const file = `releases/${name}/values.json`;
  const check = `Check the values: scalr-agent validate ${file} --chart ${target.chart} --chart-version ${target.version}`;
  return [
    ...(values === undefined ? [] : validate(text, target)).map((each) => ({
      ...each,
      subject,
      message: messageWithKey(each, version),
      evidence: each.subject.line === undefined ? {file} : {file, line: each.subject.line},
      remedies: advice(each, check),
    })),
    ...knownBugs(text, target).map((each) => ({
      ...each,
      subject,
      message: `${version}: ${each.message}`,
      evidence: places.ofVersion(name, target),
      remedies: advice(each, 'Upgrade, or select a version without this bug: --chart-version'),
    })),
  ];
}

/** Without edits: a bundle shows values of which nobody has the file, and an edit would repeat a value without its key. */
const advice = (finding: KeyFinding, otherwise: string): Remedy[] =>
  remediesOf(...(finding.remedies.length > 0 ? remedyTexts([finding]) : [otherwise]));

/** If the key came first, redaction would treat the message as its value. */
const messageWithKey = ({subject: {path}, message}: KeyFinding, version: string): string =>
  path === '' ? `${version}: ${message}` : `${message} (${path})`;

/** Whoever reads a bundle does not have the settings of the release. */
const currentValues = ({release, kubeTarget}: ReleaseName): string =>
  `${helmCommand(kubeTarget, 'get', 'values', release, '--namespace', kubeTarget.namespace, '--output', 'yaml')} > current.yaml`;

/** Objects in the cluster that differ from the release. Pure. */
const driftFindings = (
  {name, kubeTarget, target}: InCluster,
  drift: readonly ObjectDrift[],
): ObjectFinding[] =>
  drift.map((each) => {
    const finding = driftFinding(each);
    const edit = kubectlCommand(
      kubeTarget,
      'edit',
      finding.subject.object,
      '--namespace',
      kubeTarget.namespace,
    );
    const own = {release: name, kubeTarget};
    const restore = `Restore it: ${currentValues(own)} && ${ownCommand('install', own, '--values-file', 'current.yaml', '--chart', target.chart)}`;
    const remedy = {
      missing: restore,
      changed: restore,
      added: `Move the additions into the settings, or remove them: ${edit}`,
      overridden: undefined,
    }[each.problem];
    return {...finding, remedies: remediesOf(remedy)};
  });

/** Versions of the API server and nodes. */
interface ClusterVersions {
  server: string | undefined;
  nodes: readonly NodeObject[];
}

/** A chart version that is outdated, withdrawn or unsupported by this Kubernetes version. Pure. */
export const versionFindings = (
  installed: InCluster,
  cluster: ClusterVersions,
  places: BundlePositions,
): ObjectFinding[] => [
  ...behind(installed, cluster, places),
  ...kubernetesTooOld(installed, cluster, places),
];

function behind(
  {name, kubeTarget, target}: InCluster,
  {server = ''}: ClusterVersions,
  places: BundlePositions,
): ObjectFinding[] {
  const {chart, version} = target;
  const {standing, behind, newestKnown} = versionStatus(chart, version);
  if (standing === 'newest' || standing === 'newer-than-known') return [];
  const fits = releasesOf(chart).filter((each) => !isTooOld(server, {chart, version: each}));
  const next = fits.at(-1) ?? newestKnown;
  const isNewest = next === version;
  const own = {release: name, kubeTarget};
  const upgrade =
    standing === 'older-than-known'
      ? `Upgrade with the current settings: ${ownCommand('install', own, '--chart', chart, '--chart-version', next)}`
      : `Show what an upgrade changes: ${ownCommand('upgrade', own, '--chart-version', next, '--dry-run')}`;
  const kubernetes =
    next === newestKnown ? '' : ` (${newestKnown} requires a newer Kubernetes than ${server})`;
  return [
    {
      code: standing === 'withdrawn' ? 'VERSION_WITHDRAWN' : 'VERSION_BEHIND',
      verdict: 'warning',
      subject: {object: `release/${name}`},
      message: `${withAgent(chart, version)} ${STANDINGS[standing]}${count(behind, 'release')} behind ${withAgent(chart, newestKnown)}, the newest known version, and lacks its fixes`,
      evidence: places.ofVersion(name, target),
      remedies: remediesOf(
        isNewest
          ? `This is the newest version for Kubernetes ${server}: upgrade the cluster first`
          : `${upgrade}${kubernetes}`,
      ),
    },
  ];
}

const STANDINGS = {
  behind: 'is ',
  'older-than-known': 'is older than every supported version, at least ',
  withdrawn: 'was withdrawn and is ',
} as const;

const withAgent = (chart: Target['chart'], version: string): string => {
  const agent = agentVersionOf({chart, version});
  return `${chart} ${version}${agent === undefined ? '' : ` (agent ${agent})`}`;
};

function kubernetesTooOld(
  {name, target}: Installed,
  {server, nodes}: ClusterVersions,
  places: BundlePositions,
): ObjectFinding[] {
  const floor = floorOf(target);
  if (floor === undefined) return [];
  const {version, isHard, because} = floor;
  const old = [
    ...(server === undefined
      ? []
      : [{what: 'the control plane', found: server, place: places.inFile('version.json', server)}]),
    ...nodes.map(({metadata, status}) => {
      const found = status?.nodeInfo?.kubeletVersion ?? '';
      return {
        what: `node ${metadata.name}`,
        found,
        place: places.inObject('node', metadata.name, '"kubeletVersion"'),
      };
    }),
  ].filter(({found}) => isVersion(found) && isBelow(found, version));
  const [first] = old;
  if (first === undefined) return [];
  const others = old.length === 1 ? '' : ` (and ${old.length - 1} more)`;
  return [
    {
      code: 'KUBERNETES_TOO_OLD',
      verdict: isHard ? 'error' : 'warning',
      subject: {object: `release/${name}`},
      message: `${target.chart} ${target.version} requires Kubernetes ${version}, and ${first.what} runs ${first.found}${others}: ${because}`,
      evidence: first.place,
      remedies: remediesOf('Upgrade the cluster and its nodes, or install an older chart version'),
    },
  ];
}

/** Network policies of this release that are ineffective. Pure. */
export function policyFindings(
  {name, chart, version}: Pick<BundledRelease, 'name' | 'chart' | 'version'>,
  objects: readonly KubernetesObject[],
  {policies}: Pick<Enforcement, 'policies'>,
  places: BundlePositions,
): ObjectFinding[] {
  const policy = objects.find(
    (object) => object.kind === 'NetworkPolicy' && helmReleaseOf(object) === name,
  );
  const weakness = policyWeakness({chart, version}, policies);
  if (policy === undefined || !('value' in weakness) || weakness.value === undefined) return [];
  const {code, message, remedies} = weakness.value;
  const place =
    code === 'POLICY_MISSES_RUNS'
      ? undefined
      : places.inFile(
          NETWORK,
          code === 'POLICY_NOT_ENFORCED' ? '"areEnforced"' : '"blockMetadata"',
        );
  return [
    {
      code,
      verdict: 'warning',
      subject: {object: `networkpolicy/${policy.metadata.name}`},
      message,
      evidence: place ?? places.inObject('networkpolicy', policy.metadata.name, '"podSelector"'),
      remedies,
    },
  ];
}
