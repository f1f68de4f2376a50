import type {Fact} from '../ground/fact.ts';
import type {Values} from '../ground/tree.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';

/** A Node as the API server has it, as far as facts come from it. */
export interface NodeObject extends KubernetesObject {
  spec?: {
    providerID?: string;
    podCIDR?: string;
    podCIDRs?: readonly string[];
    unschedulable?: boolean;
    taints?: readonly Taint[];
  };
  status?: {
    allocatable?: Readonly<Record<string, string>>;
    nodeInfo?: {architecture?: string; operatingSystem?: string; osImage?: string; kubeletVersion?: string};
    conditions?: readonly {type: string; status: string}[];
  };
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
}

/** A DaemonSet or Deployment. */
export interface PodOwner extends KubernetesObject {
  status?: {desiredNumberScheduled?: number; numberReady?: number};
  spec?: {
    replicas?: number;
    template?: {
      spec?: {
        containers?: readonly {name: string; image?: string; args?: readonly string[]; env?: readonly {name: string; value?: string}[]}[];
      };
    };
  };
}

export interface StorageClassObject extends KubernetesObject {
  provisioner?: string;
  parameters?: Readonly<Record<string, string>>;
  reclaimPolicy?: string;
  volumeBindingMode?: string;
  allowVolumeExpansion?: boolean;
}

export interface ServiceObject extends KubernetesObject {
  spec?: {clusterIP?: string};
}

export interface ConfigMapObject extends KubernetesObject {
  data?: Readonly<Record<string, string>>;
}

/** An object whose spec depends on its kind. */
export interface CustomObject extends KubernetesObject {
  spec?: Readonly<Record<string, unknown>>;
  status?: Readonly<Record<string, unknown>>;
}

/** An item of `helm list --output json`, with its user-supplied values. */
export interface ReleaseReading {
  name: string;
  namespace: string;
  status: string;
  /** Name and version together: agent-job-0.6.5 */
  chart: string;
  values: Fact<Values>;
}

/** Every API server of a supported version has these; one call lists them. */
export const LISTED = {nodes: 'nodes', daemonSets: 'daemonsets.apps', storageClasses: 'storageclasses.storage.k8s.io'} as const;

/** Single objects; one call gets them. The namespace is the one of the install. */
export const NAMED = {
  dnsService: 'services/kube-dns',
  coreDns: 'deployments.apps/coredns',
  kubeDns: 'deployments.apps/kube-dns',
  kubeadmConfig: 'configmaps/kubeadm-config',
  ciliumConfig: 'configmaps/cilium-config',
  autoscalerStatus: 'configmaps/cluster-autoscaler-status',
} as const;

/** Kinds that only some clusters serve; they are listed once the resources are known, for one that is not served fails a whole call. */
export const OPTIONAL = {
  serviceCidrs: 'servicecidrs.networking.k8s.io',
  admissionPolicies: 'validatingadmissionpolicies.admissionregistration.k8s.io',
  kyvernoPolicies: 'clusterpolicies.kyverno.io',
  openshiftNetworks: 'networks.config.openshift.io',
  openshiftVersions: 'clusterversions.config.openshift.io',
  calicoPools: 'ippools.crd.projectcalico.org',
  nodePools: 'nodepools.karpenter.sh',
} as const;

/** What the API server and helm answered, call by call. */
export interface PlatformReadings {
  /** The namespace of the install. */
  namespace: string;
  /** gitVersion of `kubectl version`: v1.34.1-gke.2541000 */
  serverVersion: Fact<string>;
  /** Everything served, as `kubectl api-resources --output name` spells it: daemonsets.apps */
  resources: Fact<readonly string[]>;
  nodes: Fact<readonly NodeObject[]>;
  daemonSets: Fact<readonly PodOwner[]>;
  storageClasses: Fact<readonly StorageClassObject[]>;
  /** The namespace object; undefined if not found. */
  namespaceObject: Fact<KubernetesObject | undefined>;
  dnsService: Fact<ServiceObject | undefined>;
  coreDns: Fact<PodOwner | undefined>;
  kubeDns: Fact<PodOwner | undefined>;
  kubeadmConfig: Fact<ConfigMapObject | undefined>;
  ciliumConfig: Fact<ConfigMapObject | undefined>;
  autoscalerStatus: Fact<ConfigMapObject | undefined>;
  serviceCidrs: Fact<readonly CustomObject[]>;
  admissionPolicies: Fact<readonly CustomObject[]>;
  kyvernoPolicies: Fact<readonly CustomObject[]>;
  openshiftNetworks: Fact<readonly CustomObject[]>;
  openshiftVersions: Fact<readonly CustomObject[]>;
  calicoPools: Fact<readonly CustomObject[]>;
  nodePools: Fact<readonly CustomObject[]>;
  /** clusterDNS of the kubelet of one node. Read on GKE only, to distinguish Cloud DNS from kube-dns. */
  kubeletDns: Fact<readonly string[]>;
  /** Of all namespaces, or where that is refused of the one of the install. */
  releases: Fact<{scope: 'cluster' | 'namespace'; releases: readonly ReleaseReading[]}>;
}
