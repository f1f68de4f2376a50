import type {KubernetesObject, Pod, Snapshot} from '../cluster/objects.ts';
import type {ReleaseName} from '../ports/helm.ts';
import type {Interrupts} from '../ports/interrupts.ts';
import {listObjects, podLogs} from '../ports/kubectl.ts';
import type {Processes} from '../ports/processes.ts';
import {toolFailure} from '../ports/tool-failure.ts';
import type {Cause} from './explain/cause.ts';
import {explain, isReady, type Progress, progress, registered} from './explain/explain.ts';
import {snapshotOf} from './explain/snapshot.ts';

const KINDS = ['deployments', 'daemonsets', 'replicasets', 'jobs', 'pods', 'persistentvolumeclaims', 'events'];
const EVERY_MS = 1500;
/** A ready agent that says nothing of itself is believed after this time. */
const SILENCE_MS = 15_000;
const MOST_LOGS = 6;

export interface Watched {
  state: 'ready' | 'hopeless' | 'timed-out' | 'interrupted';
  /** What the agent's own log says, where it could be read. */
  agent: 'registered' | 'unknown';
  causes: readonly Cause[];
}

interface World {
  processes: Processes;
  interrupts: Interrupts;
  now(): Date;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  timeoutMs: number;
  onProgress(lines: readonly Progress[], causes: readonly Cause[]): void;
}

/** Looks at a release until it is ready, cannot become ready, or time is over. Helm's own wait is not relied on. */
export async function watchRelease(name: ReleaseName, world: World): Promise<Watched> {
  const start = world.now().getTime();
  let readySince: number | undefined;
  for (;;) {
    const snapshot = await look(name, world.processes);
    const now = world.now();
    const causes = explain(snapshot, now);
    world.onProgress(progress(snapshot), causes);
    const agent = registered(snapshot, now) === true ? 'registered' : 'unknown';
    readySince = isReady(snapshot, now) ? (readySince ?? now.getTime()) : undefined;
    if (readySince !== undefined && (agent === 'registered' || now.getTime() - readySince >= SILENCE_MS))
      return {state: 'ready', agent, causes};
    if (causes.some(({isHopeless}) => isHopeless)) return {state: 'hopeless', agent, causes};
    if (now.getTime() - start > world.timeoutMs) return {state: 'timed-out', agent, causes};
    if (world.interrupts.asked.aborted) return {state: 'interrupted', agent, causes};
    await world.sleep(EVERY_MS, world.interrupts.asked);
  }
}

async function look({release, place}: ReleaseName, processes: Processes): Promise<Snapshot> {
  const call = listObjects(place, KINDS);
  const outcome = await processes.run(call);
  if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
  const list = JSON.parse(outcome.stdout) as {items: KubernetesObject[]};
  const bare = snapshotOf(list, release, {});
  return snapshotOf(list, release, await logsOf(bare.pods, place, processes));
}

/** The last lines of containers that run or broke; one that never started has none. */
async function logsOf(pods: readonly Pod[], place: ReleaseName['place'], processes: Processes): Promise<Record<string, string>> {
  const wanted = pods
    .flatMap(({metadata, status}) =>
      [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map((container) => ({
        pod: metadata.name,
        container,
      })),
    )
    .filter(({container: {state, lastState}}) => state?.running || state?.terminated || lastState?.terminated)
    .slice(0, MOST_LOGS);
  const read = await Promise.all(
    wanted.map(async ({pod, container: {name, state, lastState}}) => {
      const previous = state?.running === undefined && lastState?.terminated !== undefined;
      const {exitCode, stdout} = await processes.run(podLogs(place, pod, name, {previous}));
      return [`${pod}/${name}`, exitCode === 0 ? stdout : ''] as const;
    }),
  );
  return Object.fromEntries(read.filter(([, text]) => text !== ''));
}
