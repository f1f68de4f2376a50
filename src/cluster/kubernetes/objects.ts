import type {ObjectIdentity, Resource} from '../../ground/call.ts';
import type {ClusterTarget} from '../../ground/command-line.ts';
import {getAt, isMap, type Path, type Tree, textAt, type Values} from '../../ground/tree.ts';

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
    ownerReferences?: readonly OwnerReference[];
    creationTimestamp?: string;
    deletionTimestamp?: string;
    resourceVersion?: string;
  };
}

export interface OwnerReference {
  kind: string;
  name: string;
  uid?: string;
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
  spec?: {
    volumeName?: string;
    storageClassName?: string;
    accessModes?: readonly string[];
    resources?: {requests?: {storage?: string}};
  };
  status?: {phase?: string; capacity?: {storage?: string}};
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

export interface DefinitionObject extends KubernetesObject {
  spec?: {
    group?: string;
    scope?: string;
    names?: {kind?: string; plural?: string};
    versions?: readonly {name: string; served?: boolean; storage?: boolean}[];
  };
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
export const ownLabels = (release: string): Readonly<Record<string, string>> => ({
  [MANAGER.key]: MANAGER.value,
  [RELEASE]: release,
});

/** Field managers of people and of Helm; what they have changed can be changed back. */
export const isUserManager = (manager: string): boolean =>
  /^(kubectl|helm(?!-controller)|scalr-agent-install)/.test(manager);

export const isOwn = ({metadata}: KubernetesObject): boolean =>
  metadata.labels?.[MANAGER.key] === MANAGER.value;

/** The release that this program created an object for. */
export const releaseOf = ({metadata}: KubernetesObject): string | undefined =>
  metadata.labels?.[RELEASE];

export const isOwnFor = (object: KubernetesObject, release: string): boolean =>
  isOwn(object) && releaseOf(object) === release;

export interface SecretObject extends KubernetesObject {
  metadata: KubernetesObject['metadata'] & {
    managedFields?: readonly {
      manager?: string;
      operation?: string;
      fieldsV1?: {'f:metadata'?: {'f:labels'?: object; 'f:annotations'?: object}};
    }[];
  };
  type?: string;
  /** base64 */
  data?: Readonly<Record<string, string>>;
}

/** Kind and name of an object, in one namespace or in the cluster. */
export interface ObjectRef {
  kind: string;
  name: string;
}

export const refOf = ({kind = '', metadata}: KubernetesObject): ObjectRef => ({
  kind,
  name: metadata.name,
});

export const isSameRef = (one: ObjectRef, other: ObjectRef): boolean =>
  one.kind === other.kind && one.name === other.name;
export const includesRef = (one: ObjectRef, others: readonly ObjectRef[]): boolean =>
  others.some((each) => isSameRef(one, each));
export const uniqueRefs = (refs: readonly ObjectRef[]): ObjectRef[] =>
  refs.filter((each, index) => refs.findIndex((other) => isSameRef(each, other)) === index);

/** An object without its content, which may be secret. */
export const identityOf = (object: KubernetesObject): ObjectIdentity => {
  const {apiVersion = '', kind = '', metadata} = object;
  const {name, namespace} = metadata;
  return {apiVersion, kind, metadata: namespace === undefined ? {name} : {name, namespace}};
};

/** For a call of kubectl. */
export const resourceOfRef = ({kind, name}: ObjectRef): Resource => ({
  kind: kind.toLowerCase(),
  name,
});

/** For kubectl: deployment/scalr-agent. */
export const resourceName = ({kind, name}: ObjectRef): string => `${kind.toLowerCase()}/${name}`;

export const hasEnded = ({status}: Pod): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** For a person: Deployment scalr-agent. */
export const refText = ({kind, name}: ObjectRef): string => `${kind} ${name}`;

export const kindAndName = (object: KubernetesObject): string => refText(refOf(object));

/** Scheduling constraints of a pod other than resources. */
export interface NodePlace {
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
}

interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
}

/** The specs of pods, wherever in an object: agent-job has them inside custom resources. */
export const podSpecs = (object: KubernetesObject): Values[] =>
  topmost(object as unknown as Tree, ['containers']);

/** A pod as something else makes it. */
export interface PodTemplate {
  metadata?: {
    labels?: Readonly<Record<string, string>>;
    annotations?: Readonly<Record<string, string>>;
  } | null;
  spec: Values;
}

/** The templates of pods, wherever in an object. */
export const podTemplates = (object: KubernetesObject): PodTemplate[] =>
  topmost(object as unknown as Tree, ['spec', 'containers']) as unknown as PodTemplate[];

/** The maps with a list at this path, without those below another one. */
function topmost(tree: Tree, path: Path): Values[] {
  if (Array.isArray(tree)) return tree.flatMap((each) => topmost(each, path));
  if (!isMap(tree)) return [];
  return Array.isArray(getAt(tree, path))
    ? [tree]
    : Object.values(tree).flatMap((each) => topmost(each, path));
}

/** The maps in a list; none of anything else. */
export const mapsIn = (tree: Tree | undefined): Values[] =>
  Array.isArray(tree) ? tree.filter(isMap) : [];

export const hostPaths = ({volumes}: Values): string[] =>
  mapsIn(volumes).flatMap((each) => textAt(each, ['hostPath', 'path']) || []);

/** All keys of a tree with their values. */
export function pairsBelow(tree: Tree): [key: string, below: Tree][] {
  if (Array.isArray(tree)) return tree.flatMap(pairsBelow);
  return isMap(tree) ? Object.entries(tree).flatMap((pair) => [pair, ...pairsBelow(pair[1])]) : [];
}

/** Secrets that containers read or mount, without image pull Secrets. */
export const secretNames = (tree: Tree): string[] =>
  pairsBelow(tree).flatMap(([key, below]) => {
    const name =
      SECRET_REFERENCES.has(key) && isMap(below)
        ? (below['secretName'] ?? below['name'])
        : undefined;
    return typeof name === 'string' ? [name] : [];
  });

/** Of a variable, of all variables, and of a volume. */
const SECRET_REFERENCES: ReadonlySet<string> = new Set(['secretKeyRef', 'secretRef', 'secret']);

export const selectorOf = (spec: Values): [key: string, value: string][] =>
  Object.entries((spec['nodeSelector'] ?? {}) as Record<string, string>);

export const isSelected = (spec: Values, {labels}: NodePlace): boolean =>
  selectorOf(spec).every(([key, value]) => labels[key] === value);

/** Taints of the node that exclude the pod permanently; taints by Kubernetes itself are temporary. */
export const untolerated = <T extends Taint>(
  spec: Values,
  {taints}: {taints: readonly T[]},
): T[] => {
  const tolerations = (spec['tolerations'] ?? []) as unknown as Toleration[];
  return taints.filter(
    (taint) =>
      taint.effect !== 'PreferNoSchedule' &&
      // Ignores temporary taints of cordoned or broken nodes: earlier data is still on the node.
      !taint.key.startsWith('node.kubernetes.io/') &&
      !tolerations.some((each) => tolerates(each, taint)),
  );
};

export const mayRun = (spec: Values, node: NodePlace): boolean =>
  isSelected(spec, node) && untolerated(spec, node).length === 0;

const tolerates = (
  {key, operator = 'Equal', value = '', effect}: Toleration,
  taint: Taint,
): boolean =>
  (effect === undefined || effect === '' || effect === taint.effect) &&
  (operator === 'Exists'
    ? key === undefined || key === '' || key === taint.key
    : key === taint.key && value === (taint.value ?? ''));
