import {releaseChecks} from '../../../../src/checks/preflight/checks/release.ts';
import type {PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import type {KubernetesObject} from '../../../../src/cluster/kubernetes/objects.ts';
import {known, unknown} from '../../../../src/ground/fact.ts';
import type {FakeCluster} from '../../../cluster/platform/fake-cluster.ts';
import {writer} from '../../../operations/uninstall-readings.ts';
import {live, ORDINARY} from '../context.ts';
import {prove} from './prove.ts';

const SECRETS = ['secrets', 'secrets of the namespace'];
const CURRENT = 'agenttasktemplates.scalr.io';

const release = (
  chart: string,
  name = 'scalr-agent',
  namespace = 'scalr-agent',
  status = 'deployed',
) => ({name, namespace, status, chart});
const withReleases = (...releases: ReturnType<typeof release>[]): FakeCluster => ({
  ...ORDINARY,
  releases,
});
const withDefinitions = (
  definitions: string[],
  ...releases: ReturnType<typeof release>[]
): FakeCluster => ({
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

const of = (name: string, namespace: string) => ({
  annotations: {'meta.helm.sh/release-name': name, 'meta.helm.sh/release-namespace': namespace},
});
const OWN = of('scalr-agent', 'scalr-agent');
const HELM = {labels: {'app.kubernetes.io/managed-by': 'Helm'}};
/** The Deployment of the chart is in the cluster already. */
const having = (metadata: object) => ({
  live: live({
    objects: new Map([
      [
        'Deployment scalr-agent',
        known(
          {
            apiVersion: 'apps/v1',
            kind: 'Deployment',
            metadata: {name: 'scalr-agent', ...metadata},
            // As the chart has it where helm template brought it.
            spec: metadata === HELM ? {} : {template: {spec: {containers: []}}},
          },
          'deployments.apps/scalr-agent',
        ),
      ],
    ]),
  }),
});
/** The chart and the cluster have a definition. */
const defined = (spec: object, metadata: object = {}): Partial<PreflightContext> => {
  const object = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {name: CURRENT, ...metadata},
  };
  return {
    manifest: known(
      [{...object, spec: {scope: 'Namespaced'}} as KubernetesObject],
      'helm template',
    ),
    live: live({
      objects: new Map([
        [
          `CustomResourceDefinition ${CURRENT}`,
          known({...object, spec} as KubernetesObject, 'crd'),
        ],
      ]),
    }),
  };
};

const VCS = {chart: 'agent-local', purpose: 'vcs'};
const runs = {name: 'runs', namespace: 'other', chart: 'agent-job-0.6.5', status: 'deployed'};

const vcs = {...runs, name: 'vcs', chart: 'agent-local-0.6.5'};
const withVcs = {
  ...ORDINARY,
  releases: [vcs],
  values: {vcs: {podAnnotations: {'scalr.io/purpose': 'vcs'}}},
};

/** Applied by Argo CD, so Helm has no record of it. */
const task = {
  apiVersion: 'scalr.io/v1',
  kind: 'AgentTask',
  metadata: {name: 'scalr-agent-task', namespace: 'argo'},
};
const older = {
  release: 'scalr-agent',
  namespace: 'scalr-agent',
  revision: 1,
  status: 'superseded',
  chart: 'agent-job-0.5.67',
  manifest: '',
};

const worker = {
  ...writer('DaemonSet', 'agent-k8s-worker', '/var/lib/agents/', {metadata: {namespace: 'argo'}}),
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
};

prove('release', releaseChecks, [
  {id: 'release-name', is: 'pass', when: 'there is none'},
  {
    id: 'release-name',
    is: 'pass',
    when: 'it is an older one of the chart',
    cluster: withReleases(release('agent-job-0.6.4')),
  },
  {
    id: 'release-name',
    is: 'fail',
    when: 'it is something else',
    cluster: withReleases(release('nginx-1.2.3')),
  },
  {
    id: 'release-name',
    is: 'warn',
    when: 'it is another chart of Scalr',
    cluster: withReleases(release('agent-local-0.6.5')),
  },
  {
    id: 'release-name',
    is: 'warn',
    when: 'helm is at work',
    cluster: withReleases(
      release('agent-job-0.6.5', 'scalr-agent', 'scalr-agent', 'pending-upgrade'),
    ),
  },
  {
    id: 'release-name',
    is: 'pass',
    when: 'the name is taken elsewhere',
    cluster: withReleases(release('nginx-1.2.3', 'scalr-agent', 'other')),
  },
  {id: 'release-name', is: 'skip', when: 'releases are refused', cluster: hidden},

  {id: 'object-names', is: 'pass', when: 'there are none yet'},
  {id: 'object-names', is: 'pass', when: 'some are of the release', but: having({...OWN, ...HELM})},
  {id: 'object-names', is: 'fail', when: 'one is of nobody', but: having({})},
  {
    id: 'object-names',
    is: 'fail',
    when: 'one is of nobody and Helm 3 takes over its fields',
    but: {
      ...having({}),
      tools: {helm: known('3.18.0', 'helm version'), kubectl: known('1.35.1', 'kubectl version')},
    },
  },
  {id: 'object-names', is: 'fail', when: 'helm template brought it', but: having(HELM)},
  {
    id: 'object-names',
    is: 'fail',
    when: 'one is of a release that is gone',
    but: having({...of('blue', 'scalr-agent'), ...HELM}),
  },
  {
    id: 'object-names',
    is: 'fail',
    when: 'one is of another agent',
    cluster: withReleases(release('agent-job-0.6.5', 'blue', 'b')),
    but: having({...of('blue', 'b'), ...HELM}),
  },
  {
    id: 'object-names',
    is: 'fail',
    when: 'one is of another program installed by Helm',
    cluster: withReleases(release('nginx-1.2.3', 'web')),
    but: having({...of('web', 'scalr-agent'), ...HELM}),
  },
  {
    id: 'object-names',
    is: 'fail',
    when: 'Argo CD keeps one of the release',
    but: having({
      annotations: {
        ...OWN.annotations,
        'argocd.argoproj.io/tracking-id': 'agents:apps/Deployment:x/y',
      },
      ...HELM,
    }),
  },
  {
    id: 'object-names',
    is: 'fail',
    when: 'Flux keeps one',
    but: having({
      labels: {'helm.toolkit.fluxcd.io/name': 'agents', 'helm.toolkit.fluxcd.io/namespace': 'flux'},
    }),
  },
  {
    id: 'object-names',
    is: 'fail',
    when: 'Terraform keeps one',
    but: having({labels: {'app.kubernetes.io/managed-by': 'Terraform'}}),
  },
  {
    id: 'object-names',
    is: 'pass',
    when: 'one of the release lost its labels',
    but: {live: {...having({}).live, installed: new Set(['Deployment scalr-agent'])}},
  },
  {
    id: 'object-names',
    is: 'skip',
    when: 'they cannot be read',
    but: {
      live: live({
        objects: new Map([
          ['Deployment scalr-agent', unknown('forbidden', 'deployments.apps is forbidden')],
        ]),
      }),
    },
  },
  {
    id: 'object-names',
    is: 'fail',
    when: 'one is of a release that may not be read',
    cluster: {...ORDINARY, refuse: ['secrets']},
    but: having({...of('web', 'b'), ...HELM}),
  },
  {id: 'object-names', is: 'skip', when: 'nothing is rendered', but: noManifest},

  {id: 'node-data', is: 'nothing', when: 'it is agent-job'},
  {id: 'node-data', is: 'pass', when: 'there is no other', flags: k8s},
  {
    id: 'node-data',
    is: 'fail',
    when: 'another one has it',
    flags: k8s,
    cluster: ofOther({agent: {data_home: '/var/lib/agents/'}}),
  },
  {
    id: 'node-data',
    is: 'fail',
    when: 'an agent without a Helm release has it',
    flags: k8s,
    cluster: {...ORDINARY, objects: [...ORDINARY.objects, worker]},
  },
  {
    id: 'node-data',
    is: 'fail',
    when: 'it lies in that of another one',
    flags: k8s,
    cluster: ofOther({agent: {data_home: '/var/lib'}}),
  },
  {
    id: 'node-data',
    is: 'pass',
    when: 'another one has its own',
    flags: k8s,
    cluster: ofOther({agent: {data_home: '/var/lib/agents2'}}),
  },
  {
    id: 'node-data',
    is: 'pass',
    when: 'the other runs on other nodes',
    flags: {...k8s, 'node-selector': ['pool=a']},
    cluster: ofOther({agent: {data_home: '/var/lib/agents'}, workerNodeSelector: {pool: 'b'}}),
  },
  {
    id: 'node-data',
    is: 'skip',
    when: 'only the namespace may be read',
    flags: k8s,
    cluster: {...ORDINARY, refuse: ['secrets']},
  },
  {
    id: 'node-data',
    is: 'skip',
    when: 'DaemonSets may not be listed',
    flags: k8s,
    cluster: {...ORDINARY, refuse: ['daemonsets.apps']},
  },
  {id: 'node-data', is: 'skip', when: 'releases are refused', flags: k8s, cluster: hidden},

  {id: 'crd', is: 'nothing', when: 'it is agent-k8s', flags: k8s},
  {id: 'crd', is: 'pass', when: 'Helm makes it'},
  {
    id: 'crd',
    is: 'pass',
    when: 'the release has it',
    cluster: withDefinitions([CURRENT], release('agent-job-0.6.5')),
  },
  {
    id: 'crd',
    is: 'fail',
    when: 'it was deleted',
    cluster: withReleases(release('agent-job-0.6.5')),
  },
  {
    id: 'crd',
    is: 'pass',
    when: 'an upgrade brings it',
    cluster: withReleases(release('agent-job-0.5.67')),
  },
  {id: 'crd', is: 'warn', when: 'an earlier install left it', cluster: withDefinitions([CURRENT])},
  {
    id: 'crd',
    is: 'pass',
    when: 'it is the same',
    cluster: withDefinitions([CURRENT]),
    but: defined({scope: 'Namespaced', more: 1}),
  },
  {
    id: 'crd',
    is: 'warn',
    when: 'Argo CD keeps another one',
    cluster: withDefinitions([CURRENT]),
    but: defined({scope: 'Cluster'}, {annotations: {'argocd.argoproj.io/tracking-id': 'crds:x'}}),
  },
  {
    id: 'crd',
    is: 'warn',
    when: 'it came with several other versions',
    cluster: withDefinitions(
      [CURRENT],
      release('agent-job-0.6.1', 'blue', 'b'),
      release('agent-job-0.6.2', 'red', 'b'),
    ),
  },
  {
    id: 'crd',
    is: 'warn',
    when: 'it came with another version',
    cluster: withDefinitions([CURRENT], release('agent-job-0.6.1', 'blue', 'b')),
  },
  {
    id: 'crd',
    is: 'pass',
    when: 'it came with the same version',
    cluster: withDefinitions([CURRENT], release('agent-job-0.6.5', 'blue', 'b')),
  },
  {
    id: 'crd',
    is: 'skip',
    when: 'releases are refused',
    cluster: {...withDefinitions([CURRENT]), refuse: SECRETS},
  },
  {
    id: 'crd',
    is: 'skip',
    when: 'only the namespace may be read',
    cluster: {...withDefinitions([CURRENT]), refuse: ['secrets']},
  },

  {id: 'leftover-crds', is: 'pass', when: 'there is none'},
  {
    id: 'leftover-crds',
    is: 'warn',
    when: 'two are left',
    cluster: withDefinitions(['agentworkers.scalr.io', 'atasks.scalr.io']),
  },
  {
    id: 'leftover-crds',
    is: 'pass',
    when: 'an older release needs it',
    cluster: withDefinitions(['atasks.scalr.io'], release('agent-job-0.5.66', 'blue', 'b')),
  },
  {
    id: 'leftover-crds',
    is: 'pass',
    when: 'a custom resource without a Helm release uses it',
    cluster: withDefinitions(['atasks.scalr.io']),
    but: {live: live({customResources: known([task], 'custom resources')})},
  },
  {
    id: 'leftover-crds',
    is: 'pass',
    when: 'an older revision of a release needs it',
    cluster: withDefinitions(['atasks.scalr.io'], release('agent-job-0.6.5')),
    but: {live: live({revisions: known([older], 'revisions')})},
  },
  {
    id: 'leftover-crds',
    is: 'warn',
    when: 'only one of two is used',
    cluster: withDefinitions(['agentworkers.scalr.io', 'atasks.scalr.io']),
    but: {live: live({customResources: known([task], 'custom resources')})},
  },
  {
    id: 'leftover-crds',
    is: 'skip',
    when: 'custom resources are refused',
    cluster: withDefinitions(['atasks.scalr.io']),
    but: {live: live({customResources: unknown('forbidden', 'atasks.scalr.io is forbidden')})},
  },
  {
    id: 'leftover-crds',
    is: 'skip',
    when: 'only the namespace may be read',
    cluster: {...withDefinitions(['atasks.scalr.io']), refuse: ['secrets']},
  },
  {
    id: 'leftover-crds',
    is: 'skip',
    when: 'releases are refused',
    cluster: {...withDefinitions(['atasks.scalr.io']), refuse: SECRETS},
  },

  {id: 'agent-version', is: 'nothing', when: 'the image is the one of the chart'},
  {
    id: 'agent-version',
    is: 'pass',
    when: 'the tag is new enough',
    flags: {'agent-image': 'registry.example.com/scalr/agent:1.4.0'},
  },
  {
    id: 'agent-version',
    is: 'warn',
    when: 'the tag is older than 0.45',
    flags: {'agent-image': 'registry.example.com/scalr/agent:0.44.2'},
  },
  {
    id: 'agent-version',
    is: 'skip',
    when: 'the tag is no version',
    flags: {'agent-image': 'registry.example.com/scalr/agent:latest'},
  },
  {id: 'vcs-separate', is: 'nothing', when: 'the pool is for runs'},
  {id: 'vcs-separate', is: 'pass', when: 'there is no other agent', flags: VCS},
  {
    id: 'vcs-separate',
    is: 'warn',
    when: 'there is another agent',
    flags: VCS,
    cluster: {...ORDINARY, releases: [runs]},
  },
  {
    id: 'vcs-separate',
    is: 'pass',
    when: 'the other agent is for VCS too',
    flags: VCS,
    cluster: withVcs,
  },
  {
    id: 'vcs-separate',
    is: 'warn',
    when: 'the pool is for runs, and another agent for VCS',
    cluster: withVcs,
  },
  {
    id: 'vcs-separate',
    is: 'skip',
    when: 'releases cannot be listed',
    flags: VCS,
    cluster: {...ORDINARY, refuse: ['secrets', 'secrets of the namespace']},
  },
]);
