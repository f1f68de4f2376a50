import policies from '../../../templates/export/argocd/policies.json' with {type: 'json'};
import readme from '../../../templates/export/argocd/README.md';
import skeleton from '../../../templates/export/argocd-appset/applicationset.json' with {
  type: 'json',
};
import appsetReadme from '../../../templates/export/argocd-appset/README.md';
import template from '../../../templates/export/argocd-appset/template.json' with {type: 'json'};
import {CHART_REPOSITORY, kubectlCommand} from '../../ground/command-line.ts';
import {usageError} from '../../ground/errors.ts';
import type {Values} from '../../ground/tree.ts';
import type {ExportedFile} from '../machine/files.ts';
import type {Engine, Fleet, FleetMember} from './fleet.ts';
import {filled, manifest, namespaceLabels, textFile} from './manifests.ts';
import {encryptedFile, externalSecret} from './token-source.ts';

const RING = 'scalr-agent/ring';

/** @throws ExpectedError without the repository that Argo CD reads */
function gitOf({git}: Fleet, reads: string): NonNullable<Fleet['git']> {
  if (git === undefined)
    throw usageError(`${reads} from Git: set --git-url.`, [
      'Add --git-url https://git.example.com/agents.git',
    ]);
  return git;
}

/** What Argo CD applies before the chart. */
function secretFiles(member: FleetMember, fleet: Fleet): ExportedFile[] {
  if (fleet.token !== 'existing') gitOf(fleet, 'Argo CD reads the Secret of the token');
  if (fleet.token !== 'external-secrets') return [];
  const object = externalSecret(member, fleet, {'argocd.argoproj.io/sync-wave': '-1'});
  return [manifest(`secrets/${member.name}/external-secret.yaml`, member.header, object)];
}

/** The directory with the Secret of the token, which Argo CD applies together with the chart. */
const secretSource = (cluster: string, fleet: Fleet): Values[] =>
  fleet.token === 'existing' || fleet.git === undefined
    ? []
    : [
        {
          repoURL: fleet.git.url,
          targetRevision: 'HEAD',
          path: `${fleet.git.directory}secrets/${cluster}`,
        },
      ];

/** How Argo CD syncs an Application. */
const policiesOf = (release: string, engine: string, {isAutoscaled}: Fleet): Values => ({
  syncPolicy: {
    // The charts cannot annotate PVCs, and answers without a cache would remove the one that was created before.
    automated: {prune: false, selfHeal: true},
    managedNamespaceMetadata: {labels: namespaceLabels(release, engine)},
    ...policies,
  },
  ...(isAutoscaled
    ? {ignoreDifferences: [{group: 'apps', kind: 'Deployment', jsonPointers: ['/spec/replicas']}]}
    : {}),
  revisionHistoryLimit: 5,
});

const shared = {
  tokenFile: (fleet: Fleet, name: string): string =>
    `secrets/${name}/${encryptedFile(fleet, 'token')}`,
  // The cluster that Argo CD runs in.
  cluster: 'in-cluster',
  tokens: ['existing', 'external-secrets', 'sealed-secrets'],
} as const;

/** One Application per cluster. */
export const argocd: Engine = {
  ...shared,
  readme,
  start: (_, {token}) => [
    ...(token === 'existing' ? [] : ['# Commit and push secrets/']),
    '# In the cluster of Argo CD:',
    kubectlCommand({}, 'apply', '--namespace', 'argocd', '--filename', 'applications/'),
  ],
  files: (fleet, {engine, members}) =>
    members.flatMap((member) => [
      manifest(
        `applications/${member.name}.yaml`,
        member.header,
        application(member, engine, fleet),
      ),
      ...secretFiles(member, fleet),
    ]),
};

export const applicationName = ({release, name}: FleetMember): string => `${release}-${name}`;

const application = (member: FleetMember, engine: string, fleet: Fleet): Values => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Application',
  metadata: {
    name: applicationName(member),
    namespace: 'argocd',
    labels: {[RING]: member.ring},
  },
  spec: {
    project: 'default',
    sources: [
      {
        repoURL: CHART_REPOSITORY,
        chart: member.target.chart,
        targetRevision: member.target.version,
        helm: {releaseName: member.release, valuesObject: member.values},
      },
      ...secretSource(member.name, fleet),
    ],
    destination: {name: member.name, namespace: member.namespace},
    ...policiesOf(member.release, engine, fleet),
  },
});

/** One ApplicationSet, values per chart version, and a file per cluster. */
export const argocdAppset: Engine = {
  ...shared,
  readme: appsetReadme,
  start: () => [
    '# Commit and push all files. In the cluster of Argo CD:',
    kubectlCommand({}, 'apply', '--namespace', 'argocd', '--filename', 'applicationset.yaml'),
  ],
  files: (fleet, {engine, header, members, bases}) => [
    manifest('applicationset.yaml', header, applicationSet(engine, fleet)),
    ...bases,
    ...members.flatMap((member) => [
      textFile(
        `clusters/${member.name}/config.json`,
        `${JSON.stringify(config(member), null, 2)}\n`,
      ),
      ...secretFiles(member, fleet),
    ]),
  ],
};

/** JSON has no comments, so the header is a key. */
const config = ({
  name,
  ring,
  release,
  namespace,
  target,
  override,
  header,
}: FleetMember): Values => ({
  comment: [...header],
  name,
  ring,
  release,
  namespace,
  chart: target.chart,
  version: target.version,
  override,
});

/** Clusters without a file get no agent. */
function applicationSet(engine: string, fleet: Fleet): Values {
  const git = gitOf(fleet, 'An ApplicationSet reads the files of clusters');
  const words = {...git, repository: CHART_REPOSITORY};
  const {spec, ...head} = filled(skeleton, words);
  const {metadata, source, answers, destination} = filled(template, words);
  const steps = fleet.rings.map((ring) => ({
    matchExpressions: [{key: RING, operator: 'In', values: [ring]}],
  }));
  const sources = [source, answers, ...secretSource('{{.name}}', fleet)];
  const synced = policiesOf('{{.release}}', engine, fleet);
  return {
    ...head,
    spec: {
      ...spec,
      strategy: {type: 'RollingSync', rollingSync: {steps}},
      template: {metadata, spec: {project: 'default', sources, destination, ...synced}},
    },
  };
}
