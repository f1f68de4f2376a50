import {ExitCode, ExpectedError, interrupted} from '../ground/errors.ts';
import {anySignal} from '../ground/signals.ts';
import type {HostTools} from '../ports/host-tools.ts';
import type {Interrupts} from '../ports/interrupts.ts';
import {areReady, type HostAgentState, stateOfContainer} from './agents.ts';
import {currentContainers, readContainers} from './containers.ts';

const POLL_INTERVAL_MS = 1500;
/** A running agent without a log message counts as ready after this time. */
const READY_WITHOUT_LOG_MS = 60_000;

interface WatchDeps {
  host: HostTools;
  interrupts: Interrupts;
  timeoutMs: number;
  now(): Date;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  onState(agents: readonly HostAgentState[]): void;
}

/** Waits until every agent of a release has logged that it is ready. @throws ExpectedError with causes and next steps */
export async function watchContainers(release: string, deps: WatchDeps): Promise<'registered' | 'unknown'> {
  const {now, interrupts} = deps;
  const signal = anySignal(interrupts.interrupt, AbortSignal.timeout(deps.timeoutMs));
  const start = now().getTime();
  let agents: HostAgentState[] = [];
  for (;;) {
    try {
      const containers = currentContainers(await readContainers({...deps, signal}), release);
      agents = await Promise.all(containers.map((each) => stateOfContainer(each, {...deps, signal})));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    if (signal.aborted) break;
    deps.onState(agents);
    if (areReady(agents) && agents.every(({agent}) => agent === 'registered')) return 'registered';
    if (agents.some(({causes}) => causes.some(({isPermanent}) => isPermanent))) throw notReady('cannot become ready', 'NOT_READY', agents);
    if (areReady(agents) && now().getTime() - start >= READY_WITHOUT_LOG_MS) return 'unknown';
    await deps.sleep(POLL_INTERVAL_MS, signal);
  }
  if (interrupts.interrupt.aborted) throw interrupted('The containers are still running.', interrupts.interrupt);
  throw notReady(`is not ready after ${deps.timeoutMs / 1000} s`, 'TIMED_OUT', agents);
}

function notReady(what: string, code: 'NOT_READY' | 'TIMED_OUT', agents: readonly HostAgentState[]): ExpectedError {
  const causes = agents.flatMap((each) => each.causes);
  return new ExpectedError([`The agent ${what}.`, ...causes.map(({object, reason}) => `${object}: ${reason}`)].join('\n'), {
    code,
    exit: code === 'TIMED_OUT' ? ExitCode.timedOut : ExitCode.failed,
    suggestions: [
      ...new Set(causes.map(({remedy}) => remedy)),
      ...agents
        .filter(({agent, causes: own}) => agent === 'unknown' && own.length === 0)
        .map(({object}) => `Check the log: docker logs ${object.replace('container/', '')}`),
    ],
  });
}
