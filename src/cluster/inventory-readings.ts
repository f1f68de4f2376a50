import type {Values} from '../charts/tree.ts';
import type {KubernetesObject} from './objects.ts';

/** What the API server and helm answer. Undefined is what this operator may not read: then nothing is said of it and nothing of it removed. */
export interface Readings {
  release: string;
  namespace: string;
  /** The newest entry of `helm history`; undefined when there is no such release any more. */
  state: {chart: string; status: string; revision: number} | undefined;
  /** `helm get values --all`, so with the defaults of the chart. */
  values: Values;
  /** The documents of `helm get manifest`: what an uninstall deletes. */
  manifest: readonly KubernetesObject[];
  /** Everything of NAMESPACE_KINDS in the namespace. */
  objects: readonly KubernetesObject[];
  /** Those of them that may not be listed. */
  unread: readonly string[];
  namespaceObject: KubernetesObject | undefined;
  /** Of all namespaces. */
  releases: readonly ListedRelease[] | undefined;
  /** Of this namespace, where there is no such release and those of all namespaces may not be listed. */
  releasesHere?: readonly ListedRelease[] | undefined;
  volumes: readonly PersistentVolume[] | undefined;
  definitions: readonly KubernetesObject[] | undefined;
  /** Instances of the definitions, of all namespaces. */
  customResources: readonly KubernetesObject[] | undefined;
  /** Of all namespaces. */
  daemonSets: readonly KubernetesObject[] | undefined;
  nodes: readonly Node[] | undefined;
}

export interface PersistentVolume extends KubernetesObject {
  metadata: KubernetesObject['metadata'] & {resourceVersion?: string};
  spec?: {
    persistentVolumeReclaimPolicy?: string;
    capacity?: {storage?: string};
    claimRef?: {namespace?: string; name?: string; uid?: string};
  };
}

/** A line of `helm list --output json`. */
export interface ListedRelease {
  name: string;
  namespace: string;
  status: string;
  chart: string;
}

export interface Node extends KubernetesObject {
  spec?: {taints?: readonly {key: string; value?: string; effect: string}[]};
  status?: {conditions?: readonly {type: string; status: string}[]};
}
