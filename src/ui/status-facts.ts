import {cacheUseText} from '../checks/diagnose/log-matcher.ts';
import type {InstalledChart, ReleaseStatus, WorkloadLine} from '../checks/status/status.ts';
import {differs, isRestored, type ObjectDrift} from '../cluster/diff/live-drift.ts';
import {type ClusterTarget, kubectlCommand, type ReleaseName} from '../ground/command-line.ts';
import {ageText, count, few} from '../ground/text.ts';
import {agentCounts} from './agent-counts.ts';
import {type Screen, stateMark, theme} from './theme.ts';

const VERDICTS = {
  ready: ['✓', 'green', 'is ready'],
  'not-ready': ['!', 'yellow', 'is not ready'],
  failed: ['×', 'red', 'cannot become ready'],
  unknown: ['?', 'yellow', 'has an unknown status: some data could not be read'],
} as const;

export function verdictOf(
  {release, kubeTarget}: ReleaseName,
  {state, causes, objects = []}: ReleaseStatus,
  screen: Screen,
): string {
  const [mark, color, verdict] = VERDICTS[state];
  const yet = state === 'not-ready' && causes.length === 0 ? ' yet' : '';
  const but =
    state === 'ready' && objects.some(differs)
      ? `, but ${objectsCount(objects)} from the installed manifest`
      : '';
  return `${theme(screen)[color](mark)} Release ${release} in namespace ${kubeTarget.namespace} ${verdict}${yet}${but}`;
}

/** Without `now`, the text contains no age. */
export function recordFact({revision}: ReleaseStatus, now?: Date): string | undefined {
  if (revision === undefined) return undefined;
  const when = now ? `, ${ageText(now.getTime() - Date.parse(revision.updated))} ago` : '';
  return `${revision.status}, revision ${revision.revision}${when}`;
}

/** Flux HelmRelease flux-system/agents: synced (applied by Flux Kustomization flux-system/apps) */
export function controllerFact({controller}: ReleaseStatus): string | undefined {
  if (controller === undefined) return undefined;
  const {name, state, reason, source} = controller;
  return `${name}: ${state}${reason === undefined ? '' : `, ${reason}`}${source === undefined ? '' : ` (${source})`}`;
}

export function chartFact({chart}: ReleaseStatus): string | undefined {
  if (chart === undefined) return undefined;
  const {name, version, agentVersion} = chart;
  return `${name} ${version}${agentVersion ? ` (default agent ${agentVersion})` : ''}; ${standingText(chart)}`;
}

function standingText({standing, behind, newestKnown, newest}: InstalledChart): string {
  const releases = `${count(behind, 'release')} behind ${newestKnown}, the newest known version`;
  const known = {
    newest: 'newest known version',
    'newer-than-known': `newer than the newest known version ${newestKnown}`,
    withdrawn: `withdrawn from the chart repository, ${releases}`,
    'older-than-known': `older than all known versions, at least ${releases}`,
    behind: releases,
  }[standing];
  return newest === undefined ? known : `${known}; newest in the repository: ${newest}`;
}

export function objectsFact(
  {objects, isFullyCompared, isVerified, controller}: ReleaseStatus,
  {kubeTarget}: ReleaseName,
): string | undefined {
  if (objects === undefined) return undefined;
  if (objects.length === 0)
    return isFullyCompared
      ? 'unchanged'
      : 'unknown: some of them could not be read, the others are unchanged';
  if (!objects.some(differs)) return 'as installed, except for fields that other programs set';
  const editing = objects
    .filter(({problem}) => problem === 'added')
    .map(({object}) => editCommand(object, kubeTarget));
  return [
    `${objectsCount(objects)} from the installed manifest${isVerified ? '' : ' (not verified with a dry run)'}`,
    ...(objects.some(isRestored) && controller === undefined
      ? [
          'To restore, run install with the same settings. Without them: scalr-agent explain CHANGED_IN_CLUSTER',
        ]
      : []),
    ...(editing.length === 0 ? [] : [`To remove added fields: ${few(editing, 2)}`]),
  ].join('. ');
}

const editCommand = (object: string, kubeTarget: ClusterTarget): string =>
  kubectlCommand(
    kubeTarget,
    'edit',
    object.replace(' ', '/').toLowerCase(),
    '--namespace',
    kubeTarget.namespace,
  );

function objectsCount(objects: readonly ObjectDrift[]): string {
  const {size} = new Set(objects.filter(differs).map(({object}) => object));
  return `${size} ${size === 1 ? 'object differs' : 'objects differ'}`;
}

export const workloadFact = ({object, state, text}: WorkloadLine, screen: Screen): string =>
  `${stateMark(state, screen)} ${object}: ${text}`;

export function agentsFact({agents}: ReleaseStatus): string | undefined {
  if (agents.length === 0) return undefined;
  const silent = agents.filter(({state}) => state === 'unknown').map(({pod}) => pod);
  const known = `${agents.length - silent.length} of ${agents.length} registered (according to their logs)`;
  if (silent.length === agents.length) return `registration unknown: ${few(silent)}`;
  return silent.length === 0 ? known : `${known}; unknown: ${few(silent)}`;
}

/** The pool and its agents according to Scalr. */
export function accountFact({account}: ReleaseStatus): string | undefined {
  if (account === undefined) return undefined;
  const {host, pool, agents} = account;
  if (pool === undefined) return `no agent of this release found on ${host}`;
  return `agent pool ${pool.name} on ${host}: ${agentCounts(agents.map(({agent}) => agent?.status ?? 'unknown'))}`;
}

export function runsFact({runs, chart, purpose}: ReleaseStatus): string | undefined {
  if (purpose === 'vcs') return 'none: VCS agents execute no runs';
  if (chart === undefined) return 'not visible: the chart of the release is unknown';
  if (chart.name === 'agent-local')
    return 'not visible: agent-local executes runs inside the agent container';
  if (runs === undefined) return 'not visible: Jobs and pods could not be read';
  if (runs.length === 0) return 'none in flight';
  const maybe = runs.every(({isCertain}) => isCertain)
    ? ''
    : ' (run pods could not be identified with certainty)';
  return `${runs.length} in flight: ${few(runs.map(({kind, name}) => `${kind} ${name}`))}${maybe}`;
}

export const cacheFact = ({cacheUse}: ReleaseStatus): string | undefined =>
  cacheUse && `${cacheUseText(cacheUse)} (from run logs)`;

export function valuesFact({drift}: ReleaseStatus, files: readonly string[]): string | undefined {
  if (files.length === 0) return undefined;
  const source = files.map((file) => (file === '-' ? 'standard input' : file)).join(' + ');
  if (drift === undefined) return `cannot be compared with ${source}`;
  const {length} = drift.differences;
  if (length === 0) return `match ${source}`;
  return `${count(length, 'difference')} from ${source}: ${few(drift.differences.map(({path}) => path))}`;
}
