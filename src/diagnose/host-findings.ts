import type {Finding} from './finding.ts';
import {agentLogFindings} from './log-findings.ts';
import type {LogRecord} from './log-matcher.ts';

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

/** Reasons why the agent container is unhealthy. Pure. */
export function dockerFindings(name: string, facts: ContainerFacts, logs: readonly LogRecord[], now: Date): Finding[] {
  const {State = {}, RestartCount = 0} = facts;
  const {Running = false, Restarting = false, Paused = false, OOMKilled = false} = State;
  const object = `container/${name}`;
  const finding = (severity: Finding['severity'], code: string, message: string, remedy: string): Finding => ({
    severity,
    code,
    object,
    message,
    evidence: 'docker/inspect.json',
    remedy,
  });
  const isHealthy = Running && !Restarting && !Paused;
  const logFindings = agentLogFindings(logs[0], object, isHealthy, now);
  const end = `exit code ${State.ExitCode ?? 'unknown'}${State.Error ? `, ${State.Error}` : ''}`;
  if (OOMKilled)
    return [
      ...logFindings,
      finding('error', 'OOM_KILLED', `out of memory (${end})`, 'Raise the memory limit of the container (docker run --memory)'),
    ];
  if (Restarting)
    return [...logFindings, finding('error', 'CRASH_LOOP', `restarting repeatedly (${end})`, 'Check the last log lines before the exit')];
  if (Paused) return [...logFindings, finding('error', 'PAUSED', 'paused', `Continue it: docker unpause ${name}`)];
  if (!Running) {
    const since = NEVER.test(State.FinishedAt ?? '0001') ? '' : ` since ${State.FinishedAt} (${end})`;
    const message = `not running: ${State.Status ?? 'unknown'}${since}`;
    return [...logFindings, finding('error', 'NOT_RUNNING', message, `Check the last log lines, then run: docker start ${name}`)];
  }
  if (RestartCount > 0) {
    return [...logFindings, finding('warning', 'RESTARTED', `restart count: ${RestartCount}`, 'Check the last log lines before the exit')];
  }
  return logFindings;
}

/** A systemd unit: names of its variables, and properties from `systemctl show`. */
export interface UnitFacts {
  name: string;
  variables: readonly string[];
  facts: Readonly<Record<string, string>>;
}

/** Reasons why the agent of a VM is unhealthy; the first unit is the agent. Pure. */
export function journalFindings(units: readonly UnitFacts[], logs: readonly LogRecord[], now: Date): Finding[] {
  const [agent, docker] = units;
  return [
    ...units.flatMap((unit) => stateOf(unit)),
    ...(agent ? agentLogFindings(logOf(agent, logs), `unit/${agent.name}`, agent.facts['ActiveState'] === 'active', now) : []),
    ...(agent && docker ? proxyOf(agent, docker) : []),
  ];
}

const logOf = ({name}: UnitFacts, logs: readonly LogRecord[]): LogRecord | undefined =>
  logs.find(({file}) => file === `logs/journal/${name}.log`);

function stateOf({name, facts}: UnitFacts): Finding[] {
  const {ActiveState, SubState, Result = '', ExecMainStatus, NRestarts = '0', NeedDaemonReload} = facts;
  const finding = (severity: Finding['severity'], code: string, message: string, remedy: string): Finding => ({
    severity,
    code,
    object: `unit/${name}`,
    message,
    evidence: `systemd/${name}.properties.txt`,
    remedy,
  });
  const end = `${Result}, exit code ${ExecMainStatus ?? 'unknown'}`;
  return [
    ...(Result === 'oom-kill' ? [finding('error', 'OOM_KILLED', 'out of memory', 'Add memory to the machine, or raise MemoryMax=')] : []),
    ...(ActiveState !== undefined && ActiveState !== 'active'
      ? [
          finding(
            'error',
            'NOT_RUNNING',
            `${ActiveState} (${SubState}; ${end})`,
            `Fix the error in its log, then run: systemctl restart ${name}`,
          ),
        ]
      : []),
    ...(ActiveState === 'active' && Number(NRestarts) > 0
      ? [finding('warning', 'RESTARTED', `restart count: ${NRestarts}`, 'Check the last log lines before the exit')]
      : []),
    ...(NeedDaemonReload === 'yes'
      ? [
          finding(
            'warning',
            'UNIT_CHANGED',
            'the unit file or a drop-in changed on disk and was not reloaded',
            `Run systemctl daemon-reload, then systemctl restart ${name}`,
          ),
        ]
      : []),
  ];
}

/** Another service pulls the containers of runs, and requires the proxy too (docs.scalr.io, "Adding a Proxy"). */
function proxyOf(agent: UnitFacts, docker: UnitFacts): Finding[] {
  const hasProxy = ({variables}: UnitFacts): boolean => variables.some((name) => /^https?_proxy$/i.test(name));
  if (!hasProxy(agent) || hasProxy(docker)) return [];
  return [
    {
      severity: 'warning',
      code: 'PROXY_NOT_EVERYWHERE',
      object: `unit/${docker.name}`,
      message: `${agent.name} uses a proxy, but ${docker.name}, which pulls images, does not`,
      evidence: `systemd/${docker.name}.service.txt`,
      remedy: `Link the drop-in of ${agent.name} into /etc/systemd/system/${docker.name}.service.d/, then run: systemctl daemon-reload`,
    },
  ];
}
