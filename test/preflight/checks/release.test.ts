import {unknown} from '../../../src/cluster/facts/fact.ts';
import {releaseChecks} from '../../../src/preflight/checks/release.ts';
import type {FakeCluster} from '../../cluster-facts/fake-cluster.ts';
import {ORDINARY} from '../context.ts';
import {prove} from './prove.ts';

const SECRETS = ['secrets', 'secrets of the namespace'];
const CURRENT = 'agenttasktemplates.scalr.io';

const release = (chart: string, name = 'scalr-agent', namespace = 'scalr-agent', status = 'deployed') => ({name, namespace, status, chart});
const withReleases = (...releases: ReturnType<typeof release>[]): FakeCluster => ({...ORDINARY, releases});
const withDefinitions = (definitions: string[], ...releases: ReturnType<typeof release>[]): FakeCluster => ({
  ...withReleases(...releases),
  resources: [...ORDINARY.resources, ...definitions],
});
const hidden: FakeCluster = {...ORDINARY, refuse: SECRETS};
const k8s = {chart: 'agent-k8s', 'data-home': '/var/lib/agents'};
const ofOther = (values: object): FakeCluster => ({
  ...withReleases(release('agent-k8s-0.6.5', 'other', 'there')),
  values: {other: values},
});
const noManifest = {manifest: unknown('failed', 'helm refuses to render the chart')};

prove('release', releaseChecks, [
  {id: 'release-name', is: 'pass', when: 'there is none'},
  {id: 'release-name', is: 'pass', when: 'it is an older one of the chart', cluster: withReleases(release('agent-job-0.6.4'))},
  {id: 'release-name', is: 'fail', when: 'it is something else', cluster: withReleases(release('nginx-1.2.3'))},
  {id: 'release-name', is: 'warn', when: 'it is another chart of Scalr', cluster: withReleases(release('agent-local-0.6.5'))},
  {
    id: 'release-name',
    is: 'warn',
    when: 'helm is at work',
    cluster: withReleases(release('agent-job-0.6.5', 'scalr-agent', 'scalr-agent', 'pending-upgrade')),
  },
  {
    id: 'release-name',
    is: 'pass',
    when: 'the name is taken elsewhere',
    cluster: withReleases(release('nginx-1.2.3', 'scalr-agent', 'other')),
  },
  {id: 'release-name', is: 'skip', when: 'releases are refused', cluster: hidden},

  {id: 'object-names', is: 'pass', when: 'there are no others'},
  {
    id: 'object-names',
    is: 'pass',
    when: 'another agent-job in the namespace has names of its own',
    cluster: withReleases(release('agent-job-0.6.5', 'blue')),
  },
  {
    id: 'object-names',
    is: 'fail',
    when: 'two agent-k8s share a namespace',
    flags: k8s,
    cluster: withReleases(release('agent-k8s-0.6.5', 'blue')),
  },
  {
    id: 'object-names',
    is: 'fail',
    when: 'the same, and nothing is rendered',
    flags: k8s,
    cluster: withReleases(release('agent-k8s-0.6.5', 'blue')),
    but: noManifest,
  },
  {
    id: 'object-names',
    is: 'fail',
    when: 'a former agent-job has the Deployment scalr-agent',
    cluster: withReleases(release('agent-job-0.5.66', 'blue')),
  },
  {
    id: 'object-names',
    is: 'fail',
    when: 'a second release has EFS',
    flags: {chart: 'agent-k8s', cache: 'efs', 'efs-handle': 'fs-0123456789abcdef0'},
    cluster: ofOther({efsVolumeHandle: 'fs-1'}),
  },
  {
    id: 'object-names',
    is: 'fail',
    when: 'releases of one name in two namespaces share a ClusterRole',
    flags: {'chart-version': '0.5.66'},
    cluster: withReleases(release('agent-job-0.5.66', 'scalr-agent', 'other')),
    but: noManifest,
  },
  {id: 'object-names', is: 'skip', when: 'releases are refused', cluster: hidden},
  {
    id: 'object-names',
    is: 'skip',
    when: 'EFS is for one of the cluster, and only the namespace may be read',
    flags: {chart: 'agent-k8s', cache: 'efs', 'efs-handle': 'fs-0123456789abcdef0'},
    cluster: {...ORDINARY, refuse: ['secrets']},
  },

  {id: 'node-data', is: 'nothing', when: 'it is agent-job'},
  {id: 'node-data', is: 'pass', when: 'there is no other', flags: k8s},
  {id: 'node-data', is: 'fail', when: 'another one has it', flags: k8s, cluster: ofOther({agent: {data_home: '/var/lib/agents/'}})},
  {id: 'node-data', is: 'fail', when: 'it lies in that of another one', flags: k8s, cluster: ofOther({agent: {data_home: '/var/lib'}})},
  {id: 'node-data', is: 'pass', when: 'another one has its own', flags: k8s, cluster: ofOther({agent: {data_home: '/var/lib/agents2'}})},
  {
    id: 'node-data',
    is: 'pass',
    when: 'the other runs on other nodes',
    flags: {...k8s, 'node-selector': ['pool=a']},
    cluster: ofOther({agent: {data_home: '/var/lib/agents'}, workerNodeSelector: {pool: 'b'}}),
  },
  {id: 'node-data', is: 'skip', when: 'only the namespace may be read', flags: k8s, cluster: {...ORDINARY, refuse: ['secrets']}},
  {id: 'node-data', is: 'skip', when: 'releases are refused', flags: k8s, cluster: hidden},

  {id: 'definition', is: 'nothing', when: 'it is agent-k8s', flags: k8s},
  {id: 'definition', is: 'pass', when: 'Helm makes it'},
  {id: 'definition', is: 'pass', when: 'the release has it', cluster: withDefinitions([CURRENT], release('agent-job-0.6.5'))},
  {id: 'definition', is: 'fail', when: 'it was deleted', cluster: withReleases(release('agent-job-0.6.5'))},
  {id: 'definition', is: 'pass', when: 'an upgrade brings it', cluster: withReleases(release('agent-job-0.5.67'))},
  {id: 'definition', is: 'warn', when: 'an earlier install left it', cluster: withDefinitions([CURRENT])},
  {
    id: 'definition',
    is: 'warn',
    when: 'it came with another version',
    cluster: withDefinitions([CURRENT], release('agent-job-0.6.1', 'blue', 'b')),
  },
  {
    id: 'definition',
    is: 'pass',
    when: 'it came with the same version',
    cluster: withDefinitions([CURRENT], release('agent-job-0.6.5', 'blue', 'b')),
  },
  {id: 'definition', is: 'skip', when: 'releases are refused', cluster: {...withDefinitions([CURRENT]), refuse: SECRETS}},
  {id: 'definition', is: 'skip', when: 'only the namespace may be read', cluster: {...withDefinitions([CURRENT]), refuse: ['secrets']}},

  {id: 'left-definitions', is: 'pass', when: 'there is none'},
  {id: 'left-definitions', is: 'warn', when: 'two are left', cluster: withDefinitions(['agentworkers.scalr.io', 'atasks.scalr.io'])},
  {
    id: 'left-definitions',
    is: 'pass',
    when: 'an older release needs it',
    cluster: withDefinitions(['atasks.scalr.io'], release('agent-job-0.5.66', 'blue', 'b')),
  },
  {id: 'left-definitions', is: 'skip', when: 'releases are refused', cluster: {...withDefinitions(['atasks.scalr.io']), refuse: SECRETS}},
]);
