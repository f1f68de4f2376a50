import agent from '../../../templates/export/terraform/agent.tf';
import cluster from '../../../templates/export/terraform/cluster.tf';
import readme from '../../../templates/export/terraform/README.md';
import token from '../../../templates/export/terraform/token.tf';
import {CHART_REPOSITORY} from '../../ground/command-line.ts';
import type {ExportedFile} from '../../host/files.ts';
import {toYaml} from '../../values/yaml.ts';
import {type Engine, type Fleet, fill, headerOf, type Member, membersOf, textFile} from './fleet.ts';

const ENGINE = 'terraform';

/** Two modules, and a root module per cluster with a state of its own. */
function files(fleet: Fleet): ExportedFile[] {
  const {members, bases} = membersOf(fleet, ENGINE);
  const header = comment(headerOf(fleet, ENGINE));
  return [
    textFile('modules/agent/main.tf', fill(agent, {header, repository: CHART_REPOSITORY})),
    textFile('modules/token/main.tf', fill(token, {header})),
    ...[...bases].map(([name, {text}]) => textFile(`base/${name}.yaml`, text)),
    ...members.map((member) => textFile(`clusters/${member.name}/main.tf`, clusterModule(member))),
  ];
}

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

export const terraform: Engine = {readme, tokenFile: () => '', files, cluster: 'default', tokens: ['existing']};
