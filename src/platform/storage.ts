import {type Fact, follow, known, unknown} from '../ground/fact.ts';
import type {PlatformReadings, StorageClassObject} from './readings.ts';

export interface StorageClass {
  name: string;
  provisioner: string;
  isDefault: boolean;
  /** From the documentation of the provisioner; the object does not contain them. */
  accessModes: Fact<readonly AccessMode[]>;
  /** Immediate or WaitForFirstConsumer */
  bindingMode: string;
  reclaimPolicy: string;
  isExpandable: boolean;
}

export type AccessMode = 'ReadWriteOnce' | 'ReadWriteMany' | 'ReadOnlyMany' | 'ReadWriteOncePod';

const DISK: readonly AccessMode[] = ['ReadWriteOnce', 'ReadWriteOncePod'];
const SHARED: readonly AccessMode[] = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'];

/** File system volumes; several drivers can share raw blocks too, of which the charts make no use. */
const PROVISIONERS: readonly [provisioner: RegExp, modes: readonly AccessMode[]][] = [
  [/^(pd\.csi\.storage\.gke\.io|kubernetes\.io\/gce-pd)$/, [...DISK, 'ReadOnlyMany']],
  [/^filestore\.csi\.storage\.gke\.io$/, SHARED],
  [/^(ebs\.csi\.(eks\.)?amazonaws\.com|kubernetes\.io\/aws-ebs)$/, DISK],
  [/^(efs|fsx)\.csi\.aws\.com$|^fsx\.openzfs\.csi\.aws\.com$/, SHARED],
  [/^(disk\.csi\.azure\.com|kubernetes\.io\/azure-disk)$/, DISK],
  [/^((file|blob)\.csi\.azure\.com|kubernetes\.io\/azure-file)$/, SHARED],
  [/^(rancher\.io\/local-path|k8s\.io\/minikube-hostpath|microk8s\.io\/hostpath|docker\.io\/hostpath)$/, ['ReadWriteOnce']],
  [/(^|\.)rbd\.csi\.ceph\.com$/, DISK],
  [/(^|\.)cephfs\.csi\.ceph\.com$/, SHARED],
  [/^nfs\.csi\.k8s\.io$|nfs-(subdir-external|client)-provisioner$/, SHARED],
  [/^driver\.longhorn\.io$/, SHARED],
  [/^(cinder\.csi\.openstack\.org|kubernetes\.io\/cinder)$/, DISK],
  [/^manila\.csi\.openstack\.org$|^nfs\.manila\.csi\.openstack\.org$/, SHARED],
  [/^(dobs\.csi\.digitalocean\.com|csi\.hetzner\.cloud|linodebs\.csi\.linode\.com|vpc\.block\.csi\.ibm\.io)$/, DISK],
  [/^(blockvolume\.csi\.oraclecloud\.com)$/, DISK],
  [/^fss\.csi\.oraclecloud\.com$/, SHARED],
];

const DEFAULT_MARKS = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

export const storageOf = ({storageClasses}: Pick<PlatformReadings, 'storageClasses'>): Fact<readonly StorageClass[]> =>
  follow(storageClasses, (all, source) => known(all.map(storageClassOf), source));

function storageClassOf({
  metadata,
  provisioner = '',
  volumeBindingMode,
  reclaimPolicy,
  allowVolumeExpansion,
}: StorageClassObject): StorageClass {
  const modes = PROVISIONERS.find(([pattern]) => pattern.test(provisioner))?.[1];
  return {
    name: metadata.name,
    provisioner,
    isDefault: DEFAULT_MARKS.some((key) => metadata.annotations?.[key] === 'true'),
    accessModes: modes
      ? known(modes, `documentation of ${provisioner}`)
      : unknown('undetermined', `access modes of provisioner ${provisioner} are not known`),
    bindingMode: volumeBindingMode ?? 'Immediate',
    reclaimPolicy: reclaimPolicy ?? 'Delete',
    isExpandable: allowVolumeExpansion ?? false,
  };
}
