import {storageChecks} from '../../../../src/checks/preflight/checks/storage.ts';
import type {PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import type {Claim} from '../../../../src/cluster/kubernetes/objects.ts';
import {type Fact, known, unknown} from '../../../../src/ground/fact.ts';
import {claim, clusterWith, node, ORDINARY, storageClass, withNodes} from '../context.ts';
import {prove} from './prove.ts';

const noManifest = {manifest: unknown('failed', 'helm refuses to render the chart')};
const refused = {...ORDINARY, refuse: ['storageclasses.storage.k8s.io']};
const shared = {cache: 'pvc', 'cache-storage-class': 'azurefile-csi'};
const existing = {cache: 'existing-pvc', 'cache-claim': 'mine'};
const efs = {chart: 'agent-k8s', cloud: 'eks', cache: 'efs', 'efs-handle': 'fs-0123456789abcdef0'};
const mine = (fact: Fact<Claim | undefined>, name = 'mine'): Partial<PreflightContext> => ({
  claims: new Map([[name, fact]]),
});
const isThere = (more: Partial<Claim> = {}, name = 'mine'): Partial<PreflightContext> =>
  mine(known(claim(name, more), 'claims'), name);
const forbidden = unknown(
  'forbidden',
  'persistentvolumeclaims is forbidden: User "jane" cannot get resource "persistentvolumeclaims"',
);
const ofRelease = (release: string) => ({
  metadata: {
    name: 'scalr-agent-cache',
    annotations: {
      'meta.helm.sh/release-name': release,
      'meta.helm.sh/release-namespace': 'scalr-agent',
    },
  },
});
const driver = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {namespace: 'kube-system', name: 'efs-csi-node'},
};

prove('storage', storageChecks, [
  {id: 'storage-class', is: 'nothing', when: 'the cache is ephemeral'},
  {
    id: 'storage-class',
    is: 'nothing',
    when: 'the cache is ephemeral and nothing is rendered',
    but: noManifest,
  },
  {id: 'storage-class', is: 'pass', when: 'it is there', flags: shared},
  {
    id: 'storage-class',
    is: 'pass',
    when: 'there is a default one',
    flags: {chart: 'agent-local', cache: 'pvc'},
  },
  {
    id: 'storage-class',
    is: 'fail',
    when: 'it is not there',
    flags: {...shared, 'cache-storage-class': 'fast'},
  },
  {
    id: 'storage-class',
    is: 'fail',
    when: 'none is the default',
    flags: {chart: 'agent-local', cache: 'pvc'},
    cluster: clusterWith([], {without: ['default']}),
  },
  {id: 'storage-class', is: 'nothing', when: 'the chart makes it', flags: efs},
  {
    id: 'storage-class',
    is: 'skip',
    when: 'a prepared volume is required',
    flags: {...shared, 'cache-storage-class': '-'},
  },
  {id: 'storage-class', is: 'skip', when: 'classes are refused', flags: shared, cluster: refused},
  {id: 'storage-class', is: 'skip', when: 'nothing is rendered', flags: shared, but: noManifest},

  {id: 'access-mode', is: 'pass', when: 'the class is shared', flags: shared},
  {
    id: 'access-mode',
    is: 'fail',
    when: 'the class makes disks',
    flags: {...shared, 'cache-storage-class': 'default'},
  },
  {
    id: 'access-mode',
    is: 'fail',
    when: 'no class is shared',
    flags: {cache: 'pvc'},
    cluster: clusterWith([], {without: ['azurefile-csi']}),
  },
  {
    id: 'access-mode',
    is: 'skip',
    when: 'the driver is not known',
    flags: {...shared, 'cache-storage-class': 'odd'},
    cluster: clusterWith([storageClass('odd', 'example.com/odd')]),
  },
  {id: 'access-mode', is: 'skip', when: 'classes are refused', flags: shared, cluster: refused},

  {id: 'pvc-name', is: 'nothing', when: 'the cache is ephemeral'},
  {
    id: 'pvc-name',
    is: 'pass',
    when: 'there is none',
    flags: shared,
    but: mine(known(undefined, 'claims'), 'scalr-agent-cache'),
  },
  {
    id: 'pvc-name',
    is: 'pass',
    when: 'it is its own',
    flags: shared,
    but: isThere(ofRelease('scalr-agent'), 'scalr-agent-cache'),
  },
  {
    id: 'pvc-name',
    is: 'fail',
    when: 'it is of another release',
    flags: shared,
    but: isThere(ofRelease('blue'), 'scalr-agent-cache'),
  },
  {
    id: 'pvc-name',
    is: 'fail',
    when: 'somebody made it',
    flags: shared,
    but: isThere({}, 'scalr-agent-cache'),
  },
  {
    id: 'pvc-name',
    is: 'skip',
    when: 'claims are refused',
    flags: shared,
    but: mine(forbidden, 'scalr-agent-cache'),
  },

  {id: 'pvc', is: 'nothing', when: 'the chart makes it', flags: shared},
  {id: 'pvc', is: 'pass', when: 'it is bound', flags: existing, but: isThere()},
  {
    id: 'pvc',
    is: 'fail',
    when: 'it is not there',
    flags: existing,
    but: mine(known(undefined, 'claims')),
  },
  {
    id: 'pvc',
    is: 'fail',
    when: 'it lost its volume',
    flags: existing,
    but: isThere({status: {phase: 'Lost'}}),
  },
  {
    id: 'pvc',
    is: 'fail',
    when: 'it is being deleted',
    flags: existing,
    but: isThere({metadata: {name: 'mine', deletionTimestamp: '2027-01-01T00:00:00Z'}}),
  },
  {
    id: 'pvc',
    is: 'pass',
    when: 'its volume comes with the first pod',
    flags: existing,
    but: isThere({
      status: {phase: 'Pending'},
      spec: {storageClassName: 'default', accessModes: ['ReadWriteOnce']},
    }),
  },
  {
    id: 'pvc',
    is: 'warn',
    when: 'its volume does not come',
    flags: existing,
    but: isThere({status: {phase: 'Pending'}}),
  },
  {
    id: 'pvc',
    is: 'skip',
    when: 'it waits and classes are refused',
    flags: existing,
    cluster: refused,
    but: isThere({status: {phase: 'Pending'}}),
  },
  {id: 'pvc', is: 'skip', when: 'claims are refused', flags: existing, but: mine(forbidden)},
  {id: 'pvc', is: 'skip', when: 'nobody looked it up', flags: existing},

  {id: 'pvc-access-mode', is: 'pass', when: 'it is shared', flags: existing, but: isThere()},
  {
    id: 'pvc-access-mode',
    is: 'fail',
    when: 'runs mount a disk',
    flags: existing,
    but: isThere({spec: {accessModes: ['ReadWriteOnce']}}),
  },
  {
    id: 'pvc-access-mode',
    is: 'warn',
    when: 'there is one node',
    flags: existing,
    cluster: withNodes(node('one')),
    but: isThere({spec: {accessModes: ['ReadWriteOnce']}}),
  },
  {
    id: 'pvc-access-mode',
    is: 'nothing',
    when: 'one agent has it for itself',
    flags: {...existing, chart: 'agent-local'},
    but: isThere({spec: {accessModes: ['ReadWriteOnce']}}),
  },
  {
    id: 'pvc-access-mode',
    is: 'fail',
    when: 'three agents mount a disk',
    flags: {...existing, chart: 'agent-local', concurrency: '3'},
    but: isThere({spec: {accessModes: ['ReadWriteOnce']}}),
  },
  {
    id: 'pvc-access-mode',
    is: 'skip',
    when: 'claims are refused',
    flags: existing,
    but: mine(forbidden),
  },

  {id: 'efs-driver', is: 'nothing', when: 'there is no EFS', flags: shared},
  {id: 'efs-driver', is: 'pass', when: 'it runs', flags: efs, cluster: clusterWith([driver])},
  {id: 'efs-driver', is: 'fail', when: 'it does not', flags: efs},
  {
    id: 'efs-driver',
    is: 'warn',
    when: 'none of its pods is ready',
    flags: efs,
    cluster: clusterWith([{...driver, status: {numberReady: 0}}]),
  },
  {
    id: 'efs-driver',
    is: 'pass',
    when: 'the StorageClass of the PVC is of EFS',
    flags: {...shared, 'cache-storage-class': 'efs-sc'},
    cluster: clusterWith([storageClass('efs-sc', 'efs.csi.aws.com'), driver]),
  },
  {
    id: 'efs-driver',
    is: 'skip',
    when: 'daemon sets are refused',
    flags: efs,
    cluster: {...ORDINARY, refuse: ['daemonsets.apps']},
  },
]);
