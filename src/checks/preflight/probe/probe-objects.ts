import {ownLabels} from '../../../cluster/kubernetes/own-objects.ts';

const PROBE = 'scalr.io/probe';

/** Resource names for kubectl, in the order in which probes are deleted. */
export const PROBE_KINDS = ['pods', 'configmaps', 'networkpolicies.networking.k8s.io'] as const;

export const PROBE_CONTAINER = 'probe';

export const RUNNER_CONTAINER = 'runner';

export const PROBE_DONE = 'probe done';

/**
 * No label of the chart is among them: a DaemonSet would take the pod for its own, a Service would send it requests, and it would
 * count as a run.
 */
export const probeLabels = (release: string): Readonly<Record<string, string>> => ({
  ...ownLabels(release),
  [PROBE]: release,
});

export const probeSelector = (release: string): string => `${PROBE}=${release}`;
