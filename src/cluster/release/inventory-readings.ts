import type {Values} from '../../ground/tree.ts';
import type {ListedRelease} from '../helm/release-record.ts';
import type {DefinitionObject, KubernetesObject} from '../kubernetes/objects.ts';
import type {NodeObject} from '../platform/readings.ts';
import type {UserReadings} from './object-users.ts';

/** Responses of the API server and helm. Undefined if this account cannot read them: such objects are neither reported nor deleted. */
export interface InventoryReadings
  extends Omit<UserReadings, 'isDeleted' | 'isUninstalled' | 'releases'> {
  /** The newest revision; undefined if the release no longer exists. */
  state: {chart: string; status: string; revision: number} | undefined;
  /** With the defaults of the chart. */
  values: Values;
  /** Those of them that are not in the cluster, by kind and name. */
  missing?: ReadonlySet<string>;
  namespaceObject: KubernetesObject | undefined;
  /** Of all namespaces. */
  releases: readonly ListedRelease[] | undefined;
  /** Releases of this namespace, if the release does not exist and all namespaces cannot be listed. */
  releasesHere?: readonly ListedRelease[] | undefined;
  volumes: readonly PersistentVolume[] | undefined;
  definitions: readonly DefinitionObject[] | undefined;
  nodes: readonly NodeObject[] | undefined;
  /** Cluster-scoped objects that Helm created for the release; undefined if some kind of them cannot be listed. */
  wide: readonly KubernetesObject[] | undefined;
  /** An uninstall also deletes what Helm has no record of. */
  removesLeftovers?: boolean;
}

export interface PersistentVolume extends KubernetesObject {
  spec?: {
    persistentVolumeReclaimPolicy?: string;
    capacity?: {storage?: string};
    claimRef?: {namespace?: string; name?: string; uid?: string};
  };
}

/** The readings for `objectUsers`: what an uninstall deletes as well is not a user. */
export const userReadings = (readings: InventoryReadings): UserReadings => ({
  ...readings,
  isDeleted: readings.state !== undefined || readings.removesLeftovers === true,
  isUninstalled: readings.state === undefined,
});
