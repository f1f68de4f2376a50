import {oneLine} from '../../diagnose/error-text.ts';
import {explainSnapshot} from '../../diagnose/explain.ts';
import type {Call, ClusterTarget, ProcessResult, ReleaseName} from '../../ground/command-line.ts';
import {commandLine} from '../../ground/command-line.ts';
import {interrupted} from '../../ground/errors.ts';
import {anySignal} from '../../ground/signals.ts';
import {isForbidden} from '../../ground/tool-errors.ts';
import type {ClusterAccess} from '../../helm/releases.ts';
import {createObject, deleteLabelled, deleteNamed} from '../../kubernetes/kubectl.ts';
import type {KubernetesObject, Snapshot, Workload} from '../../kubernetes/objects.ts';
import type {Interrupts} from '../../ports/interrupts.ts';
import type {Processes} from '../../ports/processes.ts';
import {PROBE_KINDS, type Probed, type ProbeObjects, probeSelector} from './probe.ts';
import {watchProbe} from './watch-probe.ts';

interface ProbeDeps extends ClusterAccess {
  interrupts: Interrupts;
  now(): Date;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** After this signal, only the cleanup continues. */
  signal: AbortSignal;
}

/** Time for the cleanup. */
const CLEANUP_TIMEOUT_MS = 15_000;
const RETRY_DELAY_MS = 1000;
/** Time for a tool to end gracefully. */
const EXIT_TIMEOUT_MS = 2000;

/** Creates the objects of a probe, waits for its pod to end, and always deletes them. @throws ExpectedError when interrupted by a signal */
export async function runProbe({pod, objects}: ProbeObjects, name: ReleaseName, deps: ProbeDeps): Promise<Probed> {
  const {kubeTarget, release} = name;
  const {interrupt} = deps.interrupts;
  const signal = anySignal(interrupt, deps.signal);
  // Deletes probes of killed processes.
  await runToExit(deleteLabelled(kubeTarget, PROBE_KINDS, probeSelector(release)), signal, deps.processes);
  if (interrupt.aborted) throw interrupted('Nothing was created.', interrupt);
  const [seen, leftover] = await withCleanup(
    async () => (await make(objects, name, signal, deps.processes)) ?? (await watchProbe(pod, kubeTarget, {...deps, signal})),
    () => remove(objects, name, deps),
  );
  if (interrupt.aborted) throw interrupted(leftover === undefined ? 'The probe was deleted.' : `Delete the probe: ${leftover}`, interrupt);
  return {...seen, ...(leftover === undefined ? {} : {leftover})};
}

async function withCleanup<T, U>(work: () => Promise<T>, after: () => Promise<U>): Promise<[T, U]> {
  try {
    return [await work(), await after()];
  } catch (error) {
    await after();
    throw error;
  }
}

/** Why an object could not be created; undefined on success. */
async function make(
  objects: ProbeObjects['objects'],
  {kubeTarget}: ReleaseName,
  signal: AbortSignal,
  processes: Processes,
): Promise<Probed | undefined> {
  for (const object of objects) {
    const outcome = await runToExit(createObject(kubeTarget, object), signal, processes);
    if (outcome.exitCode !== 0) return {causes: [probeRefusal(object, outcome, kubeTarget)]};
  }
  return undefined;
}

/** The command for the user if the cleanup failed. */
async function remove(objects: ProbeObjects['objects'], {kubeTarget}: ReleaseName, deps: ProbeDeps): Promise<string | undefined> {
  const {interrupts, processes, sleep} = deps;
  const spelled = objects.map(({kind = '', metadata}) => `${kind.toLowerCase()}/${metadata.name}`).toReversed();
  const call = deleteNamed(kubeTarget, spelled, CLEANUP_TIMEOUT_MS / 1000);
  const signal = anySignal(interrupts.forceQuit, AbortSignal.timeout(CLEANUP_TIMEOUT_MS));
  while (!signal.aborted) {
    const {exitCode} = await runToExit(call, signal, processes);
    if (exitCode === 0) return undefined;
    await sleep(RETRY_DELAY_MS, signal);
  }
  return commandLine(call);
}

/** A call that changes something. On the signal, the tool is interrupted, and left running if it does not end. */
async function runToExit(call: Call, signal: AbortSignal, processes: Processes): Promise<ProcessResult> {
  if (signal.aborted) return TIMED_OUT;
  const running = processes.start(call);
  const listeners = new AbortController();
  const gone = new Promise<ProcessResult>((resolve) => {
    const leave = (): void => {
      running.leave();
      resolve(TIMED_OUT);
    };
    const end = (): void => {
      running.interrupt();
      AbortSignal.timeout(EXIT_TIMEOUT_MS).addEventListener('abort', leave, {once: true, signal: listeners.signal});
    };
    signal.addEventListener('abort', end, {once: true, signal: listeners.signal});
  });
  try {
    return await Promise.race([running.outcome, gone]);
  } finally {
    listeners.abort();
  }
}

const TIMED_OUT: ProcessResult = {exitCode: 1, stdout: '', stderr: 'timed out waiting for a response'};

/** Why the API server rejected an object of the probe. Whatever rejects its pod also rejects those of a ReplicaSet, whose causes are known. */
export function probeRefusal(
  {kind = '', metadata}: KubernetesObject,
  outcome: ProcessResult,
  kubeTarget: ClusterTarget,
): Probed['causes'][number] {
  const message = outcome.stderr.trim().replace(/^Error from server \(\w+\): (error when creating "[^"]*": )?/i, '');
  const workload: Workload = {
    kind: 'ReplicaSet',
    metadata,
    status: {conditions: [{type: 'ReplicaFailure', status: 'True', message}]},
  };
  const snapshot: Snapshot = {kubeTarget, workloads: [workload], pods: [], claims: [], events: [], logs: {}};
  const [cause] = kind === 'Pod' && isForbidden(outcome) ? explainSnapshot(snapshot, new Date(0)) : [];
  return {
    reason: oneLine(`cannot create ${kind} ${metadata.name}: ${message}`),
    remedy: cause?.remedy ?? 'Fix the error of the API server, then run the command again',
    // Pods of runs differ from the probe, so they may still be accepted.
    isPermanent: false,
  };
}
