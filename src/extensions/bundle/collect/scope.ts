import {isOwner} from '../../../checks/diagnose/snapshot-queries.ts';
import type {Event, KubernetesObject, Pod} from '../../../cluster/kubernetes/objects.ts';
import type {ScalrRelease} from '../../../cluster/platform/cluster-facts.ts';
import {isOfRun, type RunsOf} from '../../../cluster/release/inventory.ts';

export type BundledRelease = Pick<ScalrRelease, 'name' | 'chart' | 'version'> & {
  runsOf: RunsOf | undefined;
};

/** The part of a namespace that belongs to the bundle. */
export interface BundleScope {
  objects: readonly KubernetesObject[];
  pods: readonly Pod[];
}

/** Names the charts give their pods (docs/charts/README.md, "Terms"), for agents without a Helm release. */
const AGENT_NAMES: ReadonlySet<string | undefined> = new Set([
  'agent-k8s',
  'agent-local',
  'agent-job',
  'scalr-agent',
]);
/** Objects that affect the pods of every owner in the namespace. */
const OF_ALL = new Set<string | undefined>([
  'NetworkPolicy',
  'ResourceQuota',
  'LimitRange',
  'AgentTaskTemplate',
  'AgentTask',
  'AgentWorker',
]);

/** True for objects of a release, excluding namespace-wide objects and events about them. */
export const isOfReleases = ({kind}: KubernetesObject): boolean =>
  !OF_ALL.has(kind) && kind !== 'Event';

/**
 * Objects of the releases and runs, and objects that affect them; with a run, only its pods and those of the agent. Without
 * Helm data, releases are detected by their labels. Pure.
 */
export function bundleScope(
  objects: readonly KubernetesObject[],
  releases: readonly BundledRelease[],
  {run, release}: {run?: string | undefined; release?: string | undefined} = {},
): BundleScope {
  const isAgent = ({metadata: {labels}}: KubernetesObject): boolean =>
    AGENT_NAMES.has(labels?.['app.kubernetes.io/name']);
  const agents = releases.length > 0 || release !== undefined ? [] : objects.filter(isAgent);
  const desired = new Set(
    [release, ...releases.map(({name}) => name), ...agents.map(helmReleaseOf)].filter(
      (name) => name !== undefined,
    ),
  );
  const isRoot = (object: KubernetesObject): boolean =>
    OF_ALL.has(object.kind) ||
    desired.has(helmReleaseOf(object) ?? '') ||
    agents.includes(object) ||
    releases.some(({runsOf}) => runsOf !== undefined && isOfRun(object, runsOf));
  const ours = new Set(objects.filter((object) => object.kind !== 'Event' && isRoot(object)));
  // Owners come before their dependents, so that one pass finds pods through their ReplicaSets.
  for (const object of objects)
    if (
      object.metadata.ownerReferences?.some((owner) =>
        [...ours].some((each) => isOwner(each, owner)),
      )
    )
      ours.add(object);
  const pods = (
    objects.filter((object) => object.kind === 'Pod' && ours.has(object)) as Pod[]
  ).filter((pod) => run === undefined || !isRunPod(pod, releases) || hasRunId(pod, run));
  const mounted = new Set(
    pods
      .flatMap(({spec}) => spec?.volumes ?? [])
      .map(({persistentVolumeClaim: claim}) => claim?.claimName),
  );
  const claims = objects.filter(
    ({kind, metadata}) => kind === 'PersistentVolumeClaim' && mounted.has(metadata.name),
  );
  const kept = new Set([...[...ours].filter(({kind}) => kind !== 'Pod'), ...pods, ...claims]);
  const names = new Set([...kept].map(({kind, metadata}) => `${kind}/${metadata.name}`));
  const isAbout = ({involvedObject: about}: Event): boolean =>
    names.has(`${about?.kind}/${about?.name}`) || isOfGoneRun(about, releases);
  return {
    objects: objects.filter(
      (object) => kept.has(object) || (object.kind === 'Event' && isAbout(object as Event)),
    ),
    pods,
  };
}

export const helmReleaseOf = ({
  metadata: {labels, annotations},
}: KubernetesObject): string | undefined =>
  annotations?.['meta.helm.sh/release-name'] ?? labels?.['app.kubernetes.io/instance'];

/** IDs of all existing runs, requested or not. */
export const runIds = (
  objects: readonly KubernetesObject[],
  releases: readonly BundledRelease[],
): string[] => {
  const ids = objects.flatMap((object) =>
    object.kind === 'Pod' && isRunPod(object as Pod, releases) ? (runIdOf(object) ?? []) : [],
  );
  return [...new Set(ids)].toSorted();
};

const isRunPod = (pod: Pod, releases: readonly BundledRelease[]): boolean =>
  releases.some(({runsOf}) => runsOf !== undefined && isOfRun(pod, runsOf)) ||
  pod.metadata.labels?.['app.kubernetes.io/component'] === 'task';

/** Pods of runs are deleted a minute after the run; their events exist for an hour. */
const isOfGoneRun = (
  about: Event['involvedObject'],
  releases: readonly BundledRelease[],
): boolean =>
  releases.some(({chart}) => chart === 'agent-job') &&
  (about?.kind === 'Pod' || about?.kind === 'Job') &&
  /(^|-)(run|atask)-/.test(about.name ?? '');

/** Format of run IDs in Scalr. */
const ID = /(?<![^-.])(run|atask)-(?!run-)[a-z0-9]+(?![^-.])/;

/** The run ID is a complete part of the names of its Job and pods, or a label or variable. */
export const hasRunId = ({metadata, spec}: Pod, run: string): boolean =>
  nameContainsRun(metadata.name, run) ||
  Object.values(metadata.labels ?? {}).includes(run) ||
  [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].some(({env}) =>
    env?.some(({value}) => value === run),
  );

/** Between dashes, dots and the ends of the name: run-abc1 does not match run-abc12. */
export const nameContainsRun = (name: string, run: string): boolean =>
  parts(name).includes(parts(run));

const parts = (name: string): string => `-${name.replaceAll('.', '-')}-`;

/** Undefined if no ID is found. */
export function runIdOf({metadata: {name, labels}}: KubernetesObject): string | undefined {
  const label = Object.values(labels ?? {}).find((value) => ID.exec(value)?.[0] === value);
  return label ?? ID.exec(name)?.[0];
}
