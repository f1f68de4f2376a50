import type {Pod} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import {oneLine} from '../../ground/one-line.ts';
import {AGENT_LOG_ROWS, isOfAgent, verdictIn} from './agent-log.ts';
import {type Finding, mergeFindings} from './finding.ts';
import {type LogMatch, type LogRecord, withoutPrefix} from './log-matcher.ts';
import {containersOf, rootOf} from './snapshot-queries.ts';

/** Container state from `docker inspect`. */
export interface ContainerFacts {
  RestartCount?: number;
  State?: {
    Status?: string;
    Running?: boolean;
    Restarting?: boolean;
    Paused?: boolean;
    OOMKilled?: boolean;
    ExitCode?: number;
    Error?: string;
    FinishedAt?: string;
  };
}

/** Docker's time of something that has not happened. */
const NEVER = /^0001/;

/** A state of a container or a unit, and whether it is in it. */
type StateRow = readonly [
  applies: boolean,
  severity: Finding['severity'],
  code: string,
  message: string,
  remedy: string,
];

const findingsOfState = (object: string, file: string, rows: readonly StateRow[]): Finding[] =>
  rows
    .filter(([applies]) => applies)
    .map(([, severity, code, message, remedy]) => ({
      severity,
      code,
      object,
      message,
      file,
      remedy,
    }));

const CHECK_LAST_LINES = 'Check the last log lines before the exit';

/** Reasons why the agent container is unhealthy: messages of its log, and its state. Pure. */
export function dockerFindings(
  name: string,
  {State = {}, RestartCount = 0}: ContainerFacts,
  logs: readonly LogRecord[],
  now: Date,
): Finding[] {
  const {Running = false, Restarting = false, Paused = false, OOMKilled = false} = State;
  const object = `container/${name}`;
  const end = `exit code ${State.ExitCode ?? 'unknown'}${State.Error ? `, ${State.Error}` : ''}`;
  const since = NEVER.test(State.FinishedAt ?? '0001') ? '' : ` since ${State.FinishedAt} (${end})`;
  const [state] = findingsOfState(object, 'docker/inspect.json', [
    [
      OOMKilled,
      'error',
      'OOM_KILLED',
      `out of memory (${end})`,
      'Raise the memory limit of the container (docker run --memory)',
    ],
    [Restarting, 'error', 'CRASH_LOOP', `restarting repeatedly (${end})`, CHECK_LAST_LINES],
    [Paused, 'error', 'PAUSED', 'paused', `Continue it: docker unpause ${name}`],
    [
      !Running,
      'error',
      'NOT_RUNNING',
      `not running: ${State.Status ?? 'unknown'}${since}`,
      `Check the last log lines, then run: docker start ${name}`,
    ],
    [RestartCount > 0, 'warning', 'RESTARTED', `restart count: ${RestartCount}`, CHECK_LAST_LINES],
  ]);
  const isHealthy = Running && !Restarting && !Paused;
  return [...agentLogFindings(logs[0], object, isHealthy, now), ...(state ? [state] : [])];
}

/** A systemd unit: names of its variables, and properties from `systemctl show`. */
export interface UnitFacts {
  name: string;
  variables: readonly string[];
  facts: Readonly<Record<string, string>>;
}

/** Reasons why the agent of a VM is unhealthy; the first unit is the agent. Pure. */
export function journalFindings(
  units: readonly UnitFacts[],
  logs: readonly LogRecord[],
  now: Date,
): Finding[] {
  const [agent, docker] = units;
  return [
    ...units.flatMap((unit) => stateOf(unit)),
    ...(agent
      ? agentLogFindings(
          logs.find(({file}) => file === `logs/journal/${agent.name}.log`),
          `unit/${agent.name}`,
          agent.facts['ActiveState'] === 'active',
          now,
        )
      : []),
    ...(agent && docker ? proxyOf(agent, docker) : []),
  ];
}

function stateOf({name, facts}: UnitFacts): Finding[] {
  const {
    ActiveState,
    SubState,
    Result = '',
    ExecMainStatus = 'unknown',
    NRestarts = '0',
    NeedDaemonReload,
  } = facts;
  const isActive = ActiveState === 'active';
  return findingsOfState(`unit/${name}`, `systemd/${name}.properties.txt`, [
    [
      Result === 'oom-kill',
      'error',
      'OOM_KILLED',
      'out of memory',
      'Add memory to the machine, or raise MemoryMax=',
    ],
    [
      ActiveState !== undefined && !isActive,
      'error',
      'NOT_RUNNING',
      `${ActiveState} (${SubState}; ${Result}, exit code ${ExecMainStatus})`,
      `Fix the error in its log, then run: systemctl restart ${name}`,
    ],
    [
      isActive && Number(NRestarts) > 0,
      'warning',
      'RESTARTED',
      `restart count: ${NRestarts}`,
      CHECK_LAST_LINES,
    ],
    [
      NeedDaemonReload === 'yes',
      'warning',
      'UNIT_CHANGED',
      'the unit file or a drop-in changed on disk and was not reloaded',
      `Run systemctl daemon-reload, then systemctl restart ${name}`,
    ],
  ]);
}

/** Another service pulls run containers, and requires the proxy too (docs.scalr.io, "Adding a Proxy"). */
function proxyOf(agent: UnitFacts, docker: UnitFacts): Finding[] {
  const hasProxy = ({variables}: UnitFacts): boolean =>
    variables.some((name) => /^https?_proxy$/i.test(name));
  return findingsOfState(`unit/${docker.name}`, `systemd/${docker.name}.service.txt`, [
    [
      hasProxy(agent) && !hasProxy(docker),
      'warning',
      'PROXY_NOT_EVERYWHERE',
      `${agent.name} uses a proxy, but ${docker.name}, which pulls images, does not`,
      `Link the drop-in of ${agent.name} into /etc/systemd/system/${docker.name}.service.d/, then run: systemctl daemon-reload`,
    ],
  ]);
}

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
): Finding[] {
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
}: PodLogMatch): Finding => ({
  severity: 'warning',
  code: meaning,
  object: `pod/${pod.metadata.name}`,
  message: [
    `container ${container} logged${count > 1 ? ` ${count} times, last` : ''}${at ? ` at ${at}` : ''}: ${oneLine(text)}`,
    ...(isPrevious ? ['before the last restart'] : []),
    ...(isOver ? ['the pod became ready afterwards'] : []),
  ].join('; '),
  file,
  line,
  remedy: ROWS.get(meaning)?.remedy.kubernetes ?? 'Check the log around this line',
});

/** Meaning of the newest significant line in the agent log of a machine, or an empty log. */
export function agentLogFindings(
  record: LogRecord | undefined,
  object: string,
  isRunning: boolean,
  now: Date,
): Finding[] {
  if (record === undefined) return [];
  const file = record.file;
  const lines = record.tail
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('-- '))
    .map(withoutPrefix);
  if (lines.length === 0) {
    // A log that was read incompletely may have lines.
    if (record.isPart) return [];
    const message = 'no log lines in the selected time range';
    const remedy = 'Extend the time range with --since, and check whether the agent is running';
    return [{severity: 'warning', code: 'NO_LOG', object, message, file, remedy}];
  }
  const verdict = verdictIn(lines.join('\n'), 'host', isRunning, now);
  const remedy = AGENT_LOG_ROWS.find(({code}) => code === verdict?.meaning)?.remedy.host;
  if (verdict === undefined || remedy === undefined) return [];
  const {line} = record.matches.find(({meaning}) => meaning === verdict.meaning) ?? {};
  const message = `agent log: ${verdict.line}`;
  return [
    {
      severity: 'error',
      code: verdict.meaning,
      object,
      message,
      file,
      ...(line === undefined ? {} : {line}),
      remedy,
    },
  ];
}
