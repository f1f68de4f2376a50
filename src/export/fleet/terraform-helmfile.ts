import helmfileSkeleton from '../../../templates/export/helmfile/helmfile.yaml.gotmpl';
import helmfileReadme from '../../../templates/export/helmfile/README.md';
import agent from '../../../templates/export/terraform/agent.tf';
import cluster from '../../../templates/export/terraform/cluster.tf';
import readme from '../../../templates/export/terraform/README.md';
import token from '../../../templates/export/terraform/token.tf';
import {CHART_REPOSITORY} from '../../ground/command-line.ts';
import type {Values} from '../../ground/tree.ts';
import {toYaml} from '../../values/document.ts';
import {type Engine, encryptedFile, externalSecret, type Fleet, fill, type Member, manifest, namespaceObject, textFile} from './fleet.ts';

/** Two modules, and a root module per cluster with a state of its own. */
export const terraform: Engine = {
  readme,
  tokenFile: () => '',
  cluster: 'default',
  tokens: ['existing'],
  files: (_, {header: lines, members, bases}) => {
    const header = comment(lines);
    return [
      textFile('modules/agent/main.tf', fill(agent, {header, repository: CHART_REPOSITORY})),
      textFile('modules/token/main.tf', fill(token, {header})),
      ...bases,
      ...members.map((member) => textFile(`clusters/${member.name}/main.tf`, clusterModule(member))),
    ];
  },
};

const comment = (lines: readonly string[]): string => lines.map((line) => `# ${line}`).join('\n');

const clusterModule = (member: Member): string =>
  fill(cluster, {
    ...{header: comment(member.header), release: member.release, namespace: member.namespace, ring: member.ring},
    ...{secret: member.secret.name, key: member.secret.key},
    ...{chart: member.target.chart, version: member.target.version, timeout: String(member.timeoutSeconds), base: member.base},
    values: Object.keys(member.override).length === 0 ? '' : heredoc(toYaml(member.override, {isPlain: true})),
  });

/** One more item of a list. Terraform would read templates in the text. */
const heredoc = (text: string): string => `\n    <<-YAML\n${indent(text.replaceAll(/[$%](?=\{)/g, '$&$&'))}    YAML\n    ,`;

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '      ');

/** One environment per file in clusters/, so that a new cluster is a new file. */
export const helmfile: Engine = {
  readme: helmfileReadme,
  tokenFile: (fleet, name) => `secrets/${encryptedFile(fleet, name) ?? ''}`,
  cluster: 'default',
  start: ['helmfile', 'sync'],
  tokens: ['existing', 'external-secrets', 'sops', 'sealed-secrets'],
  files: (fleet, {engine, members, bases}) => [
    textFile('helmfile.yaml.gotmpl', fill(helmfileSkeleton, {command: fleet.command, repository: CHART_REPOSITORY})),
    ...bases,
    ...members.map((member) => manifest(`clusters/${member.name}.yaml`, member.header, environment(member, engine, fleet))),
  ],
};

const environment = (member: Member, engine: string, fleet: Fleet): Values => ({
  ...(member.context === undefined ? {} : {kubeContext: member.context}),
  ...{ring: member.ring, release: member.release, namespace: member.namespace},
  ...{chart: member.target.chart, version: member.target.version, timeout: member.timeoutSeconds},
  token: fleet.token,
  objects: [namespaceObject(member, engine), ...(fleet.token === 'external-secrets' ? [externalSecret(member, fleet)] : [])],
  values: member.override,
});
