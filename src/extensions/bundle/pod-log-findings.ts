import {isOfAgent} from '../../checks/diagnose/agent-log.ts';
import {AGENT_LOG_ROWS} from '../../checks/diagnose/agent-log-rows.ts';
import type {LogMatch, LogRecord} from '../../checks/diagnose/log-matcher.ts';
import {mergeFindings} from '../../checks/diagnose/merge-findings.ts';
import {containersOf} from '../../checks/diagnose/pod-state.ts';
import {rootOf} from '../../checks/diagnose/snapshot-queries.ts';
import type {Pod} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import {type ObjectFinding, remediesOf} from '../../ground/finding.ts';
import {oneLine} from '../../ground/one-line.ts';

const ROWS = new Map(AGENT_LOG_ROWS.map((row) => [row.code, row]));

/** Temporary problems are reported only after this many lines. */
const MIN_LINES = 3;

const RUNNER = 'runner';

interface PodLogMatch extends LogMatch {
  pod: Pod;
  container: string;
  file: string;
  /** The agent became ready afterwards. */
  isOver: boolean;
  isPrevious: boolean;
}

/** Log findings, newest log of a container first. */
export function matchesInPods(pods: readonly Pod[], logs: readonly LogRecord[]): PodLogMatch[] {
  const byFile = new Map(logs.map((log) => [log.file, log]));
  return pods.flatMap((pod) =>
    loggingContainers(pod).flatMap(({container, isRun}) => {
      const [now, before] = ['log', 'previous.log'].map((end) =>
        byFile.get(`logs/${pod.metadata.name}/${container}.${end}`),
      );
      const matches = [...matchesInLog(now), ...matchesInLog(before)].filter(
        ({meaning}) => !isRun || ROWS.get(meaning)?.isAlsoOfRuns,
      );
      return matches.map((match) => ({
        ...match,
        pod,
        container,
        isPrevious: match.file === before?.file,
      }));
    }),
  );
}

/** Agent containers or the only container, and the runner. */
function loggingContainers(pod: Pod): {container: string; isRun: boolean}[] {
  const names = containersOf(pod).map(({name}) => name);
  const own = names.filter(isOfAgent);
  const runners = names.filter((name) => name === RUNNER);
  return [
    ...(own.length > 0 || runners.length > 0 ? own : names.slice(0, 1)).map((container) => ({
      container,
      isRun: false,
    })),
    ...runners.map((container) => ({container, isRun: true})),
  ];
}

function matchesInLog(log: LogRecord | undefined): (LogMatch & {file: string; isOver: boolean})[] {
  const ready = log?.matches.find(({meaning}) => meaning === 'READY')?.line ?? 0;
  return (log?.matches ?? [])
    .filter(({meaning}) => ROWS.get(meaning)?.remedy.kubernetes !== undefined)
    .map((match) => ({...match, file: log?.file ?? '', isOver: match.line < ready}));
}

/** Messages of agents that no cause reports: resolved, or with unknown state. */
export function findingsInLogs(
  matches: readonly PodLogMatch[],
  snapshot: Snapshot,
  isReported: (pod: Pod, code: string) => boolean,
): ObjectFinding[] {
  const isUnreported = ({
    pod,
    container,
    meaning,
    count,
    isOver,
    isPrevious,
  }: PodLogMatch): boolean =>
    !isReported(pod, meaning) &&
    !(isOver && count < MIN_LINES && ROWS.get(meaning)?.isTransient) &&
    !(
      isPrevious &&
      matches.some(
        (other) =>
          other.pod === pod &&
          other.container === container &&
          other.meaning === meaning &&
          !other.isPrevious,
      )
    );
  const found = matches.filter(isUnreported).map((each) => ({
    key: [rootOf(snapshot, each.pod).metadata.name, each.container, each.meaning].join('/'),
    finding: findingOf(each),
  }));
  return mergeFindings(found);
}

const findingOf = ({
  pod,
  container,
  meaning,
  count,
  line,
  text,
  at,
  file,
  isOver,
  isPrevious,
}: PodLogMatch): ObjectFinding => ({
  code: meaning,
  verdict: 'warning',
  subject: {object: `pod/${pod.metadata.name}`},
  message: [
    `container ${container} logged${count > 1 ? ` ${count} times, last` : ''}${at ? ` at ${at}` : ''}: ${oneLine(text)}`,
    ...(isPrevious ? ['before the last restart'] : []),
    ...(isOver ? ['the pod became ready afterwards'] : []),
  ].join('; '),
  evidence: {file, line},
  remedies: remediesOf(ROWS.get(meaning)?.remedy.kubernetes ?? 'Check the log around this line'),
});
