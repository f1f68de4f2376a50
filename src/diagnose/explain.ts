import {count, groupsOf} from '../ground/text.ts';
import type {KubernetesObject, Pod, Snapshot} from '../kubernetes/objects.ts';
import {agentLogCauses, registered} from './agent-log.ts';
import {type Cause, type CauseRow, type CauseTable, remedyOf} from './cause.ts';
import {containerCauses, podCauses} from './pod-causes.ts';
import {claimCauses, schedulingCauses} from './scheduling-causes.ts';
import {
  countText,
  eventsOf,
  isBeingCreated,
  isPodReady,
  isRootReady,
  isSuperseded,
  objectLabel,
  ownerOf,
  podClaims,
  podsOf,
  rootOf,
  rootsOf,
  timeOf,
} from './snapshot-queries.ts';
import {imageCauses, startCauses} from './start-causes.ts';
import {creationCauses, workloadCauses} from './workload-causes.ts';

/** Only the first cause of each object is reported, so specific causes come first. */
const TABLES: readonly CauseTable[] = [
  ...claimCauses,
  creationCauses,
  ...schedulingCauses,
  ...imageCauses,
  startCauses,
  agentLogCauses,
  ...containerCauses,
  ...podCauses,
  ...workloadCauses,
];

export const CAUSES: readonly CauseRow[] = TABLES.flatMap(({rows}) => rows);

interface Found extends Cause {
  about: KubernetesObject;
  isVague: boolean;
}

/** Reasons why the release is not ready: one cause per object, permanent ones first. */
export function explainSnapshot(snapshot: Snapshot, now: Date): Cause[] {
  const found = new Map<KubernetesObject, Found>();
  for (const {symptoms, rows} of TABLES) {
    const seen = symptoms(snapshot, now);
    for (const {code, pattern, hopelessAfter = Number.POSITIVE_INFINITY, normalFor = 0, isVague = false, ...row} of rows) {
      for (const {object, text = '', reason, since, ...symptom} of seen) {
        const about = reportedObject(snapshot, object);
        const age = secondsSince(since ?? object.metadata.creationTimestamp, now);
        if (found.has(about) || age < normalFor || pattern?.test(text) === false) continue;
        const isStuck = (row.ignoresTries ? undefined : symptom.isPermanent) ?? age >= hopelessAfter;
        found.set(about, {
          about,
          object: objectLabel(about),
          code,
          reason,
          remedy: symptom.remedy ?? remedyOf(row, {object, ...symptom}, snapshot.kubeTarget),
          isPermanent: isStuck && !isSuperseded(snapshot, object),
          isVague,
        });
      }
    }
  }
  return joinAlike(snapshot, dropVague(snapshot, [...found.values()]))
    .toSorted((a, b) => Number(b.isPermanent) - Number(a.isPermanent))
    .map(({object, code, reason, remedy, isPermanent}) => ({object, code, reason, remedy, isPermanent}));
}

/** Users do not create ReplicaSets, so their causes are reported for the Deployment. */
const reportedObject = (snapshot: Snapshot, object: KubernetesObject): KubernetesObject =>
  object.kind === 'ReplicaSet' ? (ownerOf(snapshot, object) ?? object) : object;

/** Never negative: the clock of the cluster may be ahead. A state without a time is new. */
const secondsSince = (time: string | undefined, now: Date): number => (time ? Math.max(0, (now.getTime() - Date.parse(time)) / 1000) : 0);

/** A vague cause is replaced by specific ones of dependent objects, which inherit its hopelessness. */
function dropVague(snapshot: Snapshot, found: readonly Found[]): Found[] {
  const heirs = new Map<Found, Found[]>();
  for (const vague of found.filter(({isVague}) => isVague)) {
    const objects = below(snapshot, vague.about);
    const better = found.filter(({about}) => objects.includes(about));
    if (better.length > 0) heirs.set(vague, better);
  }
  const inherits = (each: Found): boolean => [...heirs].some(([{isPermanent}, better]) => isPermanent && better.includes(each));
  return found.filter((each) => !heirs.has(each)).map((each) => (inherits(each) ? {...each, isPermanent: true} : each));
}

const below = (snapshot: Snapshot, object: KubernetesObject): readonly KubernetesObject[] =>
  object.kind === 'Pod' ? podClaims(snapshot, object as Pod) : podsOf(snapshot, object);

/** Pods of one workload with the same cause are reported once. */
function joinAlike(snapshot: Snapshot, found: readonly Found[]): Found[] {
  const keyOf = ({about, code, reason}: Found): string => JSON.stringify([objectLabel(rootOf(snapshot, about)), about.kind, code, reason]);
  return groupsOf(found, keyOf).map((alike) => {
    const [first, ...others] = alike;
    const reason = `${first.reason}${others.length === 0 ? '' : ` (and ${count(others.length, 'more pod')})`}`;
    return {...first, reason, isPermanent: alike.some(({isPermanent}) => isPermanent)};
  });
}

export interface Progress {
  object: string;
  state: 'ready' | 'waiting' | 'failing';
  text: string;
  /** What it waits for, if known. */
  waitingFor?: string | undefined;
}

/** One line per workload. */
export function progress(snapshot: Snapshot): Progress[] {
  const newest = snapshot.events.at(-1);
  const causes = explainSnapshot(snapshot, new Date(newest ? timeOf(newest) : 0));
  return rootsOf(snapshot).map((root) => {
    const names = [root, ...podsOf(snapshot, root)].map(objectLabel);
    const isFailing = causes.some(({object}) => names.includes(object));
    const state = isFailing ? 'failing' : isRootReady(root) ? 'ready' : 'waiting';
    return {object: objectLabel(root), state, text: countText(root), ...(isFailing ? {} : {waitingFor: waitingFor(snapshot, root)})};
  });
}

/** Every workload is ready, and no agent log contradicts it. `now` separates old log lines from new ones. */
export function isReady(snapshot: Snapshot, now?: Date): boolean {
  const roots = rootsOf(snapshot);
  return roots.length > 0 && roots.every(isRootReady) && registered(snapshot, now) !== false;
}

/** What a workload that is not ready waits for, as long as nothing is wrong. */
export function waitingFor(snapshot: Snapshot, root: KubernetesObject): string | undefined {
  if (isRootReady(root)) return undefined;
  const pods = root.kind === 'Pod' ? [root as Pod] : podsOf(snapshot, root);
  const pod = pods.find((each) => !isPodReady(each));
  if (pod === undefined) return pods.length === 0 ? 'waiting for its pods' : undefined;
  if (pod.spec?.nodeName === undefined) return 'waiting for a node';
  if (!isBeingCreated(pod)) return 'starting';
  return eventsOf(snapshot, pod).at(-1)?.reason === 'Pulling' ? 'pulling the image' : 'creating the container';
}
