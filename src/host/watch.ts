import {anySignal} from '../ground/signals.ts';
import {POLL_INTERVAL_MS, type PollDeps, requireReady, type Watched} from '../operations/watch-release.ts';
import type {HostTools} from '../ports/host-tools.ts';
import {areReady, type HostAgentState, stateOfContainer} from './agents.ts';
import {currentContainers, readContainers} from './containers.ts';

/** A running agent without a log message counts as ready after this time. */
const READY_WITHOUT_LOG_MS = 60_000;

interface WatchDeps extends Pick<PollDeps, 'interrupts' | 'now' | 'sleep'> {
  host: HostTools;
  timeoutMs: number;
  onState(agents: readonly HostAgentState[]): void;
}

/** Waits until every agent of a release has logged that it is ready. @throws ExpectedError with causes and next steps */
export async function watchContainers(release: string, deps: WatchDeps): Promise<Watched['agent']> {
  const {
    now,
    interrupts: {interrupt},
  } = deps;
  const signal = anySignal(interrupt, AbortSignal.timeout(deps.timeoutMs));
  const start = now().getTime();
  let agents: HostAgentState[] = [];
  let state: Watched['state'] | undefined;
  while (state === undefined) {
    try {
      const containers = currentContainers(await readContainers({...deps, signal}), release);
      agents = await Promise.all(containers.map((each) => stateOfContainer(each, {...deps, signal})));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    if (signal.aborted) state = interrupt.aborted ? 'interrupted' : 'timed-out';
    else {
      deps.onState(agents);
      state = stateOf(agents, now().getTime() - start);
      if (state === undefined) await deps.sleep(POLL_INTERVAL_MS, signal);
    }
  }
  const causes = state === 'interrupted' ? [] : agents.flatMap((each) => each.causes);
  const silent = agents.filter((each) => each.agent === 'unknown' && each.causes.length === 0);
  const hints = silent.map(({object}) => `Check the log: docker logs ${object.replace('container/', '')}`);
  requireReady({state, causes}, {what: 'The agent', remains: 'The containers are still running.', hints}, deps);
  return areRegistered(agents) ? 'registered' : 'unknown';
}

/** Undefined as long as waiting can help. */
function stateOf(agents: readonly HostAgentState[], elapsedMs: number): 'ready' | 'hopeless' | undefined {
  if (areReady(agents) && areRegistered(agents)) return 'ready';
  if (agents.some(({causes}) => causes.some(({isPermanent}) => isPermanent))) return 'hopeless';
  return areReady(agents) && elapsedMs >= READY_WITHOUT_LOG_MS ? 'ready' : undefined;
}

const areRegistered = (agents: readonly HostAgentState[]): boolean => agents.every(({agent}) => agent === 'registered');
