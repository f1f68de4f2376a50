import type {PollDeps} from '../../../cluster/helm/poll.ts';
import {createObject} from '../../../cluster/kubernetes/changes.ts';
import {deleteLabeled, deleteObjects} from '../../../cluster/kubernetes/deletions.ts';
import {refOf} from '../../../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject, Workload} from '../../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../../cluster/kubernetes/snapshot.ts';
import {anySignal, untilAborted} from '../../../ground/async.ts';
import type {Call} from '../../../ground/call.ts';
import {callText} from '../../../ground/call-arguments.ts';
import type {ClusterTarget, ProcessResult, ReleaseName} from '../../../ground/command-line.ts';
import {interrupted, onFailure} from '../../../ground/errors.ts';
import {remedyText} from '../../../ground/finding.ts';
import type {Processes} from '../../../ground/system/system.ts';
import {isForbidden} from '../../../ground/tool-errors.ts';
import {explainSnapshot} from '../../diagnose/explain.ts';
import type {ProbeObjects, ProbeOutcome} from '../facts/probe.ts';
import {PROBE_KINDS, probeSelector} from './probe-objects.ts';
import {probeCause, watchProbe} from './watch-probe.ts';

interface ProbeDeps extends PollDeps {
  /** After this signal, only the cleanup continues. */
  signal: AbortSignal;
}

const CLEANUP_TIMEOUT_MS = 15_000;
const RETRY_DELAY_MS = 1000;
/** Time for a tool to end gracefully. */
const EXIT_TIMEOUT_MS = 2000;

/** Creates the objects of a probe, waits for its pod to end, and always deletes them. @throws ExpectedError when interrupted by a signal */
export async function runProbe(
  {pod, objects}: ProbeObjects,
  name: ReleaseName,
  deps: ProbeDeps,
): Promise<ProbeOutcome> {
  const {kubeTarget, release} = name;
  const {interrupt} = deps.interrupts;
  const signal = anySignal(interrupt, deps.signal);
  // Deletes probes of killed processes.
  await runToExit(
    deleteLabeled(kubeTarget, PROBE_KINDS, probeSelector(release)),
    signal,
    deps.processes,
  );
  if (interrupt.aborted) throw interrupted('Nothing was created.', interrupt);
  const work = async (): Promise<ProbeOutcome> =>
    (await createAll(objects, name, signal, deps.processes)) ??
    (await watchProbe(pod, kubeTarget, {...deps, signal}));
  const [seen, leftover] = await withCleanup(work, () => deleteAll(objects, name, deps));
  if (interrupt.aborted)
    throw interrupted(
      leftover === undefined ? 'The probe was deleted.' : `Delete the probe: ${leftover}`,
      interrupt,
    );
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
async function createAll(
  objects: ProbeObjects['objects'],
  {kubeTarget}: ReleaseName,
  signal: AbortSignal,
  processes: Processes,
): Promise<ProbeOutcome | undefined> {
  for (const object of objects) {
    const outcome = await runToExit(createObject(kubeTarget, object), signal, processes);
    if (outcome.exitCode !== 0) return {causes: [probeRefusal(object, outcome, kubeTarget)]};
  }
  return undefined;
}

/** The command for the user if the cleanup failed. */
async function deleteAll(
  objects: ProbeObjects['objects'],
  {kubeTarget}: ReleaseName,
  deps: ProbeDeps,
): Promise<string | undefined> {
  const {interrupts, processes, sleep} = deps;
  const refs = objects.map(refOf).toReversed();
  const call = deleteObjects(kubeTarget, refs, CLEANUP_TIMEOUT_MS / 1000);
  const signal = anySignal(interrupts.forceQuit, AbortSignal.timeout(CLEANUP_TIMEOUT_MS));
  while (!signal.aborted) {
    const outcome = await runToExit(call, signal, processes).catch(onFailure(() => undefined));
    // The kubeconfig selects another cluster now.
    if (outcome === undefined) break;
    if (outcome.exitCode === 0) return undefined;
    await sleep(RETRY_DELAY_MS, signal);
  }
  return callText(call);
}

/** A call that changes something. On the signal, the tool is interrupted, and left running if it does not end. */
async function runToExit(
  call: Call,
  signal: AbortSignal,
  processes: Processes,
): Promise<ProcessResult> {
  if (signal.aborted) return TIMED_OUT;
  const running = processes.start(call);
  const inTime = await untilAborted(running.outcome, signal);
  if (inTime !== undefined) return inTime;
  running.interrupt();
  const ended = await untilAborted(running.outcome, AbortSignal.timeout(EXIT_TIMEOUT_MS));
  if (ended === undefined) running.leave();
  return ended ?? TIMED_OUT;
}

const TIMED_OUT: ProcessResult = {
  exitCode: 1,
  stdout: '',
  stderr: 'timed out waiting for a response',
};

/** Why the API server rejected an object of the probe. Whatever rejects its pod also rejects those of a ReplicaSet, whose causes are known. */
function probeRefusal(
  {kind = '', metadata}: KubernetesObject,
  outcome: ProcessResult,
  kubeTarget: ClusterTarget,
): ProbeOutcome['causes'][number] {
  const message = outcome.stderr
    .trim()
    .replace(/^Error from server \(\w+\): (error when creating "[^"]*": )?/i, '');
  const workload: Workload = {
    kind: 'ReplicaSet',
    metadata,
    status: {conditions: [{type: 'ReplicaFailure', status: 'True', message}]},
  };
  const snapshot: Snapshot = {
    kubeTarget,
    workloads: [workload],
    pods: [],
    claims: [],
    events: [],
    logs: {},
  };
  const [known] =
    kind === 'Pod' && isForbidden(outcome) ? explainSnapshot(snapshot, new Date(0)) : [];
  // Pods of runs differ from the probe, so they may still be accepted.
  return probeCause(
    `cannot create ${kind} ${metadata.name}: ${message}`,
    known === undefined
      ? 'Fix the error that the API server reported, then run the command again'
      : remedyText(known),
  );
}
