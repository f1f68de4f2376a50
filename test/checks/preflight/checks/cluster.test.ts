import {clusterChecks} from '../../../../src/checks/preflight/checks/cluster.ts';
import {known, unknown} from '../../../../src/ground/fact.ts';
import {platform} from '../../../cluster/platform/fake-cluster.ts';
import {clusterWith, live, ORDINARY} from '../context.ts';
import {prove} from './prove.ts';

const noManifest = {manifest: unknown('failed', 'helm refuses to render the chart')};
const labels = {'pod-security.kubernetes.io/enforce': 'restricted'};
const restricted = clusterWith(
  [{apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'scalr-agent', labels}}],
  {without: ['Namespace']},
);

prove('cluster', clusterChecks, [
  {id: 'server-version', is: 'pass', when: 'it is 1.35'},
  {
    id: 'server-version',
    is: 'fail',
    when: 'agent-job mounts image volumes',
    cluster: {...ORDINARY, serverVersion: 'v1.34.3-eks-abc'},
  },
  {
    id: 'server-version',
    is: 'pass',
    when: 'the provider adds a suffix',
    cluster: {...ORDINARY, serverVersion: 'v1.35.1-gke.100'},
  },
  {
    id: 'server-version',
    is: 'warn',
    when: 'only the README asks for it',
    flags: {'chart-version': '0.5.68'},
    cluster: {...ORDINARY, serverVersion: 'v1.32.0'},
  },
  {
    id: 'server-version',
    is: 'warn',
    when: 'it is agent-local',
    flags: {chart: 'agent-local'},
    cluster: {...ORDINARY, serverVersion: 'v1.30.0'},
  },
  {
    id: 'server-version',
    is: 'nothing',
    when: 'the version asks for nothing',
    flags: {chart: 'agent-k8s', 'chart-version': '0.5.66'},
  },
  {
    id: 'server-version',
    is: 'skip',
    when: 'the server does not say',
    cluster: {...ORDINARY, serverVersion: ''},
  },

  {id: 'cloud-setting', is: 'pass', when: 'it says aks', flags: {cloud: 'aks'}},
  {id: 'cloud-setting', is: 'warn', when: 'it says eks', flags: {cloud: 'eks'}},
  {
    id: 'cloud-setting',
    is: 'skip',
    when: 'nodes are refused',
    flags: {cloud: 'eks'},
    cluster: {...clusterWith([], {without: ['Node']}), refuse: ['nodes']},
  },

  {id: 'host-path', is: 'nothing', when: 'no pod mounts one'},
  {id: 'host-path', is: 'pass', when: 'it is AKS', flags: {chart: 'agent-k8s'}},
  {
    id: 'host-path',
    is: 'pass',
    when: 'Pod Security forbids it, which has a check of its own',
    flags: {chart: 'agent-k8s'},
    cluster: restricted,
  },
  {
    id: 'host-path',
    is: 'fail',
    when: 'it is Autopilot',
    flags: {chart: 'agent-k8s'},
    cluster: platform('gke-autopilot'),
  },
  {
    id: 'host-path',
    is: 'fail',
    when: 'the cache of agent-job is one',
    flags: {cloud: 'gke', cache: 'hostpath'},
    cluster: platform('gke-autopilot'),
  },
  {
    id: 'host-path',
    is: 'skip',
    when: 'nodes are refused and nothing is rendered',
    flags: {cache: 'hostpath'},
    cluster: {...clusterWith([], {without: ['Node']}), refuse: ['nodes']},
    but: noManifest,
  },

  {id: 'openshift-scc', is: 'nothing', when: 'it is AKS'},
  {id: 'openshift-scc', is: 'fail', when: 'pods fix their user', cluster: platform('openshift')},
  {
    id: 'openshift-scc',
    is: 'pass',
    when: 'an SCC is granted',
    cluster: platform('openshift'),
    but: {live: live({sccs: known(['nonroot-v2'], 'LocalSubjectAccessReview')})},
  },
  {
    id: 'openshift-scc',
    is: 'fail',
    when: 'root needs another SCC than the granted one',
    flags: {chart: 'agent-k8s'},
    cluster: platform('openshift'),
    but: {live: live({sccs: known(['nonroot-v2'], 'LocalSubjectAccessReview')})},
  },
  {
    id: 'openshift-scc',
    is: 'warn',
    when: 'grants cannot be read',
    cluster: platform('openshift'),
    but: {live: live({sccs: unknown('forbidden', 'it is forbidden')})},
  },
  {
    id: 'openshift-scc',
    is: 'fail',
    when: 'they are root',
    flags: {chart: 'agent-k8s'},
    cluster: platform('openshift'),
  },
  {
    id: 'openshift-scc',
    is: 'pass',
    when: 'they do not',
    cluster: platform('openshift'),
    but: {manifest: known([{kind: 'Deployment', metadata: {name: 'a'}}], 'helm template')},
  },
  {
    id: 'openshift-scc',
    is: 'skip',
    when: 'nothing is rendered',
    cluster: platform('openshift'),
    but: noManifest,
  },
]);
