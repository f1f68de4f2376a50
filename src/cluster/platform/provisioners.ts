export type AccessMode = 'ReadWriteOnce' | 'ReadWriteMany' | 'ReadOnlyMany' | 'ReadWriteOncePod';

const LOCAL: readonly AccessMode[] = ['ReadWriteOnce'];
const DISK: readonly AccessMode[] = ['ReadWriteOnce', 'ReadWriteOncePod'];
const READABLE_DISK: readonly AccessMode[] = ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadOnlyMany'];
const SHARED: readonly AccessMode[] = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'];

/** File system volumes; several drivers can share raw blocks too, of which the charts make no use. */
const BY_NAME: Readonly<Record<string, readonly AccessMode[]>> = {
  'ebs.csi.aws.com': DISK,
  // EKS Auto Mode
  'ebs.csi.eks.amazonaws.com': DISK,
  'kubernetes.io/aws-ebs': DISK,
  'efs.csi.aws.com': SHARED,
  'fsx.csi.aws.com': SHARED,
  'fsx.openzfs.csi.aws.com': SHARED,

  'pd.csi.storage.gke.io': READABLE_DISK,
  'kubernetes.io/gce-pd': READABLE_DISK,
  'filestore.csi.storage.gke.io': SHARED,

  'disk.csi.azure.com': DISK,
  'kubernetes.io/azure-disk': DISK,
  'file.csi.azure.com': SHARED,
  'kubernetes.io/azure-file': SHARED,
  'blob.csi.azure.com': SHARED,

  'cinder.csi.openstack.org': DISK,
  'kubernetes.io/cinder': DISK,
  'nfs.manila.csi.openstack.org': SHARED,
  'cephfs.manila.csi.openstack.org': SHARED,

  'blockvolume.csi.oraclecloud.com': DISK,
  'fss.csi.oraclecloud.com': SHARED,
  'vpc.block.csi.ibm.io': DISK,
  'vpc.file.csi.ibm.io': SHARED,
  'dobs.csi.digitalocean.com': DISK,
  'csi.hetzner.cloud': DISK,
  'linodebs.csi.linode.com': DISK,
  'block.csi.vultr.com': DISK,
  'csi.scaleway.com': DISK,
  'diskplugin.csi.alibabacloud.com': DISK,
  'nasplugin.csi.alibabacloud.com': SHARED,

  'driver.longhorn.io': SHARED,
  'nfs.csi.k8s.io': SHARED,
  'rancher.io/local-path': LOCAL,
  'k8s.io/minikube-hostpath': LOCAL,
  'microk8s.io/hostpath': LOCAL,
  'docker.io/hostpath': LOCAL,
};

/** Operators put a name of their own before these: openshift-storage.rbd.csi.ceph.com */
const BY_ENDING: readonly [ending: RegExp, modes: readonly AccessMode[]][] = [
  [/(^|\.)rbd\.csi\.ceph\.com$/, DISK],
  [/(^|\.)cephfs\.csi\.ceph\.com$/, SHARED],
  [/(^|\.)nfs\.csi\.ceph\.com$/, SHARED],
  [/nfs-(subdir-external|client)-provisioner$/, SHARED],
];

/** The access modes that a provisioner documents; undefined for one that is not known. */
export const accessModesOf = (provisioner: string): readonly AccessMode[] | undefined =>
  Object.hasOwn(BY_NAME, provisioner)
    ? BY_NAME[provisioner]
    : BY_ENDING.find(([ending]) => ending.test(provisioner))?.[1];
