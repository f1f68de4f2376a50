import type {KubernetesObject, Snapshot} from '../cluster/objects.ts';
import {verdicts} from './agent-log.ts';
import type {Cause} from './cause.ts';
import {foldAlike, foldVague, type Told} from './dedupe-causes.ts';
import {countText, isRootReady, presentPods, rootsOf} from './readiness.ts';
import {nameOf, ownerOf, podsOf, rootOf, timeOf} from './snapshot-queries.ts';
import {CAUSES} from './table.ts';

/** Why the release is not ready: one cause per object, the hopeless ones first. Nothing for what is well. */
export function explain(snapshot: Snapshot, now: Date): Cause[] {
  const told = new Map<KubernetesObject, Told>();
  for (const {code, hopelessAfter = Number.POSITIVE_INFINITY, normalFor = 0, isVague = false, remedy, test} of CAUSES) {
    for (const finding of test(snapshot, now)) {
      const about = whom(snapshot, finding.object);
      const age = secondsSince(finding.since ?? finding.object.metadata.creationTimestamp, now);
      if (told.has(about) || age < normalFor) continue;
      const isHopeless = finding.isHopeless ?? age >= hopelessAfter;
      told.set(about, {about, object: nameOf(about), code, reason: finding.reason, remedy: finding.remedy ?? remedy, isHopeless, isVague});
    }
  }
  return foldAlike(snapshot, foldVague(snapshot, [...told.values()]))
    .toSorted((a, b) => Number(b.isHopeless) - Number(a.isHopeless))
    .map(({object, code, reason, remedy, isHopeless}) => ({object, code, reason, remedy, isHopeless}));
}

/** Nobody asked for a ReplicaSet; what befalls it is told of its Deployment. */
const whom = (snapshot: Snapshot, object: KubernetesObject): KubernetesObject =>
  object.kind === 'ReplicaSet' ? (ownerOf(snapshot, object) ?? object) : object;

/** Never negative: the clock of the cluster may be ahead of ours. A state without a time has only just been seen. */
const secondsSince = (time: string | undefined, now: Date): number => (time ? Math.max(0, (now.getTime() - Date.parse(time)) / 1000) : 0);

export interface Progress {
  object: string;
  state: 'ready' | 'waiting' | 'failing';
  text: string;
}

/** One line per workload. */
export function progress(snapshot: Snapshot): Progress[] {
  const newest = snapshot.events.at(-1);
  const causes = explain(snapshot, new Date(newest ? timeOf(newest) : 0));
  return rootsOf(snapshot).map((root) => {
    const names = [root, ...podsOf(snapshot, root)].map(nameOf);
    const isFailing = causes.some(({object}) => names.includes(object));
    return {object: nameOf(root), state: isFailing ? 'failing' : isRootReady(root) ? 'ready' : 'waiting', text: countText(root)};
  });
}

/** Everything is as it was asked for, and no agent says the opposite. `now` tells old words of an agent from new ones. */
export function isReady(snapshot: Snapshot, now?: Date): boolean {
  const roots = rootsOf(snapshot);
  return roots.length > 0 && roots.every(isRootReady) && registered(snapshot, now) !== false;
}

/** What the agents' logs say: `unknown` where no line could be read that tells. */
export function registered(snapshot: Snapshot, now?: Date): boolean | 'unknown' {
  const said = presentPods(snapshot).map((pod) => ({
    root: rootOf(snapshot, pod),
    meanings: verdicts(snapshot, pod, now).map(({meaning}) => meaning),
  }));
  if (said.some(({meanings}) => meanings.some((each) => each !== 'READY'))) return false;
  const speakers = said.filter(({meanings}) => meanings.includes('READY'));
  // A replica speaks for itself only, so all of its workload have to say it. Another workload may have other words.
  const isComplete = speakers.every(({root}) => said.filter((each) => each.root === root).every(({meanings}) => meanings.length > 0));
  return speakers.length > 0 && isComplete ? true : 'unknown';
}

export interface Agent {
  pod: string;
  /** `unknown` where its log says something else, nothing of it any more, or cannot be read. */
  state: 'registered' | 'unknown';
}

/** What the log of each pod says of itself. */
export function agentsOf(snapshot: Snapshot, now: Date): Agent[] {
  return presentPods(snapshot).map((pod) => {
    const said = verdicts(snapshot, pod, now);
    const isRegistered = said.length > 0 && said.every(({meaning}) => meaning === 'READY');
    return {pod: pod.metadata.name, state: isRegistered ? 'registered' : 'unknown'};
  });
}
