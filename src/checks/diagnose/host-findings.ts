import {type ObjectFinding, objectFinding, type Verdict} from '../../ground/finding.ts';
import {verdictIn} from './agent-log.ts';
import {AGENT_LOG_ROWS} from './agent-log-rows.ts';
import {type LogRecord, withoutPrefix} from './log-matcher.ts';

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
  verdict: Verdict,
  code: string,
  message: string,
  remedy: string,
];

const findingsOfState = (
  object: string,
  file: string,
  rows: readonly StateRow[],
): ObjectFinding[] =>
  rows
    .filter(([applies]) => applies)
    .map(([, verdict, code, message, remedy]) => ({
      ...objectFinding(verdict, object, code, {message, remedy}),
      evidence: {file},
    }));

const CHECK_LAST_LINES = 'Check the last log lines before the exit';

/** Reasons why the agent container is unhealthy: messages of its log, and its state. Pure. */
export function dockerFindings(
  name: string,
  {State = {}, RestartCount = 0}: ContainerFacts,
  logs: readonly LogRecord[],
  now: Date,
): ObjectFinding[] {
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
): ObjectFinding[] {
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

function stateOf({name, facts}: UnitFacts): ObjectFinding[] {
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
function proxyOf(agent: UnitFacts, docker: UnitFacts): ObjectFinding[] {
  const hasProxy = ({variables}: UnitFacts): boolean =>
    variables.some((name) => /^https?_proxy$/i.test(name));
  return findingsOfState(`unit/${docker.name}`, `systemd/${docker.name}.service.txt`, [
    [
      hasProxy(agent) && !hasProxy(docker),
      'warning',
      'PROXY_NOT_EVERYWHERE',
      `unit/${agent.name} uses a proxy, but unit/${docker.name}, which pulls images, does not`,
      `Link the drop-in of ${agent.name} into /etc/systemd/system/${docker.name}.service.d/, then run: systemctl daemon-reload`,
    ],
  ]);
}

/** Meaning of the newest significant line in the agent log of a machine, or an empty log. */
export function agentLogFindings(
  record: LogRecord | undefined,
  object: string,
  isRunning: boolean,
  now: Date,
): ObjectFinding[] {
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
    return [{...objectFinding('unknown', object, 'NO_LOG', {message, remedy}), evidence: {file}}];
  }
  const verdict = verdictIn(lines.join('\n'), 'host', isRunning, now);
  const remedy = AGENT_LOG_ROWS.find(({code}) => code === verdict?.meaning)?.remedy.host;
  if (verdict === undefined || remedy === undefined) return [];
  const {line} = record.matches.find(({meaning}) => meaning === verdict.meaning) ?? {};
  const message = `agent log: ${verdict.line}`;
  return [
    {
      ...objectFinding('error', object, verdict.meaning, {message, remedy}),
      evidence: line === undefined ? {file} : {file, line},
    },
  ];
}
