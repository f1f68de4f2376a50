import {POLL_INTERVAL_MS, type PollDeps} from '../../cluster/helm/poll.ts';
import {anySignal} from '../../ground/async.ts';
import {callText} from '../../ground/call-arguments.ts';
import {ExpectedError} from '../../ground/errors.ts';
import {remedyTexts} from '../../ground/finding.ts';
import type {Files, HostTools} from '../../ground/system/system.ts';
import {sentences} from '../../ground/text.ts';
import {type RunStepsDeps, runSteps} from '../../operations/run-steps.ts';
import type {Step} from '../../operations/step.ts';
import {requireReady, type WatchResult} from '../../operations/watch-release.ts';
import {areReady, checkLog, type HostAgentState, stateOfContainer} from './agents.ts';
import {containerName, type DockerContainer, isUp, readContainers} from './containers.ts';
import type {PreparedContainers} from './prepare.ts';
import {type MachineStep, type Recovery, recover} from './recovery.ts';
import {agentContainers, agentName, containerRole, currentContainers} from './roles.ts';

/** A restarted Docker daemon answers within this time. */
const DAEMON_TIMEOUT_MS = 30_000;
const DAEMON_POLL_MS = 1000;

interface Deps extends RunStepsDeps {
  host: HostTools;
  files: Pick<Files, 'write'>;
}

/** Runs the steps of an install and waits with `watch`; the previous containers run again if this fails. @throws ExpectedError */
export async function changeContainers<T>(
  prepared: PreparedContainers,
  deps: Deps,
  watch: () => Promise<T>,
): Promise<T> {
  const begun = new Set<Step>();
  const onStep: Deps['onStep'] = (step, ...news) => {
    begun.add(step);
    deps.onStep(step, ...news);
  };
  let isWatching = false;
  let result: T;
  try {
    await runSteps(prepared.steps, {...deps, onStep});
    isWatching = true;
    result = await watch();
  } catch (error) {
    // The user has stopped only the waiting; a repeated install continues it.
    if (!(error instanceof ExpectedError) || (isWatching && deps.interrupts.interrupt.aborted))
      throw error;
    const steps = prepared.steps.filter((each) => begun.has(each));
    throw await restored(error, prepared, steps, deps);
  }
  await runSteps(prepared.finish, deps);
  return result;
}

/** The failure, and what runs now. */
async function restored(
  failure: ExpectedError,
  prepared: PreparedContainers,
  begun: readonly MachineStep[],
  deps: Deps,
): Promise<ExpectedError> {
  let steps: readonly Step[] = [];
  try {
    const recovery = await planWayBack(prepared, begun, deps);
    steps = recovery.steps;
    await restoreFiles(prepared, begun, deps);
    // Only a second signal stops the way back.
    const {interrupts} = deps;
    await runSteps(steps, {...deps, interrupts: {...interrupts, interrupt: interrupts.forceQuit}});
    const outcome = outcomeOf(recovery, await runningBefore(prepared, deps), begun.length > 0);
    return withOutcome(failure, prepared, outcome);
  } catch (error) {
    if (!(error instanceof ExpectedError)) return failure;
    return withUnknownOutcome(failure, prepared, error, steps);
  }
}

async function planWayBack(
  {agent, installed}: PreparedContainers,
  begun: readonly MachineStep[],
  deps: Deps,
): Promise<Recovery> {
  const wasComplete = installed.every((each) =>
    ['current', 'failed'].includes(containerRole(each)),
  );
  // An interrupted install may have stopped the others.
  const idle = wasComplete ? installed.filter((each) => !isUp(each)) : [];
  return recover(agentContainers(await readAgain(deps), agent.name), {
    stopping: new Set(begun.flatMap(({stops}) => stops ?? [])),
    idle: new Set(idle.map(({Id}) => Id)),
  });
}

async function restoreFiles(
  {replacedFiles}: PreparedContainers,
  begun: readonly MachineStep[],
  {files}: Deps,
): Promise<void> {
  for (const {replaces} of begun) {
    const text = replaces === undefined ? undefined : replacedFiles.get(replaces);
    if (replaces !== undefined && text !== undefined)
      await files.write(replaces, text, {isPrivate: false});
  }
}

/** Containers of before the install that run now. */
async function runningBefore(
  {agent, installed}: PreparedContainers,
  deps: Deps,
): Promise<DockerContainer[]> {
  const ids = new Set(installed.map(({Id}) => Id));
  return agentContainers(await readAgain(deps), agent.name).filter(
    (each) => isUp(each) && ids.has(each.Id),
  );
}

/** What is true after a failed change, and what to do about it. */
interface Outcome {
  facts: readonly string[];
  suggestions: readonly string[];
}

function outcomeOf(
  {started, failed}: Recovery,
  running: readonly DockerContainer[],
  hasBegun: boolean,
): Outcome {
  const again = running.filter(({Id}) => started.includes(Id)).map(containerName);
  const still = running.filter(({Id}) => !started.includes(Id)).map(containerName);
  return {
    facts: [
      ...sentence(again, 'is running again', 'are running again'),
      ...(hasBegun ? sentence(still, 'still runs', 'still run') : []),
    ],
    suggestions: failed.map((name) => `Check the log of the new container: docker logs ${name}`),
  };
}

function withUnknownOutcome(
  failure: ExpectedError,
  prepared: PreparedContainers,
  {message}: ExpectedError,
  steps: readonly Step[],
): ExpectedError {
  const names = [...new Set(prepared.installed.filter(isUp).map(agentName))];
  if (names.length === 0) return failure;
  const way = steps.map(({call}) => callText(call)).join(' && ');
  return withOutcome(failure, prepared, {
    facts: [
      `It is unknown whether ${names.join(', ')} ${names.length === 1 ? 'runs' : 'run'}: ${message}`,
    ],
    suggestions: [
      `When Docker responds, run the same command again${way === '' ? '' : `, or run: ${way}`}`,
    ],
  });
}

const sentence = (names: readonly string[], one: string, many: string): string[] =>
  names.length === 0
    ? []
    : [
        `The previous ${names.length === 1 ? `container ${names[0]} ${one}` : `containers ${names.join(', ')} ${many}`}.`,
      ];

/** Causes whose remedies are commands for the container. */
const OF_CONTAINER: ReadonlySet<string> = new Set([
  'CRASH_LOOP',
  'NOT_REGISTERED',
  'NOT_RUNNING',
  'PAUSED',
  'RESTARTED',
]);

/** Next steps about a container that no longer has its name are left out. */
function withOutcome(
  failure: ExpectedError,
  {agent}: PreparedContainers,
  {facts, suggestions}: Outcome,
): ExpectedError {
  const outdated = [
    ...remedyTexts(failure.causes.filter(({code}) => OF_CONTAINER.has(code))),
    ...agent.agents.map(({name}) => checkLog(name)),
  ];
  const valid =
    suggestions.length === 0
      ? failure.suggestions
      : failure.suggestions.filter((each) => !outdated.includes(each));
  return failure.with(sentences(failure.message, ...facts), [...suggestions, ...valid]);
}

/** Waits for a Docker daemon that is being restarted. @throws ExpectedError */
async function readAgain({
  host,
  now,
  sleep,
  interrupts: {forceQuit},
}: Deps): Promise<DockerContainer[]> {
  const signal = anySignal(forceQuit, AbortSignal.timeout(DAEMON_TIMEOUT_MS));
  const end = now().getTime() + DAEMON_TIMEOUT_MS;
  for (;;) {
    try {
      return await readContainers({host, signal});
    } catch (error) {
      if (signal.aborted || now().getTime() >= end) throw error;
      await sleep(DAEMON_POLL_MS, signal);
    }
  }
}

/** A running agent without a log message counts as ready after this time. */
const READY_WITHOUT_LOG_MS = 60_000;

interface WatchDeps extends Pick<PollDeps, 'interrupts' | 'now' | 'sleep'> {
  host: HostTools;
  timeoutMs: number;
  onState(agents: readonly HostAgentState[]): void;
}

/** Waits until every agent of a release has logged that it is ready. @throws ExpectedError with causes and next steps */
export async function watchContainers(
  release: string,
  deps: WatchDeps,
): Promise<WatchResult['agent']> {
  const {
    now,
    interrupts: {interrupt},
  } = deps;
  const signal = anySignal(interrupt, AbortSignal.timeout(deps.timeoutMs));
  const start = now().getTime();
  let agents: HostAgentState[] = [];
  let state: WatchResult['state'] | undefined;
  while (state === undefined) {
    try {
      const containers = currentContainers(await readContainers({...deps, signal}), release);
      agents = await Promise.all(
        containers.map((each) => stateOfContainer(each, {...deps, signal})),
      );
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
  const hints = silent.map(({object}) => checkLog(object.replace('container/', '')));
  requireReady(
    {state, causes},
    {what: 'The agent', remains: 'The containers are still running.', hints},
    deps,
  );
  return areRegistered(agents) ? 'registered' : 'unknown';
}

/** Undefined as long as waiting can help. */
function stateOf(
  agents: readonly HostAgentState[],
  elapsedMs: number,
): 'ready' | 'failed' | undefined {
  if (areReady(agents) && areRegistered(agents)) return 'ready';
  if (agents.some(({isStuck}) => isStuck)) return 'failed';
  return areReady(agents) && elapsedMs >= READY_WITHOUT_LOG_MS ? 'ready' : undefined;
}

const areRegistered = (agents: readonly HostAgentState[]): boolean =>
  agents.every(({agent}) => agent === 'registered');
