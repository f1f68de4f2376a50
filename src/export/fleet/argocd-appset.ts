import readme from '../../../templates/export/argocd-appset/README.md';
import {CHART_REPOSITORY} from '../../ground/command-line.ts';
import {usageError} from '../../ground/errors.ts';
import type {Values} from '../../ground/tree.ts';
import type {ExportedFile} from '../../host/files.ts';
import {argoPolicies, argoSecrets, IN_CLUSTER, secretSource} from './argocd.ts';
import type {Engine} from './engines.ts';
import {type Fleet, headerOf, type Member, manifest, membersOf, textFile} from './fleet.ts';
import {encryptedFile} from './token.ts';

const ENGINE = 'argocd-appset';
const RING = 'scalr-agent/ring';

const tokenFile = (fleet: Fleet, name: string): string => `secrets/${name}/${encryptedFile(fleet, 'token') ?? ''}`;

/** One ApplicationSet, values per chart version, and a file per cluster. */
function files(fleet: Fleet): ExportedFile[] {
  const {members, bases} = membersOf(fleet, ENGINE);
  return [
    manifest('applicationset.yaml', headerOf(fleet, ENGINE), applicationSet(fleet)),
    ...[...bases].map(([name, {text}]) => textFile(`base/${name}.yaml`, text)),
    ...members.flatMap((member) => [
      textFile(`clusters/${member.name}/config.json`, `${JSON.stringify(config(member), null, 2)}\n`),
      ...argoSecrets(member, fleet),
    ]),
  ];
}

/** JSON has no comments, so the header is a key. */
const config = ({name, ring, release, namespace, target, override, header}: Member): Values => ({
  comment: [...header],
  ...{name, ring, release, namespace, chart: target.chart, version: target.version},
  override,
});

function applicationSet(fleet: Fleet): Values {
  const {git} = fleet;
  if (git === undefined)
    throw usageError('An ApplicationSet reads the files of clusters from Git: set --git-url.', [
      'Add --git-url https://git.example.com/agents.git',
    ]);
  const inRepository = (path: string): string => `${git.path}/${path}`.replace(/^\.\//, '');
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'ApplicationSet',
    metadata: {name: 'scalr-agent', namespace: 'argocd'},
    spec: {
      goTemplate: true,
      goTemplateOptions: ['missingkey=error'],
      // The file of a cluster over the cluster in Argo CD; clusters without a file get no agent.
      generators: [
        {
          merge: {
            mergeKeys: ['name'],
            generators: [
              {clusters: {}},
              {git: {repoURL: git.url, revision: 'HEAD', files: [{path: inRepository('clusters/*/config.json')}]}},
            ],
          },
          selector: {matchExpressions: [{key: 'ring', operator: 'Exists'}]},
        },
      ],
      strategy: {
        type: 'RollingSync',
        rollingSync: {steps: fleet.rings.map((ring) => ({matchExpressions: [{key: RING, operator: 'In', values: [ring]}]}))},
      },
      syncPolicy: {preserveResourcesOnDeletion: true, applicationsSync: 'create-update'},
      template: {
        metadata: {name: '{{.release}}-{{.name}}', labels: {[RING]: '{{.ring}}'}},
        spec: {
          project: 'default',
          sources: [
            {
              ...{repoURL: CHART_REPOSITORY, chart: '{{.chart}}', targetRevision: '{{.version}}'},
              helm: {
                releaseName: '{{.release}}',
                valueFiles: [`$answers/${inRepository('base/{{.chart}}-{{.version}}.yaml')}`],
                values: '{{ get . "override" | default dict | toYaml }}',
              },
            },
            {repoURL: git.url, targetRevision: 'HEAD', ref: 'answers'},
            ...secretSource('{{.name}}', fleet),
          ],
          destination: {server: '{{.server}}', namespace: '{{.namespace}}'},
          ...argoPolicies({release: '{{.release}}', hasClaims: true}, fleet),
        },
      },
    },
  };
}

export const argocdAppset: Engine = {
  readme,
  tokenFile,
  files,
  cluster: IN_CLUSTER,
  tokens: ['existing', 'external-secrets', 'sealed-secrets'],
};
