import type {ClusterTarget} from '../ground/command-line.ts';
/** Objects of Kubernetes, as far as this program reads them. Every field may be missing: clusters differ. */
export interface KubernetesObject {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    generation?: number;
    labels?: Readonly<Record<string, string>>;
    annotations?: Readonly<Record<string, string>>;
    ownerReferences?: readonly {kind: string; name: string; uid?: string}[];
    creationTimestamp?: string;
    deletionTimestamp?: string;
  };
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface Container {
  name: string;
  image?: string;
  /** `Always` makes an init container a sidecar. */
  restartPolicy?: string;
  resources?: {limits?: Readonly<Record<string, string>>};
  env?: readonly {name: string; value?: string}[] | null;
  command?: readonly string[] | null;
  args?: readonly string[] | null;
}

export interface ContainerStatus {
  name: string;
  image?: string;
  ready?: boolean;
  restartCount?: number;
  state?: ContainerState;
  lastState?: ContainerState;
}

export interface ContainerState {
  waiting?: {reason?: string; message?: string};
  running?: {startedAt?: string};
  terminated?: {reason?: string; exitCode?: number; message?: string; finishedAt?: string};
}

export interface Pod extends KubernetesObject {
  spec?: {
    nodeName?: string;
    containers?: readonly Container[];
    initContainers?: readonly Container[];
    volumes?: readonly {persistentVolumeClaim?: {claimName: string}}[];
  };
  status?: {
    phase?: string;
    reason?: string;
    message?: string;
    startTime?: string;
    conditions?: readonly Condition[];
    containerStatuses?: readonly ContainerStatus[];
    initContainerStatuses?: readonly ContainerStatus[];
    ephemeralContainerStatuses?: readonly ContainerStatus[];
  };
}

/** A Deployment, DaemonSet, ReplicaSet or Job. */
export interface Workload extends KubernetesObject {
  spec?: {replicas?: number; completions?: number};
  status?: {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    updatedReplicas?: number;
    availableReplicas?: number;
    numberReady?: number;
    desiredNumberScheduled?: number;
    updatedNumberScheduled?: number;
    succeeded?: number;
    conditions?: readonly Condition[];
  };
}

export interface Claim extends KubernetesObject {
  spec?: {volumeName?: string; storageClassName?: string; accessModes?: readonly string[]; resources?: {requests?: {storage?: string}}};
  status?: {phase?: string};
}

export interface Event extends KubernetesObject {
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  /** Newer components fill this instead of the two above, as null until there is one. */
  eventTime?: string | null;
  series?: {count?: number; lastObservedTime?: string};
  involvedObject?: {kind?: string; name?: string; uid?: string};
}

/** What a release looks like in the cluster at one moment. */
export interface Snapshot {
  /** Where it was looked at, for commands. */
  kubeTarget: ClusterTarget;
  workloads: readonly Workload[];
  pods: readonly Pod[];
  claims: readonly Claim[];
  /** Events of the namespace, newest last. */
  events: readonly Event[];
  /** Last log lines of crashed and running containers by `pod/container`, if readable. */
  logs: Readonly<Record<string, string>>;
}

const MANAGER = {key: 'app.kubernetes.io/managed-by', value: 'scalr-agent-install'};
const RELEASE = 'scalr.io/release';

/** The labels of objects that this program creates outside of a release. */
export const ownLabels = (release: string): Readonly<Record<string, string>> => ({[MANAGER.key]: MANAGER.value, [RELEASE]: release});

/** Field managers of people and of Helm; what they have changed can be changed back. */
export const isByHand = (manager: string): boolean => /^(kubectl|helm(?!-controller)|scalr-agent-install)/.test(manager);

export const isOwn = ({metadata}: KubernetesObject): boolean => metadata.labels?.[MANAGER.key] === MANAGER.value;

/** The release that this program created an object for. */
export const releaseOf = ({metadata}: KubernetesObject): string | undefined => metadata.labels?.[RELEASE];

export const isMadeFor = (object: KubernetesObject, release: string): boolean => isOwn(object) && releaseOf(object) === release;

export interface SecretObject extends KubernetesObject {
  type?: string;
  /** base64 */
  data?: Readonly<Record<string, string>>;
}

/** Kind and name of an object, in one namespace or in the cluster. */
export interface ObjectRef {
  kind: string;
  name: string;
}

export const refOf = ({kind = '', metadata}: KubernetesObject): ObjectRef => ({kind, name: metadata.name});

export const isSameRef = (one: ObjectRef, other: ObjectRef): boolean => one.kind === other.kind && one.name === other.name;
export const isAmong = (one: ObjectRef, others: readonly ObjectRef[]): boolean => others.some((each) => isSameRef(one, each));
export const once = (refs: readonly ObjectRef[]): ObjectRef[] =>
  refs.filter((each, index) => refs.findIndex((other) => isSameRef(each, other)) === index);

/** For kubectl: deployment/scalr-agent. */
export const resourceName = ({kind, name}: ObjectRef): string => `${kind.toLowerCase()}/${name}`;

/** For a person: Deployment scalr-agent. */
export const refText = ({kind, name}: ObjectRef): string => `${kind} ${name}`;

export const kindAndName = (object: KubernetesObject): string => refText(refOf(object));
