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
