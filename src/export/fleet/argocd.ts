import policies from '../../../templates/export/argocd/policies.json' with {type: 'json'};
import readme from '../../../templates/export/argocd/README.md';
import {CHART_REPOSITORY} from '../../ground/command-line.ts';
import {usageError} from '../../ground/errors.ts';
import type {Values} from '../../ground/tree.ts';
import type {ExportedFile} from '../../host/files.ts';
import {type Engine, type Fleet, type Member, manifest, membersOf, namespaceLabels} from './fleet.ts';
import {encryptedFile, externalSecret} from './token.ts';

const ENGINE = 'argocd';
/** The cluster that Argo CD runs in. */
export const ARGO_CLUSTER = 'in-cluster';

export const argoTokenFile = (fleet: Fleet, name: string): string => `secrets/${name}/${encryptedFile(fleet, 'token') ?? ''}`;

/** One Application per cluster. */
function files(fleet: Fleet): ExportedFile[] {
  return membersOf(fleet, ENGINE).members.flatMap((member) => [
    manifest(`applications/${member.name}.yaml`, member.header, application(member, fleet)),
    ...argoSecrets(member, fleet),
  ]);
}

export const GIT_URL = 'Add --git-url https://git.example.com/agents.git';

/** What Argo CD applies before the chart. */
export function argoSecrets(member: Member, fleet: Fleet): ExportedFile[] {
  if (fleet.token === 'existing') return [];
  if (fleet.git === undefined) throw usageError('Argo CD reads the Secret of the token from Git: set --git-url.', [GIT_URL]);
  if (fleet.token !== 'external-secrets') return [];
  const object = externalSecret(member, fleet.store ?? '', {'argocd.argoproj.io/sync-wave': '-1'});
  return [manifest(`secrets/${member.name}/external-secret.yaml`, member.header, object)];
}

const application = (member: Member, fleet: Fleet): Values => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Application',
  metadata: {
    name: fleet.isOverlay ? `${member.release}-${member.name}` : member.release,
    namespace: 'argocd',
    labels: {'scalr-agent/ring': member.ring},
  },
  spec: {
    project: 'default',
    sources: [
      {
        ...{repoURL: CHART_REPOSITORY, chart: member.target.chart, targetRevision: member.target.version},
        helm: {releaseName: member.release, valuesObject: member.values},
      },
      ...secretSource(member.name, fleet),
    ],
    destination: {name: member.name, namespace: member.namespace},
    ...argoPolicies(member, fleet),
  },
});

/** The directory with the Secret of the token, which Argo CD applies together with the chart. */
export const secretSource = (cluster: string, {token, git}: Fleet): Values[] =>
  token === 'existing' || git === undefined
    ? []
    : [{repoURL: git.url, targetRevision: 'HEAD', path: `${git.path}/secrets/${cluster}`.replace(/^\.\//, '')}];

/** How Argo CD syncs an Application. */
export const argoPolicies = ({release, hasClaims}: Pick<Member, 'release' | 'hasClaims'>, {isAutoscaled}: Fleet): Values => ({
  syncPolicy: {
    // The charts cannot annotate PVCs, so nothing is pruned while the chart creates some.
    automated: {prune: !hasClaims, selfHeal: true},
    managedNamespaceMetadata: {labels: namespaceLabels(release, ENGINE)},
    ...policies,
  },
  ...(isAutoscaled ? {ignoreDifferences: [{group: 'apps', kind: 'Deployment', jsonPointers: ['/spec/replicas']}]} : {}),
  revisionHistoryLimit: 5,
});

export const argocd: Engine = {
  readme,
  tokenFile: argoTokenFile,
  files,
  cluster: ARGO_CLUSTER,
  tokens: ['existing', 'external-secrets', 'sealed-secrets'],
};
