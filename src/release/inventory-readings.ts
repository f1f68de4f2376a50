import type {Values} from '../ground/tree.ts';
import type {ListedRelease} from '../helm/release-record.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';

/** Responses of the API server and helm. Undefined if this account cannot read them: such objects are neither reported nor deleted. */
export interface InventoryReadings {
  release: string;
  namespace: string;
  /** The newest revision; undefined if the release no longer exists. */
  state: {chart: string; status: string; revision: number} | undefined;
  /** With the defaults of the chart. */
  values: Values;
  /** Rendered objects of the newest revision, which an uninstall deletes. */
  manifest: readonly KubernetesObject[];
  /** Those of them that are not in the cluster, by kind and name. */
  missing?: ReadonlySet<string>;
  /** Everything of NAMESPACE_KINDS in the namespace. */
  objects: readonly KubernetesObject[];
  /** Those of them that cannot be listed. */
  unread: readonly string[];
  namespaceObject: KubernetesObject | undefined;
  /** Of all namespaces. */
  releases: readonly ListedRelease[] | undefined;
  /** Releases of this namespace, if the release does not exist and all namespaces cannot be listed. */
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

export interface Node extends KubernetesObject {
  spec?: {taints?: readonly {key: string; value?: string; effect: string}[]};
  status?: {conditions?: readonly {type: string; status: string}[]};
}
