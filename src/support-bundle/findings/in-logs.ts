import type {Pod, Snapshot} from '../../cluster/objects.ts';
import {isOfAgent, verdictIn} from '../../diagnose/agent-log.ts';
import {AGENT_LOG_ROWS} from '../../diagnose/agent-log-rows.ts';
import {oneLine} from '../../diagnose/error-text.ts';
import {containersOf, rootOf} from '../../diagnose/snapshot-queries.ts';
import type {LogRecord} from '../collect/read-logs.ts';
import {type Finding, foldAlike} from './evidence.ts';
import {type Said, withoutPrefix} from './log-words.ts';

const ROWS = new Map(AGENT_LOG_ROWS.map((row) => [row.code, row]));
/** What often passes by itself is reported only when it came this often. */
const ENOUGH = 3;
/** As the charts name the container that runs execute in. */
const RUNNER = 'runner';

interface Heard extends Said {
  pod: Pod;
  container: string;
  file: string;
  /** The agent was ready again afterwards. */
  isOver: boolean;
  isPrevious: boolean;
}

/** What logs say, newest log of a container first. */
export function heardIn(pods: readonly Pod[], logs: readonly LogRecord[]): Heard[] {
  const byFile = new Map(logs.map((log) => [log.file, log]));
  return pods.flatMap((pod) =>
    speakersOf(pod).flatMap(({container, isRun}) => {
      const [now, before] = ['log', 'previous.log'].map((end) => byFile.get(`logs/${pod.metadata.name}/${container}.${end}`));
      const heard = [...saidIn(now), ...saidIn(before)].filter(({meaning}) => !isRun || ROWS.get(meaning)?.isAlsoOfRuns);
      return heard.map((said) => ({...said, pod, container, isPrevious: said.file === before?.file}));
    }),
  );
}

/** Containers of the agent, or the only one there is; and the one that runs execute in. */
function speakersOf(pod: Pod): {container: string; isRun: boolean}[] {
  const names = containersOf(pod).map(({name}) => name);
  const own = names.filter(isOfAgent);
  const runners = names.filter((name) => name === RUNNER);
  return [
    ...(own.length > 0 || runners.length > 0 ? own : names.slice(0, 1)).map((container) => ({container, isRun: false})),
    ...runners.map((container) => ({container, isRun: true})),
  ];
}

function saidIn(log: LogRecord | undefined): (Said & {file: string; isOver: boolean})[] {
  const ready = log?.said.find(({meaning}) => meaning === 'READY')?.line ?? 0;
  return (log?.said ?? [])
    .filter(({meaning}) => ROWS.get(meaning)?.remedy.kubernetes !== undefined)
    .map((said) => ({...said, file: log?.file ?? '', isOver: said.line < ready}));
}

/** What agents said that no cause tells: it is over, or nobody knows whether it is. */
export function findingsInLogs(heard: readonly Heard[], snapshot: Snapshot, isTold: (pod: Pod, code: string) => boolean): Finding[] {
  const isNews = ({pod, container, meaning, count, isOver, isPrevious}: Heard): boolean =>
    !isTold(pod, meaning) &&
    !(isOver && count < ENOUGH && ROWS.get(meaning)?.isTransient) &&
    !(
      isPrevious &&
      heard.some((other) => other.pod === pod && other.container === container && other.meaning === meaning && !other.isPrevious)
    );
  const found = heard.filter(isNews).map((each) => ({
    key: [rootOf(snapshot, each.pod).metadata.name, each.container, each.meaning].join('/'),
    finding: findingOf(each),
  }));
  return foldAlike(found);
}

const findingOf = ({pod, container, meaning, count, line, text, at, file, isOver, isPrevious}: Heard): Finding => ({
  severity: 'warning',
  code: meaning,
  object: `pod/${pod.metadata.name}`,
  message: [
    `container ${container} said${count > 1 ? ` on ${count} lines, last` : ''}${at ? ` at ${at}` : ''}: ${oneLine(text)}`,
    ...(isPrevious ? ['that was before it was restarted'] : []),
    ...(isOver ? ['it was ready again afterwards'] : []),
  ].join('; '),
  evidence: file,
  line,
  remedy: ROWS.get(meaning)?.remedy.kubernetes ?? 'Read what it said around this line',
});

/** What the newest telling line of an agent's log on a machine means, and a log without a line. */
export function agentLogFindings(record: LogRecord | undefined, object: string, isRunning: boolean, now: Date): Finding[] {
  if (record === undefined) return [];
  const evidence = record.file;
  const lines = record.tail
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('-- '))
    .map(withoutPrefix);
  if (lines.length === 0) {
    // A log that could not be read to its end may have had lines.
    if (record.isPart) return [];
    const message = 'it said nothing in the time that was looked at';
    const remedy = 'Look further back with --since, and whether it runs at all';
    return [{severity: 'warning', code: 'NO_LOG', object, message, evidence, remedy}];
  }
  const verdict = verdictIn(lines.join('\n'), 'host', isRunning, now);
  const remedy = AGENT_LOG_ROWS.find(({code}) => code === verdict?.meaning)?.remedy.host;
  if (verdict === undefined || remedy === undefined) return [];
  const {line} = record.said.find(({meaning}) => meaning === verdict.meaning) ?? {};
  const message = `agent log: ${verdict.line}`;
  return [{severity: 'error', code: verdict.meaning, object, message, evidence, ...(line === undefined ? {} : {line}), remedy}];
}
