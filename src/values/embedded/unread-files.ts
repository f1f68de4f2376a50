import {helmCommand} from '../../ground/command-line.ts';
import {decryptCommand, encryptionOf} from '../../ground/encryption.ts';
import type {ValuesFile} from '../../settings/chart-values.ts';
import {quote} from '../../settings/settings.ts';
import {chartNamed} from '../validate/agent-files.ts';
import type {UncheckedReason} from '../validate/file-group.ts';

/** Files that only another program can evaluate, by their names and their content. The first match counts. */
interface OtherFormat {
  reason: string;
  /** Signs that valid YAML can contain too; they count where the file is none. */
  isTemplate?: boolean;
  matches(file: string, text: string): boolean;
  command(file: string, chart: string, text: string): string;
}

const toValidate = (command: string): string => `${command} | scalr-agent validate -`;
const directoryOf = (file: string): string => file.replace(/[^/]*$/, '').replace(/\/$/, '') || '.';

/** The directory of the chart that has a template. */
const chartAbove = (file: string): string =>
  directoryOf(file).replace(/\/?templates(?:\/.*)?$/, '') || '.';

/** For everything else: what Helm stores about the installed release. */
const installed = (chart: string): string => {
  const values = ['get', 'values', 'RELEASE', '--namespace', 'NAMESPACE', '--output', 'yaml'];
  return `${toValidate(helmCommand({}, ...values))} --chart ${chart}`;
};

/** `option` selects the directory of the file. A module has no plan of its own. */
function planWith(name: string, option: string, file: string): string {
  const directory = directoryOf(file).replace(/^(.*\/)?modules\/.*/, 'DIRECTORY');
  const tool = directory === '.' ? name : `${name} ${option}${quote(directory)}`;
  return `${tool} plan -out plan.tfplan && ${tool} show -json plan.tfplan | scalr-agent validate -`;
}

const TEMPLATE_SIGNS = /\{\{|\{%/;

const FORMATS: readonly OtherFormat[] = [
  {
    reason: 'a Terraform file can be evaluated only by OpenTofu or Terraform',
    matches: (file, text) =>
      /\.tf(\.json)?$/.test(file) ||
      /^\s*(resource|module)\s+"[^"]+"\s+("[^"]+"\s+)?\{/m.test(text),
    command: (file) => planWith('tofu', '-chdir=', file),
  },
  {
    reason: 'a Terragrunt file can be evaluated only by Terragrunt',
    matches: (file) => /\.hcl$/.test(file),
    command: (file) => planWith('terragrunt', '--working-dir ', file),
  },
  {
    reason: 'a Helmfile with templates can be evaluated only by Helmfile',
    matches: (file, text) =>
      /\.gotmpl$/.test(file) || (/^releases:/m.test(text) && TEMPLATE_SIGNS.test(text)),
    command: (file, chart, text) => {
      const path = file.includes('helmfile') ? ` -f ${quote(file)}` : '';
      const environment = /^environments:/m.test(text) ? ' --environment ENVIRONMENT' : '';
      const name = /\bchart:.*\{\{/.test(text) ? 'CHART' : chart;
      return `helmfile${path}${environment} write-values --output-file-template '{{ .Release.Name }}.yaml' && scalr-agent validate RELEASE.yaml --chart ${name}`;
    },
  },
  {
    reason: 'a Jinja template can be rendered only by the program that uses it',
    isTemplate: true,
    matches: (file, text) => /\.j2$/.test(file) || /\{%-?\s/.test(text),
    command: (file) => `Render ${file} with its variables, and validate the result`,
  },
  {
    reason: 'a template of a Helm chart can be rendered only by Helm',
    isTemplate: true,
    matches: (_, text) =>
      /\{\{-?\s*(?:(?:range|if|with|include|define|end|else|toYaml)\b|\$|\.Values|\.Release|\.Chart)/.test(
        text,
      ),
    command: (file) => `Render the chart in ${quote(chartAbove(file))}, and validate the result`,
  },
  {
    reason: 'a Pulumi program sets the values of the release',
    matches: (_, text) => /@pulumi\/|pulumi_kubernetes/.test(text),
    command: (_, chart) => installed(chart),
  },
  {
    reason: 'a Skaffold file sets the values of the release',
    matches: (_, text) => /^apiVersion: skaffold\//m.test(text),
    command: (_, chart) => installed(chart),
  },
  {
    reason: 'a command in the file sets the values of the release',
    matches: (_, text) => /\bhelm\s+(?:[-\w.= ]+\s)?(?:upgrade|install|template)\b/.test(text),
    command: (_, chart) => installed(chart),
  },
  {
    reason: 'a program sets the values of the release',
    matches: (file, text) =>
      PROGRAM.test(file) && /chart["']?\s*[:=]\s*["'](?:[^\s"']*\/)?agent-\w+["']/i.test(text),
    command: (_, chart) => installed(chart),
  },
];

const PROGRAM = /\.(?:ts|py|sh|nix|jsonnet|libsonnet)$|(?:^|\/)(?:Makefile|Jenkinsfile)$/;

/** The configuration of an agent without Kubernetes, which `migrate` reads as Docker and systemd print it. */
interface MachineFormat {
  reason: string;
  matches: RegExp;
  command: string;
  /** A map, as values are. */
  isMap?: boolean;
}

const MACHINES: readonly MachineFormat[] = [
  {
    reason: 'a systemd unit can refer to other files',
    matches: /^\s*\[Service\]/m,
    command: 'systemctl show UNIT',
  },
  {
    reason: 'a Compose file can refer to other files and variables',
    matches: /^services:/m,
    command: 'docker compose config --format json',
    isMap: true,
  },
  {
    reason: 'a command of Docker can refer to variables of its shell',
    matches: /\b(?:docker|podman)\s+(?:container\s+)?run\b/,
    command: 'docker inspect CONTAINER',
  },
  {
    reason: 'a Dockerfile has only a part of the settings',
    matches: /^FROM\s+\S/m,
    command: 'docker inspect CONTAINER',
  },
  {
    reason: 'an environment file has only a part of the settings',
    matches: /^(?:export\s+)?[A-Z][A-Z0-9_]*=\S*$/m,
    command: 'docker inspect CONTAINER',
  },
];

/** Files of an agent in Docker or on a VM; `isMap` if Helm could read values from it. */
export function whyOfMachine(text: string, isMap: boolean): UncheckedReason | undefined {
  const found = MACHINES.find((each) => each.matches.test(text) && (each.isMap || !isMap));
  return (
    found && {
      reason: found.reason,
      command: `${found.command} | scalr-agent migrate - --to agent-job`,
    }
  );
}

/** Files that only another program can evaluate; `isBroken` if they are no valid YAML. */
export function whyUnread({file, text}: ValuesFile, isBroken = false): UncheckedReason | undefined {
  const chart = chartNamed(text) ?? 'CHART';
  const found = FORMATS.find(
    ({matches, isTemplate}) => (isBroken || !isTemplate) && matches(file, text),
  );
  if (found) return {reason: found.reason, command: found.command(file, chart, text)};
  return isBroken && text.includes('{{') ? TEMPLATE : undefined;
}

const TEMPLATE: UncheckedReason = {
  reason: 'a template can be rendered only by the program that uses it',
  command: 'Render the file with its variables, and validate the result',
};

/** An encrypted file of an agent: nothing in it is known. */
export function whyEncrypted({file, text}: ValuesFile): UncheckedReason | undefined {
  const found = encryptionOf(text);
  return (
    found && {
      reason: `the file is encrypted with ${found.name}`,
      command: toValidate(decryptCommand(found, file)),
    }
  );
}

/** A release without its chart, which other files, a template or a parent chart tell. */
export const whyWithoutChart = (kind: string, text: string): UncheckedReason => ({
  reason: `the ${kind} does not tell its chart; other files complete it`,
  command:
    kind === 'HelmRelease'
      ? toValidate('kustomize build DIRECTORY')
      : installed(chartNamed(text) ?? 'CHART'),
});

/** A release in a form that is not read. */
export const whySelected = (text: string): UncheckedReason => ({
  reason: 'the file has a release in a form that is not read',
  command: installed(chartNamed(text) ?? 'CHART'),
});

/** Objects that Helm rendered. */
export const whyRendered = (chart: string): UncheckedReason => ({
  reason: `these are rendered objects of ${chart}, without its values`,
  command: installed(chart.replace(/-\d.*/, '')),
});

/** Files that are not YAML, or that only their engine can evaluate even where they look like YAML. */
export const isSource = ({file, text}: ValuesFile): boolean =>
  PROGRAM.test(file) ||
  (/\.\w+$/.test(file) &&
    !/\.(ya?ml|json|env|txt|values)$/i.test(file) &&
    whyUnread({file, text}) !== undefined) ||
  /\.tf\.json$/.test(file) ||
  (/^releases:/m.test(text) && text.includes('{{')) ||
  /^\s*resource\s+"helm_release"\s/m.test(text);
