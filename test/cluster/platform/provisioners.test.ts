import {expect, test} from 'vitest';
import {accessModesOf} from '../../../src/cluster/platform/provisioners.ts';

const isShared = (provisioner: string): boolean | undefined =>
  accessModesOf(provisioner)?.includes('ReadWriteMany');

test.each([
  'ebs.csi.aws.com',
  'ebs.csi.eks.amazonaws.com',
  'kubernetes.io/aws-ebs',
  'disk.csi.azure.com',
  'kubernetes.io/azure-disk',
  'pd.csi.storage.gke.io',
  'kubernetes.io/gce-pd',
  'cinder.csi.openstack.org',
  'rancher.io/local-path',
  'rbd.csi.ceph.com',
  'openshift-storage.rbd.csi.ceph.com',
  'rook-ceph.rbd.csi.ceph.com',
])('%s makes volumes for one node', (provisioner) => {
  expect(isShared(provisioner)).toBe(false);
  expect(accessModesOf(provisioner)).toContain('ReadWriteOnce');
});

test.each([
  'efs.csi.aws.com',
  'fsx.csi.aws.com',
  'file.csi.azure.com',
  'kubernetes.io/azure-file',
  'filestore.csi.storage.gke.io',
  'openshift-storage.cephfs.csi.ceph.com',
  'openshift-storage.nfs.csi.ceph.com',
  'cephfs.manila.csi.openstack.org',
  'nfs.manila.csi.openstack.org',
  'driver.longhorn.io',
  'nfs.csi.k8s.io',
  'cluster.local/nfs-subdir-external-provisioner',
])('%s makes volumes for all nodes', (provisioner) => {
  expect(isShared(provisioner)).toBe(true);
});

test.each([
  // It does not exist, but manifests name it.
  'ebs.csi.amazonaws.com',
  // These depend on how the storage is set up.
  'csi.vsphere.vmware.com',
  'csi.trident.netapp.io',
  'pxd.portworx.com',
  'kubernetes.io/no-provisioner',
  'my-ebs.csi.aws.com',
  'constructor',
  '',
])('nothing is known about "%s"', (provisioner) => {
  expect(accessModesOf(provisioner)).toBeUndefined();
});
