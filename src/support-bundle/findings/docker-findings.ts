import type {LogRecord} from '../collect/read-logs.ts';
import type {Finding} from './evidence.ts';
import {agentLogFindings} from './in-logs.ts';

/** What `docker inspect` says of how a container is. */
export interface ContainerFacts {
  RestartCount?: number;
  State?: {
    Status?: string;
    Running?: boolean;
    Restarting?: boolean;
    OOMKilled?: boolean;
    ExitCode?: number;
    Error?: string;
    FinishedAt?: string;
  };
}

/** Why the container of an agent is not well. Pure. */
export function dockerFindings(name: string, facts: ContainerFacts, logs: readonly LogRecord[], now: Date): Finding[] {
  const {State = {}, RestartCount = 0} = facts;
  const {Running = false, Restarting = false, OOMKilled = false} = State;
  const object = `container/${name}`;
  const finding = (severity: Finding['severity'], code: string, message: string, remedy: string): Finding => ({
    severity,
    code,
    object,
    message,
    evidence: 'docker/inspect.json',
    remedy,
  });
  const isWell = Running && !Restarting;
  const words = agentLogFindings(logs[0], object, isWell, now);
  const end = `exit code ${State.ExitCode ?? 'unknown'}${State.Error ? `, ${State.Error}` : ''}`;
  if (OOMKilled)
    return [...words, finding('error', 'OOM_KILLED', `it ran out of memory (${end})`, 'Raise its memory limit (--memory of docker run)')];
  if (Restarting)
    return [...words, finding('error', 'CRASH_LOOP', `it is restarted over and over (${end})`, 'Read what it said before it ended')];
  if (!Running) {
    const message = `it does not run: ${State.Status ?? 'unknown'} since ${State.FinishedAt ?? 'an unknown time'} (${end})`;
    return [...words, finding('error', 'NOT_RUNNING', message, `Read what it said before it ended, then: docker start ${name}`)];
  }
  if (RestartCount > 0) {
    return [...words, finding('warning', 'RESTARTED', `it was restarted, ${RestartCount} in all`, 'Read what it said before it ended')];
  }
  return words;
}
