import type {ContainerState, KubernetesObject, Pod} from '../../cluster/objects.ts';
import {PROBE_CONTAINER, PROBE_DONE, type Probed} from '../../cluster/probe.ts';
import {oneLine} from '../../diagnose/error-text.ts';
import {explain} from '../../diagnose/explain.ts';
import {snapshotOfPod} from '../../diagnose/snapshot.ts';
import {listObjects, podLogs} from '../../ports/kubectl.ts';
import type {Place} from '../../ports/place.ts';
import type {Outcome, Processes} from '../../ports/processes.ts';
import {isForbidden} from '../../ports/tool-failure.ts';
import {jsonIn} from '../../ports/tool-output.ts';

const EVERY_MS = 1000;
const KINDS = ['pods', 'persistentvolumeclaims', 'events'];

interface World {
  processes: Pick<Processes, 'run'>;
  now(): Date;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  over: AbortSignal;
}

type Causes = Probed['causes'];

/** Looks at the pod of a probe until it has said all, cannot come to that, or time is over. */
export async function watchProbe(name: string, place: Place, {processes, now, sleep, over}: World): Promise<Probed> {
  let seen: Probed = {causes: []};
  for (;;) {
    const outcome = await processes.run(listObjects(place, KINDS), {over});
    const list = listIn(outcome);
    const pod = list.items.find(({kind, metadata}) => kind === 'Pod' && metadata.name === name) as Pod | undefined;
    if (pod !== undefined) {
      const container = pod.status?.containerStatuses?.find((each) => each.name === PROBE_CONTAINER);
      const hasBegun = container?.state?.running !== undefined || container?.state?.terminated !== undefined;
      const log = hasBegun ? await processes.run(podLogs(place, name, PROBE_CONTAINER), {over}) : undefined;
      const node = pod.spec?.nodeName;
      if (log?.exitCode === 0 && log.stdout.split('\n').includes(PROBE_DONE)) return {node, log: log.stdout, causes: []};
      if (log !== undefined && log.exitCode !== 0 && isForbidden(log)) return {node, causes: [unreadable(log)]};
      const end = container?.state?.terminated;
      const said = log === undefined || over.aborted ? [] : log.exitCode === 0 ? endOf(end) : [unreadable(log)];
      seen = {node, causes: [...causesOf(list, name, now()), ...said]};
      const isOver = pod.status?.phase === 'Failed' || (end !== undefined && log?.exitCode === 0);
      if (isOver || seen.causes.some(({isHopeless}) => isHopeless)) return seen;
    } else if (outcome.exitCode === 0) return {causes: [VANISHED]};
    // A look that ran out of time says less than the one before.
    else if (!over.aborted) seen = {...seen, causes: [silent(outcome)]};
    if (over.aborted) return seen;
    await sleep(EVERY_MS, over);
  }
}

/** What is about the pod itself need not name it. */
const causesOf = (list: {items: readonly KubernetesObject[]}, name: string, now: Date): Causes =>
  explain(snapshotOfPod(list, name), now).map(({object, reason, remedy, isHopeless}) => ({
    reason: object === `pod/${name}` ? reason : `${object}: ${reason}`,
    remedy,
    isHopeless,
  }));

/** kubectl lists what it may list, and fails all the same. */
const listIn = ({stdout}: Outcome): {items: KubernetesObject[]} =>
  (jsonIn(stdout) as {items: KubernetesObject[]} | undefined) ?? {items: []};

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

const unreadable = ({stderr}: Outcome): Causes[number] => ({
  reason: oneLine(`its log cannot be read: ${stderr}`),
  remedy: 'Ask for the permission to get pods/log',
  isHopeless: false,
});

const silent = ({stderr}: Outcome): Causes[number] => ({
  reason: oneLine(`the API server does not say how it is: ${stderr}`),
  remedy: 'Try: kubectl cluster-info',
  isHopeless: false,
});

const VANISHED: Causes[number] = {
  reason: 'it was gone before it had ended',
  remedy: 'Somebody else removed it; run it again',
  isHopeless: false,
};
