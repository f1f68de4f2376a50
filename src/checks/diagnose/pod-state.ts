import type {
  Condition,
  Container,
  ContainerStatus,
  KubernetesObject,
  Pod,
  Workload,
} from '../../cluster/kubernetes/objects.ts';

export interface ContainerView extends ContainerStatus {
  isInit: boolean;
  spec: Container | undefined;
}

export const isTerminating = ({metadata}: KubernetesObject): boolean =>
  metadata.deletionTimestamp !== undefined;

/** Names of the PVCs that a pod mounts. */
export const claimsOf = ({spec}: Pod): string[] =>
  (spec?.volumes ?? []).flatMap(({persistentVolumeClaim: claim}) => claim?.claimName ?? []);

export const condition = ({status}: Pod | Workload, type: string): Condition | undefined =>
  status?.conditions?.find((each) => each.type === type);

export const isPodReady = (pod: Pod): boolean =>
  pod.status?.phase === 'Running' && condition(pod, 'Ready')?.status === 'True';

/** Time since which the pod is not ready. */
export const unhealthySince = (pod: Pod): string | undefined =>
  condition(pod, 'Ready')?.lastTransitionTime ??
  pod.status?.startTime ??
  pod.metadata.creationTimestamp;

export function containersOf({spec, status}: Pod): ContainerView[] {
  const view = (
    isInit: boolean,
    specs: readonly Container[] = [],
    statuses: readonly ContainerStatus[] = [],
  ): ContainerView[] =>
    statuses.map((each) => ({...each, isInit, spec: specs.find(({name}) => name === each.name)}));
  return [
    ...view(true, spec?.initContainers, status?.initContainerStatuses),
    ...view(false, spec?.containers, status?.containerStatuses),
  ];
}

/** Neither ready nor finished. */
export const isContainerUnhealthy = ({ready, state}: ContainerView): boolean =>
  !ready && state?.terminated?.exitCode !== 0;

/** The pod waits for its volumes, its network or its images. */
export const isBeingCreated = (pod: Pod): boolean =>
  pod.status?.phase === 'Pending' &&
  pod.spec?.nodeName !== undefined &&
  containersOf(pod).every(({state}) => !state?.running && !state?.terminated);
