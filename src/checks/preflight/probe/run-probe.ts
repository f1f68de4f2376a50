import type {PollDeps} from '../../../cluster/helm/poll.ts';
import {errorLine} from '../../../cluster/kubernetes/api-error.ts';
import {createObject} from '../../../cluster/kubernetes/changes.ts';
import {deleteLabeled, deleteObjects} from '../../../cluster/kubernetes/deletions.ts';
import {refOf} from '../../../cluster/kubernetes/object-refs.ts';
import type {
  ContainerState,
  KubernetesObject,
  Pod,
  Workload,
} from '../../../cluster/kubernetes/objects.ts';
import {listObjects, podLog, REQUIRED_MS} from '../../../cluster/kubernetes/resources.ts';
import type {Snapshot} from '../../../cluster/kubernetes/snapshot.ts';
import {anySignal, untilAborted} from '../../../ground/async.ts';
import type {Call} from '../../../ground/call.ts';
import {callText} from '../../../ground/call-arguments.ts';
import {
  type ClusterTarget,
  kubectlCommand,
  type ProcessResult,
  type ReleaseName,
} from '../../../ground/command-line.ts';
import {interrupted, onFailure} from '../../../ground/errors.ts';
import {oneLine} from '../../../ground/one-line.ts';
import type {Processes} from '../../../ground/system/system.ts';
import {isForbidden} from '../../../ground/tool-errors.ts';
import {explainSnapshot} from '../../diagnose/explain.ts';
import {snapshotOfPod} from '../../diagnose/snapshot-queries.ts';
import {
  PROBE_CONTAINER,
  PROBE_DONE,
  PROBE_KINDS,
  type Probed,
  type ProbeObjects,
  probeSelector,
  RUNNER_CONTAINER,
} from './script.ts';

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
): Promise<Probed> {
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
  const [seen, leftover] = await withCleanup(
    async () =>
      (await make(objects, name, signal, deps.processes)) ??
      (await watchProbe(pod, kubeTarget, {...deps, signal})),
    () => remove(objects, name, deps),
  );
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
async function remove(
  objects: ProbeObjects['objects'],
  {kubeTarget}: ReleaseName,
  deps: ProbeDeps,
): Promise<string | undefined> {
  const {interrupts, processes, sleep} = deps;
  const call = deleteObjects(
    kubeTarget,
    objects.map(refOf).toReversed(),
    CLEANUP_TIMEOUT_MS / 1000,
  );
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
): Probed['causes'][number] {
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
  return cause(
    `cannot create ${kind} ${metadata.name}: ${message}`,
    known?.remedy ?? 'Fix the error that the API server reported, then run the command again',
  );
}

const POLL_INTERVAL_MS = 1000;
const LOG_LINES = 50;
const KINDS = ['pods', 'persistentvolumeclaims', 'events'];

type Causes = Probed['causes'];

/** Watches the pod of a probe until it has completed, cannot complete, or the time is over. */
async function watchProbe(
  name: string,
  kubeTarget: ClusterTarget,
  {kubernetes, now, sleep, signal}: ProbeDeps,
): Promise<Probed> {
  let seen: Probed = {causes: []};
  const options = {signal, idleMs: REQUIRED_MS, namespace: kubeTarget.namespace};
  for (;;) {
    const lists = await Promise.all(
      KINDS.map((kind) => listObjects<KubernetesObject>(kubernetes, kind, options)),
    );
    const list = {items: lists.flatMap(({items}) => items)};
    const error = lists.find((each) => each.error)?.error;
    const pod = list.items.find(({kind, metadata}) => kind === 'Pod' && metadata.name === name) as
      | Pod
      | undefined;
    if (pod !== undefined) {
      const container = pod.status?.containerStatuses?.find(
        (each) => each.name === PROBE_CONTAINER,
      );
      const hasBegun =
        container?.state?.running !== undefined || container?.state?.terminated !== undefined;
      const log = hasBegun
        ? await podLog(kubernetes, name, PROBE_CONTAINER, {...options, tailLines: LOG_LINES})
        : undefined;
      const node = pod.spec?.nodeName;
      if (log?.text.split('\n').includes(PROBE_DONE)) {
        const hasRunner = pod.status?.initContainerStatuses?.some(
          (each) => each.name === RUNNER_CONTAINER,
        );
        const runner = hasRunner
          ? await podLog(kubernetes, name, RUNNER_CONTAINER, {...options, tailLines: LOG_LINES})
          : undefined;
        return {node, log: `${runner?.text ?? ''}\n${log.text}`, causes: []};
      }
      const unreadable = log?.error && [
        cause(
          `cannot read its log: ${errorLine(log.error)}`,
          'Ask an administrator for the permission to get pods/log',
        ),
      ];
      if (unreadable && log?.error?.kind === 'forbidden') return {node, causes: unreadable};
      const end = container?.state?.terminated;
      const problems = log === undefined || signal.aborted ? [] : (unreadable ?? endOf(end));
      seen = {node, causes: [...causesOf(list, name, kubeTarget, now()), ...problems]};
      const isOver =
        pod.status?.phase === 'Failed' || (end !== undefined && log !== undefined && !log.error);
      if (isOver || seen.causes.some(({isPermanent}) => isPermanent)) return seen;
    } else if (error === undefined) {
      return {
        causes: [
          cause(
            'it was deleted before it completed',
            'Run the command again; something else deleted the pod',
          ),
        ],
      };
    } else if (!signal.aborted) {
      // A request that timed out has less information than the previous one.
      const remedy = `Check ${kubectlCommand(kubeTarget, 'cluster-info')}`;
      seen = {...seen, causes: [cause(`cannot read its status: ${errorLine(error)}`, remedy)]};
    }
    if (signal.aborted) return seen;
    await sleep(POLL_INTERVAL_MS, signal);
  }
}

/** Causes of the pod itself do not repeat its name. */
const causesOf = (
  list: {items: readonly KubernetesObject[]},
  name: string,
  kubeTarget: ClusterTarget,
  now: Date,
): Causes =>
  explainSnapshot(snapshotOfPod(list, name, kubeTarget), now).map(
    ({object, reason, remedy, isPermanent}) => ({
      reason: object === `pod/${name}` ? reason : `${object}: ${reason}`,
      remedy,
      isPermanent,
    }),
  );

/** Another try may help. */
const cause = (reason: string, remedy: string): Causes[number] => ({
  reason: oneLine(reason),
  remedy,
  isPermanent: false,
});

/** The container ended before the script had completed. */
const endOf = (end: ContainerState['terminated']): Causes =>
  end === undefined
    ? []
    : [
        cause(
          `its container exited with code ${end.exitCode ?? '?'} ${end.reason ?? ''} ${end.message ?? ''}`,
          'Check that the image contains a shell: --agent-image',
        ),
      ];
