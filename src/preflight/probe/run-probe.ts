import type {ClusterAccess} from '../../cluster/cluster-access.ts';
import type {KubernetesObject, Snapshot, Workload} from '../../cluster/objects.ts';
import {PROBE_KINDS, type Probed, type ProbeObjects, probeSelector} from '../../cluster/probe.ts';
import {commandLine} from '../../command-line.ts';
import {oneLine} from '../../diagnose/error-text.ts';
import {explain} from '../../diagnose/explain.ts';
import {interrupted} from '../../errors.ts';
import {createObject, deleteLabelled, deleteNamed} from '../../kubernetes/kubectl.ts';
import type {Interrupts} from '../../ports/interrupts.ts';
import type {Call, Outcome, Place, Processes, ReleaseName} from '../../ports/processes.ts';
import {anySignal} from '../../signals.ts';
import {isForbidden} from '../../tool-errors.ts';
import {watchProbe} from './watch-probe.ts';

interface World extends ClusterAccess {
  interrupts: Interrupts;
  now(): Date;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Nothing but cleaning up is waited for any longer. */
  over: AbortSignal;
}

/** For cleaning up, whatever came before. */
const CLEANING_MS = 15_000;
const AGAIN_MS = 1000;
/** What a tool gets to end in good order. */
const FAREWELL_MS = 2000;

/** Makes the objects of a probe, waits for its pod to end, and removes them, however it went. @throws ExpectedError when a signal ended it */
export async function runProbe({pod, objects}: ProbeObjects, name: ReleaseName, world: World): Promise<Probed> {
  const {place, release} = name;
  const {asked} = world.interrupts;
  const over = anySignal(asked, world.over);
  // Of those that were killed; who may not look for them has none.
  await carryOut(deleteLabelled(place, PROBE_KINDS, probeSelector(release)), over, world.processes);
  if (asked.aborted) throw interrupted('Nothing was made.', asked);
  const [seen, leftover] = await whateverHappens(
    async () => (await make(objects, name, over, world.processes)) ?? (await watchProbe(pod, place, {...world, over})),
    () => remove(objects, name, world),
  );
  if (asked.aborted) throw interrupted(leftover === undefined ? 'The probe was removed.' : `Remove the probe: ${leftover}`, asked);
  return {...seen, ...(leftover === undefined ? {} : {leftover})};
}

async function whateverHappens<T, U>(work: () => Promise<T>, after: () => Promise<U>): Promise<[T, U]> {
  try {
    return [await work(), await after()];
  } catch (error) {
    await after();
    throw error;
  }
}

/** Why it was not made; undefined when all of it was. */
async function make(
  objects: ProbeObjects['objects'],
  {place}: ReleaseName,
  over: AbortSignal,
  processes: Processes,
): Promise<Probed | undefined> {
  for (const object of objects) {
    const outcome = await carryOut(createObject(place, object), over, processes);
    if (outcome.exitCode !== 0) return {causes: [refusal(object, outcome, place)]};
  }
  return undefined;
}

/** The command that is left to the operator, if any. */
async function remove(objects: ProbeObjects['objects'], {place}: ReleaseName, world: World): Promise<string | undefined> {
  const {interrupts, processes, sleep} = world;
  const spelled = objects.map(({kind = '', metadata}) => `${kind.toLowerCase()}/${metadata.name}`).toReversed();
  const call = deleteNamed(place, spelled, CLEANING_MS / 1000);
  const over = anySignal(interrupts.insisted, AbortSignal.timeout(CLEANING_MS));
  while (!over.aborted) {
    const {exitCode} = await carryOut(call, over, processes);
    if (exitCode === 0) return undefined;
    await sleep(AGAIN_MS, over);
  }
  return commandLine(call);
}

/** A call that changes something, until the signal: then the tool is asked to end, and left alone when it does not. */
async function carryOut(call: Call, over: AbortSignal, processes: Processes): Promise<Outcome> {
  if (over.aborted) return NOT_IN_TIME;
  const running = processes.start(call);
  const listeners = new AbortController();
  const gone = new Promise<Outcome>((resolve) => {
    const leave = (): void => {
      running.leave();
      resolve(NOT_IN_TIME);
    };
    const end = (): void => {
      running.interrupt();
      AbortSignal.timeout(FAREWELL_MS).addEventListener('abort', leave, {once: true, signal: listeners.signal});
    };
    over.addEventListener('abort', end, {once: true, signal: listeners.signal});
  });
  try {
    return await Promise.race([running.outcome, gone]);
  } finally {
    listeners.abort();
  }
}

const NOT_IN_TIME: Outcome = {exitCode: 1, stdout: '', stderr: 'there was no answer in time'};

/** Why the API server refused an object of the probe. Whatever refuses its pod also refuses those of a ReplicaSet, whose causes are known. */
export function refusal({kind = '', metadata}: KubernetesObject, outcome: Outcome, place: Place): Probed['causes'][number] {
  const message = outcome.stderr.trim().replace(/^Error from server \(\w+\): (error when creating "[^"]*": )?/i, '');
  const workload: Workload = {
    kind: 'ReplicaSet',
    metadata,
    status: {conditions: [{type: 'ReplicaFailure', status: 'True', message}]},
  };
  const snapshot: Snapshot = {place, workloads: [workload], pods: [], claims: [], events: [], logs: {}};
  const [cause] = kind === 'Pod' && isForbidden(outcome) ? explain(snapshot, new Date(0)) : [];
  return {
    reason: oneLine(`${kind} ${metadata.name} cannot be made: ${message}`),
    remedy: cause?.remedy ?? 'Mend what the API server says, and run it again',
    // Pods of runs differ from the probe, so they may still be accepted.
    isHopeless: false,
  };
}
