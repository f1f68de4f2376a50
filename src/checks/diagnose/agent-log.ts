import type {Pod} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import {type Fields, isFields, jsonIn} from '../../ground/json.ts';
import {oneLine} from '../../ground/one-line.ts';

import {
  AGENT_LOG_ROWS,
  type AgentLogRow,
  type AgentPlatform,
  UNRECOGNIZED,
} from './agent-log-rows.ts';
import type {CauseTable} from './cause.ts';
import {containersOf} from './pod-state.ts';
import {presentPods} from './rollout.ts';
import {isRunLine} from './run-lines.ts';
import {rootOf} from './snapshot-queries.ts';

const READY_PATTERN = /agent is ready to receive tasks/i;

/** The agent reached Scalr again, or works on a run: what failed before no longer matters. */
const WORKING_PATTERN =
  /\b(task|run)s?\b.{0,60}\b(acquired|accepted|started|completed|finished|succeeded)\b|^\W*(\[?info\]?\W+)?((successfully|now) )?(re)?connected\b/i;

/** Matches lines with a meaning, and a few others. */
export const SIGNIFICANT_LINE = new RegExp(
  [READY_PATTERN, ...AGENT_LOG_ROWS.map(({pattern}) => pattern)]
    .map(({source}) => source)
    .join('|'),
  'i',
);

interface Verdict {
  /** `READY`, `WORKING`, or the code of a row. */
  meaning: string;
  line: string;
  /** Time of the first of these lines without other lines in between, if the log has times. */
  since: string | undefined;
}

/** Container names of the three charts and of the tests. Other containers were injected, and their logs are not about the agent. */
const AGENT_CONTAINERS = [
  'agent',
  'agent-k8s',
  'agent-local',
  'agent-job',
  'scalr-agent',
  'controller',
  'worker',
];
/** Older lines of a running agent are outdated. */
const FRESH_MS = 10 * 60_000;
/** In a log without times, only this many lines at its end are used. */
const FRESH_LINES = 5;

export const isOfAgent = (container: string): boolean => AGENT_CONTAINERS.includes(container);

/** Meaning of one line on any platform. */
export function matchLine(
  raw: string,
): {meaning: string; text: string; at: string | undefined} | undefined {
  const line = parse(raw);
  const meaning = meaningOf(line, AGENT_LOG_ROWS);
  return meaning === undefined || meaning === 'WORKING'
    ? undefined
    : {meaning, text: line.text, at: line.at};
}

/** True if a line shows the state of an agent in Kubernetes. Work on runs does not: an agent logs only once that it is ready. */
export const hasSignificantLine = (log: string): boolean =>
  log.split('\n').some((line) => {
    const meaning = meaningOf(parse(line), rowsFor('kubernetes'));
    return meaning !== undefined && meaning !== 'WORKING';
  });

/** Meaning of the newest significant line of each agent container of a pod. */
function verdicts(snapshot: Snapshot, pod: Pod, now?: Date): Verdict[] {
  const containers = containersOf(pod);
  const own = containers.filter(({name}) => isOfAgent(name));
  return (own.length > 0 ? own : containers.slice(0, 1)).flatMap(
    ({name, ready = false}) =>
      verdictIn(snapshot.logs[`${pod.metadata.name}/${name}`] ?? '', 'kubernetes', ready, now) ??
      [],
  );
}

/** Meaning of the newest significant line of a log. Old lines of a ready agent are ignored. */
export function verdictIn(
  log: string,
  platform: AgentPlatform,
  isReady: boolean,
  now?: Date,
): Verdict | undefined {
  const rows = rowsFor(platform);
  const lines = log
    .split('\n')
    .map(parse)
    .filter(({text}) => text !== '')
    .map((line) => ({...line, meaning: meaningOf(line, rows)}))
    .reverse();
  const newest = lines.findIndex(({meaning}) => meaning !== undefined);
  const found = lines[newest];
  if (found?.meaning === undefined) return unrecognized(lines, now);
  if (found.meaning === 'WORKING') return stateBeforeWork(lines, now);
  const {meaning, text, at} = found;
  const isOld = at === undefined ? newest >= FRESH_LINES : isOutdated(at, now);
  const isLasting = meaning === 'READY' || rows.find(({code}) => code === meaning)?.isLasting;
  if (isReady && isOld && !isLasting) return undefined;
  const telling = lines.filter((line) => line.meaning !== undefined);
  const change = telling.findIndex((line) => line.meaning !== meaning);
  return {meaning, line: text, since: telling.slice(0, change < 0 ? undefined : change).at(-1)?.at};
}

/** A working agent is ready if it logged that once. */
function stateBeforeWork(
  lines: readonly MeaningfulLine[],
  now: Date | undefined,
): Verdict | undefined {
  const ready = lines.find(({meaning}) => meaning === 'READY');
  if (ready === undefined) return unrecognized(lines, now);
  return {meaning: 'READY', line: ready.text, since: ready.at};
}

const isOutdated = (at: string, now: Date | undefined): boolean =>
  now !== undefined && now.getTime() - Date.parse(at) > FRESH_MS;

/** So many errors in a row are no passing trouble. A log can be shorter. */
const FEW_LINES = 3;

/** The newest lines come first. */
function unrecognized(lines: readonly Line[], now: Date | undefined): Verdict | undefined {
  const newest = lines.slice(0, FEW_LINES);
  const [last] = newest;
  if (last === undefined || !newest.every(({isError}) => isError)) return undefined;
  if (last.at !== undefined && isOutdated(last.at, now)) return undefined;
  return {meaning: UNRECOGNIZED, line: last.text, since: newest.at(-1)?.at};
}

const rowsFor = (platform: AgentPlatform): AgentLogRow[] =>
  AGENT_LOG_ROWS.filter(({remedy}) => remedy[platform] !== undefined);

interface Line {
  raw: string;
  /** Message without time and format. */
  text: string;
  at: string | undefined;
  isChatter: boolean;
  isError: boolean;
}

interface MeaningfulLine extends Line {
  meaning: string | undefined;
}

function meaningOf(
  {raw, text, isChatter, isError}: Line,
  rows: readonly AgentLogRow[],
): string | undefined {
  if (READY_PATTERN.test(raw)) return 'READY';
  if (!isError && WORKING_PATTERN.test(text)) return 'WORKING';
  if (isChatter) return undefined;
  const isOfScalr = isAboutScalr(raw);
  return rows.find((row) => row.pattern.test(raw) && (isOfScalr || !row.isOfScalr))?.code;
}

/** A server that only runs use, with or without a scheme. An account can have any domain. */
const OTHER_HOST =
  /(gitlab|github|bitbucket|registry|artifactory|nexus|vault|amazonaws|azure|googleapis|hashicorp|terraform|opentofu)[\w-]*[.:/][\w-]/i;

const OTHER_LOGIN =
  /AssumeRole|\b(refresh|security|session|oauth2?|id|personal access|service ?account)[ _]token/i;

/** A cloud, a VCS provider or a cluster rejects the credentials of a run. */
export const isOtherLogin = (line: string): boolean => OTHER_LOGIN.test(line) || isRunLine(line);

const ADDRESS_OF_RUN = /\ba?tasks?\b.*https?:\/\/|https?:\/\/.*\ba?tasks?\b/i;

const isAboutScalr = (raw: string): boolean =>
  /https?:\/\/\S*scalr/i.test(raw) ||
  !(OTHER_HOST.test(raw) || ADDRESS_OF_RUN.test(raw) || isOtherLogin(raw));

const TIME = /^\W*(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,]\d+)?(Z| ?[+-]\d\d:?\d\d)?[^\w[]*/;

/** What kubelets and Docker put before a line: the clock and the time zone of a container can be wrong. */
const OUTER_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d) /;

function parse(line: string): Line {
  const outer = OUTER_TIME.exec(line);
  const raw = outer ? line.slice(outer[0].length) : line;
  const json = raw.trimStart().startsWith('{') ? jsonIn(raw) : undefined;
  const fields = isFields(json) ? json : undefined;
  const level = fields
    ? String(fields['level'] ?? '')
    : (/\blevel=(\w+)/.exec(raw)?.[1] ?? raw.replace(TIME, '').trimStart());
  return {
    raw,
    text: fields ? textOf(fields) : raw.replace(TIME, '').trim(),
    at: outer ? `${outer[1]}${outer[2]}` : ownTime(String(fields?.['timestamp'] ?? raw)),
    isChatter: CHATTER_LEVEL.test(level),
    isError: ERROR_LEVEL.test(level),
  };
}

/** Times without a zone are local time of the container, and the images use UTC. */
function ownTime(text: string): string | undefined {
  const stamp = TIME.exec(text);
  return stamp ? `${stamp[1]}T${stamp[2]}${stamp[3]?.trim() ?? 'Z'}` : undefined;
}

/** `error` of a JSON line; `[error] …`, `ERROR: …` at the start of a text. */
const ERROR_LEVEL = /^\W?(error|critical|fatal)\b/i;
const CHATTER_LEVEL = /^\W?(debug|info)\b/i;

/** The message, and the last line of a traceback. */
function textOf(fields: Fields): string {
  const message = fields['event'] ?? fields['message'] ?? fields['msg'] ?? '';
  const [error = ''] =
    /[^\n]*$/.exec(String(fields['exception'] ?? fields['error'] ?? '').trim()) ?? [];
  return [String(message), error].filter(Boolean).join(': ');
}

/** Message of the last line of a log. The time is removed, because it differs in every attempt. */
export function lastLogLine(log: string | undefined): string | undefined {
  return log
    ?.split('\n')
    .map((line) => parse(line).text)
    .findLast((text) => text !== '');
}

const RECONNECT_PATTERN = /\bre-?connect(ed|ing)\b/i;

/** When the agent connected again; one connection can have several lines of the same second. */
export const reconnectTimes = (log: string): string[] => [
  ...new Set(
    log
      .split('\n')
      .filter((line) => RECONNECT_PATTERN.test(line))
      .flatMap((line) => parse(line).at ?? []),
  ),
];

/** Also for pods that Kubernetes considers ready, because the charts have no readiness probes. */
export const agentLogCauses: CauseTable = {
  symptoms: (snapshot, now) =>
    presentPods(snapshot).flatMap((pod) =>
      verdicts(snapshot, pod, now).map(({meaning, line, since}) => ({
        object: pod,
        text: meaning,
        reason: oneLine(`agent log: ${line}`),
        since: since ?? pod.status?.startTime,
      })),
    ),
  rows: AGENT_LOG_ROWS.flatMap(({code, permanentAfter, remedy: {kubernetes: remedy}}) =>
    remedy === undefined ? [] : [{code, pattern: new RegExp(`^${code}$`), permanentAfter, remedy}],
  ),
};

/** State of the agents according to their logs: `unknown` if no line shows it. */
export function registered(snapshot: Snapshot, now?: Date): boolean | 'unknown' {
  const pods = presentPods(snapshot).map((pod) => ({
    root: rootOf(snapshot, pod),
    meanings: verdicts(snapshot, pod, now).map(({meaning}) => meaning),
  }));
  if (pods.some(({meanings}) => meanings.some((each) => each !== 'READY'))) return false;
  const ready = pods.filter(({meanings}) => meanings.includes('READY'));
  // Each replica logs only its own state, so all replicas of a workload must have logged it. Another workload can log other lines.
  const isComplete = ready.every(({root}) =>
    pods.filter((each) => each.root === root).every(({meanings}) => meanings.length > 0),
  );
  return ready.length > 0 && isComplete ? true : 'unknown';
}

export interface Agent {
  pod: string;
  /** `unknown` if the log has other lines, no longer has the line, or cannot be read. */
  state: 'registered' | 'unknown';
}

/** State of each agent according to the log of its pod. */
export function agentsOf(snapshot: Snapshot, now: Date): Agent[] {
  return presentPods(snapshot).map((pod) => {
    const found = verdicts(snapshot, pod, now);
    const isRegistered = found.length > 0 && found.every(({meaning}) => meaning === 'READY');
    return {pod: pod.metadata.name, state: isRegistered ? 'registered' : 'unknown'};
  });
}
