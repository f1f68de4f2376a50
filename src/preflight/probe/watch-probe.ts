import {oneLine} from '../../diagnose/error-text.ts';
import {explainSnapshot} from '../../diagnose/explain.ts';
import {snapshotOfPod} from '../../diagnose/snapshot.ts';
import type {ClusterTarget} from '../../ground/command-line.ts';
import {kubectlCommand} from '../../ground/command-line.ts';
import type {ReadError} from '../../ground/read-error.ts';
import {errorLine} from '../../kubernetes/api-error.ts';
import {REQUIRED_MS} from '../../kubernetes/fact-readers.ts';
import type {ContainerState, KubernetesObject, Pod} from '../../kubernetes/objects.ts';
import {listObjects, podLog, type Reader} from '../../kubernetes/resources.ts';
import {PROBE_CONTAINER, PROBE_DONE, type Probed, RUNNER_CONTAINER} from './probe.ts';

const POLL_INTERVAL_MS = 1000;
const LOG_LINES = 50;
const KINDS = ['pods', 'persistentvolumeclaims', 'events'];

interface WatchDeps {
  kubernetes: Reader;
  now(): Date;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  signal: AbortSignal;
}

type Causes = Probed['causes'];

/** Watches the pod of a probe until it has completed, cannot complete, or the time is over. */
export async function watchProbe(name: string, kubeTarget: ClusterTarget, {kubernetes, now, sleep, signal}: WatchDeps): Promise<Probed> {
  let seen: Probed = {causes: []};
  const options = {signal, idleMs: REQUIRED_MS, namespace: kubeTarget.namespace};
  for (;;) {
    const lists = await Promise.all(KINDS.map((kind) => listObjects<KubernetesObject>(kubernetes, kind, options)));
    const list = {items: lists.flatMap(({items}) => items)};
    const error = lists.find((each) => each.error)?.error;
    const pod = list.items.find(({kind, metadata}) => kind === 'Pod' && metadata.name === name) as Pod | undefined;
    if (pod !== undefined) {
      const container = pod.status?.containerStatuses?.find((each) => each.name === PROBE_CONTAINER);
      const hasBegun = container?.state?.running !== undefined || container?.state?.terminated !== undefined;
      const log = hasBegun ? await podLog(kubernetes, name, PROBE_CONTAINER, {...options, tailLines: LOG_LINES}) : undefined;
      const node = pod.spec?.nodeName;
      if (log?.text.split('\n').includes(PROBE_DONE)) {
        const hasRunner = pod.status?.initContainerStatuses?.some((each) => each.name === RUNNER_CONTAINER);
        const runner = hasRunner ? await podLog(kubernetes, name, RUNNER_CONTAINER, {...options, tailLines: LOG_LINES}) : undefined;
        return {node, log: `${runner?.text ?? ''}\n${log.text}`, causes: []};
      }
      if (log?.error?.kind === 'forbidden') return {node, causes: [unreadable(log.error)]};
      const end = container?.state?.terminated;
      const problems = log === undefined || signal.aborted ? [] : log.error ? [unreadable(log.error)] : endOf(end);
      seen = {node, causes: [...causesOf(list, name, kubeTarget, now()), ...problems]};
      const isOver = pod.status?.phase === 'Failed' || (end !== undefined && log !== undefined && !log.error);
      if (isOver || seen.causes.some(({isPermanent}) => isPermanent)) return seen;
    } else if (error === undefined) return {causes: [VANISHED]};
    // A request that timed out has less information than the previous one.
    else if (!signal.aborted) seen = {...seen, causes: [unanswered(error, kubeTarget)]};
    if (signal.aborted) return seen;
    await sleep(POLL_INTERVAL_MS, signal);
  }
}

/** Causes of the pod itself do not repeat its name. */
const causesOf = (list: {items: readonly KubernetesObject[]}, name: string, kubeTarget: ClusterTarget, now: Date): Causes =>
  explainSnapshot(snapshotOfPod(list, name, kubeTarget), now).map(({object, reason, remedy, isPermanent}) => ({
    reason: object === `pod/${name}` ? reason : `${object}: ${reason}`,
    remedy,
    isPermanent,
  }));

type Terminated = NonNullable<ContainerState['terminated']>;

/** The container ended before the script had completed. */
const endOf = (end: Terminated | undefined): Causes =>
  end === undefined
    ? []
    : [
        {
          reason: oneLine(`its container exited with code ${end.exitCode ?? '?'} ${end.reason ?? ''} ${end.message ?? ''}`),
          remedy: 'Check that the image contains a shell: --agent-image',
          isPermanent: false,
        },
      ];

const unreadable = (error: ReadError): Causes[number] => ({
  reason: oneLine(`cannot read its log: ${errorLine(error)}`),
  remedy: 'Ask an administrator for the permission to get pods/log',
  isPermanent: false,
});

const unanswered = (error: ReadError, kubeTarget: ClusterTarget): Causes[number] => ({
  reason: oneLine(`cannot read its status: ${errorLine(error)}`),
  remedy: `Check ${kubectlCommand(kubeTarget, 'cluster-info')}`,
  isPermanent: false,
});

const VANISHED: Causes[number] = {
  reason: 'it was deleted before it completed',
  remedy: 'Run the command again; something else deleted the pod',
  isPermanent: false,
};
