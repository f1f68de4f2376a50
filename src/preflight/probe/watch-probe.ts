import type {ContainerState, KubernetesObject, Pod} from '../../cluster/objects.ts';
import {PROBE_CONTAINER, PROBE_DONE, type Probed} from '../../cluster/probe.ts';
import {REQUIRED_MS} from '../../cluster/read-facts.ts';
import {kubectlCommand} from '../../command-line.ts';
import {oneLine} from '../../diagnose/error-text.ts';
import {explain} from '../../diagnose/explain.ts';
import {snapshotOfPod} from '../../diagnose/snapshot.ts';
import {errorLine} from '../../kubernetes/api-error.ts';
import {listObjects, podLog, type Reader} from '../../kubernetes/queries.ts';
import type {ApiError} from '../../ports/log-stream.ts';
import type {Place} from '../../ports/processes.ts';

const EVERY_MS = 1000;
const LOG_LINES = 50;
const KINDS = ['pods', 'persistentvolumeclaims', 'events'];

interface World {
  kubernetes: Reader;
  now(): Date;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  over: AbortSignal;
}

type Causes = Probed['causes'];

/** Looks at the pod of a probe until it has said all, cannot come to that, or time is over. */
export async function watchProbe(name: string, place: Place, {kubernetes, now, sleep, over}: World): Promise<Probed> {
  let seen: Probed = {causes: []};
  const options = {over, idleMs: REQUIRED_MS, namespace: place.namespace};
  for (;;) {
    const lists = await Promise.all(KINDS.map((kind) => listObjects<KubernetesObject>(kubernetes, kind, options)));
    const list = {items: lists.flatMap(({items}) => items)};
    const trouble = lists.find((each) => each.trouble)?.trouble;
    const pod = list.items.find(({kind, metadata}) => kind === 'Pod' && metadata.name === name) as Pod | undefined;
    if (pod !== undefined) {
      const container = pod.status?.containerStatuses?.find((each) => each.name === PROBE_CONTAINER);
      const hasBegun = container?.state?.running !== undefined || container?.state?.terminated !== undefined;
      const log = hasBegun ? await podLog(kubernetes, name, PROBE_CONTAINER, {...options, tailLines: LOG_LINES}) : undefined;
      const node = pod.spec?.nodeName;
      if (log?.text.split('\n').includes(PROBE_DONE)) return {node, log: log.text, causes: []};
      if (log?.trouble?.kind === 'forbidden') return {node, causes: [unreadable(log.trouble)]};
      const end = container?.state?.terminated;
      const said = log === undefined || over.aborted ? [] : log.trouble ? [unreadable(log.trouble)] : endOf(end);
      seen = {node, causes: [...causesOf(list, name, place, now()), ...said]};
      const isOver = pod.status?.phase === 'Failed' || (end !== undefined && log !== undefined && !log.trouble);
      if (isOver || seen.causes.some(({isHopeless}) => isHopeless)) return seen;
    } else if (trouble === undefined) return {causes: [VANISHED]};
    // A look that ran out of time says less than the one before.
    else if (!over.aborted) seen = {...seen, causes: [silent(trouble, place)]};
    if (over.aborted) return seen;
    await sleep(EVERY_MS, over);
  }
}

/** What is about the pod itself need not name it. */
const causesOf = (list: {items: readonly KubernetesObject[]}, name: string, place: Place, now: Date): Causes =>
  explain(snapshotOfPod(list, name, place), now).map(({object, reason, remedy, isHopeless}) => ({
    reason: object === `pod/${name}` ? reason : `${object}: ${reason}`,
    remedy,
    isHopeless,
  }));

type Terminated = NonNullable<ContainerState['terminated']>;

/** It ended before it had said all. */
const endOf = (end: Terminated | undefined): Causes =>
  end === undefined
    ? []
    : [
        {
          reason: oneLine(`its container ended with exit code ${end.exitCode ?? '?'} ${end.reason ?? ''} ${end.message ?? ''}`),
          remedy: 'See whether the image has a shell: --agent-image',
          isHopeless: false,
        },
      ];

const unreadable = (error: ApiError): Causes[number] => ({
  reason: oneLine(`its log cannot be read: ${errorLine(error)}`),
  remedy: 'Ask for the permission to get pods/log',
  isHopeless: false,
});

const silent = (error: ApiError, place: Place): Causes[number] => ({
  reason: oneLine(`the API server does not say how it is: ${errorLine(error)}`),
  remedy: `Try: ${kubectlCommand(place, 'cluster-info')}`,
  isHopeless: false,
});

const VANISHED: Causes[number] = {
  reason: 'it was gone before it had ended',
  remedy: 'Somebody else removed it; run it again',
  isHopeless: false,
};
