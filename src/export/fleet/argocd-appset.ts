import skeleton from '../../../templates/export/argocd-appset/applicationset.json' with {type: 'json'};
import readme from '../../../templates/export/argocd-appset/README.md';
import template from '../../../templates/export/argocd-appset/template.json' with {type: 'json'};
import {CHART_REPOSITORY} from '../../ground/command-line.ts';
import {usageError} from '../../ground/errors.ts';
import type {Values} from '../../ground/tree.ts';
import type {ExportedFile} from '../../host/files.ts';
import {ARGO_CLUSTER, argoPolicies, argoSecrets, GIT_URL, secretSource, argoTokenFile as tokenFile} from './argocd.ts';
import {type Engine, type Fleet, filled, headerOf, type Member, manifest, membersOf, textFile} from './fleet.ts';

const ENGINE = 'argocd-appset';
const RING = 'scalr-agent/ring';

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

/** Clusters without a file get no agent. */
function applicationSet(fleet: Fleet): Values {
  const {git} = fleet;
  if (git === undefined) throw usageError('An ApplicationSet reads the files of clusters from Git: set --git-url.', [GIT_URL]);
  const words = {url: git.url, directory: git.path === '.' ? '' : `${git.path}/`, repository: CHART_REPOSITORY};
  const {spec, ...head} = filled(skeleton, words);
  const {metadata, source, answers, destination} = filled(template, words);
  const steps = fleet.rings.map((ring) => ({matchExpressions: [{key: RING, operator: 'In', values: [ring]}]}));
  const sources = [source, answers, ...secretSource('{{.name}}', fleet)];
  const policies = argoPolicies({release: '{{.release}}', hasClaims: true}, fleet);
  return {
    ...head,
    spec: {
      ...spec,
      strategy: {type: 'RollingSync', rollingSync: {steps}},
      template: {metadata, spec: {project: 'default', sources, destination, ...policies}},
    },
  };
}

export const argocdAppset: Engine = {
  readme,
  tokenFile,
  files,
  cluster: ARGO_CLUSTER,
  tokens: ['existing', 'external-secrets', 'sealed-secrets'],
};
