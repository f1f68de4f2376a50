import skeleton from '../../../templates/export/helmfile/helmfile.yaml.gotmpl';
import readme from '../../../templates/export/helmfile/README.md';
import {CHART_REPOSITORY} from '../../ground/command-line.ts';
import type {Values} from '../../ground/tree.ts';
import type {ExportedFile} from '../../host/files.ts';
import {type Engine, type Fleet, fill, type Member, manifest, membersOf, namespaceObject, textFile} from './fleet.ts';
import {encryptedFile, externalSecret} from './token.ts';

const ENGINE = 'helmfile';
const tokenFile = (fleet: Fleet, name: string): string => `secrets/${encryptedFile(fleet, name) ?? ''}`;

/** One environment per file in clusters/, so that a new cluster is a new file. */
function files(fleet: Fleet): ExportedFile[] {
  const {members, bases} = membersOf(fleet, ENGINE);
  return [
    textFile('helmfile.yaml.gotmpl', fill(skeleton, {command: fleet.command, repository: CHART_REPOSITORY})),
    ...[...bases].map(([name, {text}]) => textFile(`base/${name}.yaml`, text)),
    ...members.map((member) => manifest(`clusters/${member.name}.yaml`, member.header, environment(member, fleet))),
  ];
}

const environment = (member: Member, fleet: Fleet): Values => ({
  ...(member.context === undefined ? {} : {kubeContext: member.context}),
  ...{ring: member.ring, release: member.release, namespace: member.namespace},
  ...{chart: member.target.chart, version: member.target.version, timeout: member.timeoutSeconds},
  token: fleet.token,
  objects: [namespaceObject(member, ENGINE), ...(fleet.token === 'external-secrets' ? [externalSecret(member, fleet.store ?? '')] : [])],
  values: member.override,
});

export const helmfile: Engine = {
  readme,
  tokenFile,
  files,
  cluster: 'default',
  start: ['helmfile', 'sync'],
  tokens: ['existing', 'external-secrets', 'sops', 'sealed-secrets'],
};
