import {type KubernetesObject, ownLabels} from './objects.ts';

const PROBE = 'scalr.io/probe';

/** Names of kinds in the order in which probes are removed, as kubectl takes them. */
export const PROBE_KINDS = ['pods', 'configmaps', 'networkpolicies.networking.k8s.io'] as const;

export const PROBE_CONTAINER = 'probe';

/** The last line of a probe that came to its end. */
export const PROBE_DONE = 'probe done';

/**
 * No label of the chart is among them: a DaemonSet would take the pod for its own, a Service would send it requests, and it would
 * count as a run.
 */
export const probeLabels = (release: string): Readonly<Record<string, string>> => ({...ownLabels(release), [PROBE]: release});

export const probeSelector = (release: string): string => `${PROBE}=${release}`;

/** What is made for a probe. */
export interface ProbeObjects {
  /** Of the pod. */
  pod: string;
  /** In the order in which they are made, the pod last. */
  objects: readonly KubernetesObject[];
}

/** What was seen of a probe. */
export interface Probed {
  /** Where it ran. */
  node?: string | undefined;
  /** What it printed; undefined of one that did not come to its end. */
  log?: string | undefined;
  /** Why it did not. */
  causes: readonly {reason: string; remedy: string; isHopeless: boolean}[];
  /** The command that removes what could not be removed. */
  leftover?: string | undefined;
}
