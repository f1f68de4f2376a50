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
  /** Only of Deployments. */
  lastUpdateTime?: string;
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
  spec?: {replicas?: number; completions?: number; paused?: boolean};
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
    active?: number;
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
