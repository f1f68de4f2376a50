import {type KubernetesObject, ownLabels} from '../../kubernetes/objects.ts';

const PROBE = 'scalr.io/probe';

/** Resource names for kubectl, in the order in which probes are deleted. */
export const PROBE_KINDS = ['pods', 'configmaps', 'networkpolicies.networking.k8s.io'] as const;

export const PROBE_CONTAINER = 'probe';

/** The init container with the runner image. */
export const RUNNER_CONTAINER = 'runner';

/** The last line of a completed probe. */
export const PROBE_DONE = 'probe done';

/**
 * No label of the chart is among them: a DaemonSet would take the pod for its own, a Service would send it requests, and it would
 * count as a run.
 */
export const probeLabels = (release: string): Readonly<Record<string, string>> => ({...ownLabels(release), [PROBE]: release});

export const probeSelector = (release: string): string => `${PROBE}=${release}`;

/** The objects of a probe. */
export interface ProbeObjects {
  /** Of the pod. */
  pod: string;
  /** In the order of their creation, the pod last. */
  objects: readonly KubernetesObject[];
}

/** What was seen of a probe. */
export interface Probed {
  /** Where it ran. */
  node?: string | undefined;
  /** Its log; undefined if it did not complete. */
  log?: string | undefined;
  /** Why it did not complete. */
  causes: readonly {reason: string; remedy: string; isPermanent: boolean}[];
  /** Command that deletes the remaining objects. */
  leftover?: string | undefined;
}
