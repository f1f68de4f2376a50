import {getAt, type Tree} from '../../../charts/tree.ts';
import type {KubernetesObject} from '../../../cluster/objects.ts';
import {type Check, fail, pass} from '../../check.ts';
import {ifKnown} from '../outcomes.ts';
import {withManifest} from './claims.ts';

const EFS = 'efs.csi.aws.com';

const isOfEfs = (object: KubernetesObject): boolean =>
  getAt(object as unknown as Tree, ['spec', 'csi', 'driver']) === EFS || (object as {provisioner?: string}).provisioner === EFS;

export const efsDriver: Check = {
  id: 'efs-driver',
  group: 'Storage',
  title: 'the driver for EFS runs on the nodes',
  ref: 'https://docs.aws.amazon.com/eks/latest/userguide/efs-csi.html',
  test: (situation) =>
    withManifest(situation, (objects) => {
      if (!objects.some(isOfEfs)) return undefined;
      return ifKnown(situation.readings.daemonSets, 'DaemonSets are', (sets) => {
        const found = sets.find(({metadata}) => metadata.name.includes('efs-csi'));
        return found
          ? pass(`DaemonSet ${found.metadata.name} in ${found.metadata.namespace}`)
          : fail(
              'No DaemonSet of the EFS CSI driver runs here, so pods wait for their volume for good',
              'Install the add-on: aws eks create-addon --addon-name aws-efs-csi-driver --cluster-name CLUSTER',
            );
      });
    }),
};
