import type {PollDeps} from '../../../cluster/helm/poll.ts';
import {errorLine} from '../../../cluster/kubernetes/api-error.ts';
import type {ContainerState, KubernetesObject, Pod} from '../../../cluster/kubernetes/objects.ts';
import {listObjects, podLog, REQUIRED_MS} from '../../../cluster/kubernetes/resources.ts';
import {type ClusterTarget, kubectlCommand} from '../../../ground/command-line.ts';
import type {ReadError} from '../../../ground/fact.ts';
import {findingSentence, remedyText} from '../../../ground/finding.ts';
import {oneLine} from '../../../ground/one-line.ts';
import {explainSnapshot} from '../../diagnose/explain.ts';
import {snapshotOfPod} from '../../diagnose/snapshot-queries.ts';
import type {ProbeOutcome} from '../facts/probe.ts';
import {PROBE_CONTAINER, PROBE_DONE, RUNNER_CONTAINER} from './probe-objects.ts';

const POLL_INTERVAL_MS = 1000;
const LOG_LINES = 50;
const KINDS = ['pods', 'persistentvolumeclaims', 'events'];

type Causes = ProbeOutcome['causes'];

type WatchDeps = Pick<PollDeps, 'kubernetes' | 'now' | 'sleep'> & {signal: AbortSignal};

/** What one look at a probe shows, and whether another look can show more. */
interface Observation {
  seen: ProbeOutcome;
  isOver: boolean;
}

/** Watches the pod of a probe until it has completed, cannot complete, or the time is over. */
export async function watchProbe(
  name: string,
  kubeTarget: ClusterTarget,
  deps: WatchDeps,
): Promise<ProbeOutcome> {
  const watch = new ProbeWatch(name, kubeTarget, deps);
  let seen: ProbeOutcome = {causes: []};
  for (;;) {
    const observation = await watch.observe(seen);
    seen = observation.seen;
    if (observation.isOver || deps.signal.aborted) return seen;
    await deps.sleep(POLL_INTERVAL_MS, deps.signal);
  }
}

class ProbeWatch {
  readonly #name: string;
  readonly #kubeTarget: ClusterTarget;
  readonly #deps: WatchDeps;

  constructor(name: string, kubeTarget: ClusterTarget, deps: WatchDeps) {
    this.#name = name;
    this.#kubeTarget = kubeTarget;
    this.#deps = deps;
  }

  get #options() {
    const {namespace} = this.#kubeTarget;
    return {signal: this.#deps.signal, idleMs: REQUIRED_MS, namespace};
  }

  async observe(before: ProbeOutcome): Promise<Observation> {
    const lists = await Promise.all(
      KINDS.map((kind) =>
        listObjects<KubernetesObject>(this.#deps.kubernetes, kind, this.#options),
      ),
    );
    const items = lists.flatMap((list) => list.items);
    const pod = items.find(({kind, metadata}) => kind === 'Pod' && metadata.name === this.#name) as
      | Pod
      | undefined;
    if (pod !== undefined) return this.#observePod(pod, items);
    const error = lists.find((each) => each.error)?.error;
    if (error === undefined) return {seen: {causes: [DELETED]}, isOver: true};
    // A request that timed out has less information than the previous one.
    if (this.#deps.signal.aborted) return {seen: before, isOver: true};
    return {seen: {...before, causes: [this.#unreadable(error)]}, isOver: false};
  }

  async #observePod(pod: Pod, items: readonly KubernetesObject[]): Promise<Observation> {
    const {signal, now} = this.#deps;
    const node = pod.spec?.nodeName;
    const {running, terminated: end} = stateOf(pod);
    const log = running || end ? await this.#logOf(PROBE_CONTAINER) : undefined;
    if (log?.text.split('\n').includes(PROBE_DONE))
      return {seen: {node, log: await this.#withRunner(pod, log.text), causes: []}, isOver: true};
    const unreadable = log?.error && unreadableLog(log.error);
    if (unreadable && log?.error?.kind === 'forbidden')
      return {seen: {node, causes: [unreadable]}, isOver: true};
    const ofLog = unreadable ? [unreadable] : endOf(end);
    const problems = log === undefined || signal.aborted ? [] : ofLog;
    const causes = [...this.#causesIn(items, now()), ...problems];
    const hasEnded = end !== undefined && log !== undefined && !log.error;
    const isOver =
      hasEnded || pod.status?.phase === 'Failed' || causes.some(({isPermanent}) => isPermanent);
    return {seen: {node, causes}, isOver};
  }

  #logOf(container: string) {
    return podLog(this.#deps.kubernetes, this.#name, container, {
      ...this.#options,
      tailLines: LOG_LINES,
    });
  }

  /** The log of the probe after that of its init container, if it has one. */
  async #withRunner(pod: Pod, log: string): Promise<string> {
    const hasRunner = pod.status?.initContainerStatuses?.some(
      (each) => each.name === RUNNER_CONTAINER,
    );
    const runner = hasRunner ? (await this.#logOf(RUNNER_CONTAINER)).text : '';
    return `${runner}\n${log}`;
  }

  /** Causes of the pod itself do not repeat its name. */
  #causesIn(items: readonly KubernetesObject[], now: Date): Causes {
    const snapshot = snapshotOfPod({items}, this.#name, this.#kubeTarget);
    return explainSnapshot(snapshot, now).map((cause) => ({
      reason: cause.subject.object === `pod/${this.#name}` ? cause.message : findingSentence(cause),
      remedy: remedyText(cause),
      isPermanent: cause.verdict === 'error',
    }));
  }

  #unreadable(error: ReadError): Causes[number] {
    const remedy = `Check ${kubectlCommand(this.#kubeTarget, 'cluster-info')}`;
    return probeCause(`cannot read its status: ${errorLine(error)}`, remedy);
  }
}

function stateOf({status}: Pod): ContainerState {
  const container = status?.containerStatuses?.find((each) => each.name === PROBE_CONTAINER);
  return container?.state ?? {};
}

/** Another try may help. */
export const probeCause = (reason: string, remedy: string): Causes[number] => ({
  reason: oneLine(reason),
  remedy,
  isPermanent: false,
});

const DELETED = probeCause(
  'it was deleted before it completed',
  'Run the command again; something else deleted the pod',
);

export const unreadableLog = (error: ReadError): Causes[number] =>
  probeCause(
    `cannot read its log: ${errorLine(error)}`,
    error.kind === 'forbidden'
      ? 'Ask an administrator for the permission to get pods/log'
      : 'Run the command again; if this persists, check the node of the pod',
  );

/** The container ended before the script had completed. */
const endOf = (end: ContainerState['terminated']): Causes =>
  end === undefined
    ? []
    : [
        probeCause(
          `its container exited with code ${end.exitCode ?? '?'} ${end.reason ?? ''} ${end.message ?? ''}`,
          'Check that the image contains a shell: --agent-image',
        ),
      ];
