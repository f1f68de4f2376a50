import type {ReleaseName} from '../ports/helm.ts';
import type {InstalledChart, Status, WorkloadLine} from '../status/status.ts';
import {type Screen, theme} from './theme.ts';

const VERDICTS = {
  ready: ['✓', 'green', 'is ready'],
  'not-ready': ['!', 'yellow', 'is not ready'],
  hopeless: ['×', 'red', 'cannot become ready'],
  unknown: ['?', 'yellow', 'cannot be judged: not everything was answered'],
} as const;

export function verdictOf({release, place}: ReleaseName, {state, causes}: Pick<Status, 'state' | 'causes'>, screen: Screen): string {
  const [mark, colour, verdict] = VERDICTS[state];
  const yet = state === 'not-ready' && causes.length === 0 ? ' yet' : '';
  return `${theme(screen)[colour](mark)} Release ${release} in namespace ${place.namespace} ${verdict}${yet}`;
}

/** Without `now` it does not change by itself. */
export function recordFact({revision}: Pick<Status, 'revision'>, now?: Date): string | undefined {
  if (revision === undefined) return undefined;
  const when = now ? `, ${ago(now.getTime() - Date.parse(revision.updated))} ago` : '';
  return `${revision.status}, revision ${revision.revision}${when}`;
}

/** The largest unit that fits, as kubectl tells ages. */
function ago(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

export function chartFact({chart}: Pick<Status, 'chart'>): string | undefined {
  if (chart === undefined) return undefined;
  const {name, version, agentVersion} = chart;
  return `${name} ${version}${agentVersion ? ` with agent ${agentVersion}` : ''}; ${standingText(chart)}`;
}

function standingText({standing, behind, newestKnown}: InstalledChart): string {
  const releases = `${behind} ${behind === 1 ? 'release' : 'releases'} behind ${newestKnown}, the newest this program knows`;
  if (standing === 'newest') return 'the newest this program knows';
  if (standing === 'newer-than-known') return `newer than ${newestKnown}, the newest this program knows`;
  if (standing === 'withdrawn') return `withdrawn by its makers, ${releases}`;
  return standing === 'older-than-known' ? `older than any this program knows, at least ${releases}` : releases;
}

const MARKS = {ready: ['✓', 'green'], waiting: ['…', 'yellow'], failing: ['×', 'red']} as const;

export function workloadFact({object, state, text}: WorkloadLine, screen: Screen): string {
  const [mark, colour] = MARKS[state];
  return `${theme(screen)[colour](mark)} ${object}: ${text}`;
}

export function agentsFact({agents}: Pick<Status, 'agents'>): string | undefined {
  if (agents.length === 0) return undefined;
  const silent = agents.filter(({state}) => state === 'unknown').map(({pod}) => pod);
  const known = `${agents.length - silent.length} of ${agents.length} registered, as their logs say`;
  if (silent.length === agents.length) return `not known whether they have registered: ${listed(silent)}`;
  return silent.length === 0 ? known : `${known}; not known of ${listed(silent)}`;
}

export function runsFact({runs, chart}: Pick<Status, 'runs' | 'chart'>): string | undefined {
  if (chart === undefined) return 'cannot be seen from here: it is not known which chart this is';
  if (chart.name === 'agent-local') return 'cannot be seen from here: they happen inside the agent';
  if (runs === undefined) return 'cannot be seen from here: Jobs and pods could not be read';
  if (runs.length === 0) return 'none in flight';
  const maybe = runs.every(({isCertain}) => isCertain) ? '' : ', as far as pods of runs can be told from others';
  return `${runs.length} in flight: ${listed(runs.map(({kind, name}) => `${kind} ${name}`))}${maybe}`;
}

export function valuesFact({drift}: Pick<Status, 'drift'>, files: readonly string[]): string | undefined {
  if (files.length === 0) return undefined;
  const source = files.map((file) => (file === '-' ? 'standard input' : file)).join(' + ');
  if (drift === undefined) return `cannot be compared with ${source}`;
  const {length} = drift.differences;
  if (length === 0) return `as in ${source}`;
  return `${length} ${length === 1 ? 'difference' : 'differences'} from ${source}: ${listed(drift.differences.map(({path}) => path))}`;
}

const MOST_NAMES = 4;

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return `${names.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
