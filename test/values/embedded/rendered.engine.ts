import {writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {execa} from 'execa';
import {expect, type TestContext, test} from 'vitest';
import type {FindingDocument} from '../../../src/ui/findings.ts';
import {findHelm} from '../../cluster/helm/find-helm.ts';
import {buildBeforeTests, builtTool} from '../../engines/tools.ts';
import {chartRepository} from '../../recipes/chart-repository.ts';
import {BUILT, workshop} from '../../recipes/workshop.ts';

const LOCAL = {chart: 'agent-local', version: '0.6.5'} as const;
const [{path: helm} = {path: 'helm'}] = await findHelm();

/** A directory whose PATH has the engine and this program, as a user has them. */
async function enginePlace(files: Record<string, string>, tools: Record<string, string> = {}) {
  const shop = await workshop({...BUILT, ...tools}, helm);
  for (const [name, text] of Object.entries(files)) shop.write(name, text);
  const env = {
    ...shop.env,
    ...Object.fromEntries(
      ['CACHE', 'CONFIG', 'DATA'].map((name) => [`HELM_${name}_HOME`, join(shop.folder, name)]),
    ),
  };
  /** Findings of a command that ends with validate. */
  const found = async (command: string): Promise<FindingDocument[]> => {
    const options = {cwd: shop.cwd, env, reject: false};
    const {stdout, stderr} = await execa('sh', ['-c', `set -e; ${command} --json`], options);
    const start = stdout.search(/\{\n {2}"schemaVersion"/);
    if (start < 0) throw new Error(`${command}: ${stderr}${stdout}`);
    const report = JSON.parse(stdout.slice(start)) as {
      findings?: FindingDocument[];
      files?: {findings: FindingDocument[]}[];
    };
    return (report.files ?? [report]).flatMap(({findings = []}) => findings);
  };
  /** The command that validate prints for a file that only the engine can evaluate. */
  const commandFor = async (file: string): Promise<string> => {
    const [finding] = await found(`scalr-agent validate ${file}`);
    expect(finding?.code).toBe('UNCHECKED_FILE');
    return finding?.suggestion ?? '';
  };
  return {...shop, env, found, commandFor};
}

const codes = (findings: readonly FindingDocument[]): string[] =>
  findings.map(({code, path}) => `${code} ${path}`).toSorted();

const script = (program: string): string => `exec '${program}' "$@"`;

/** Kustomize as kubectl has it. */
const KUSTOMIZE = {
  kustomize: 'command=$1; shift; [ "$command" = build ] && exec kubectl kustomize "$@"',
};

buildBeforeTests('flux', 'helmfile', 'tofu', 'terraform-provider-helm');

const release = (values: string): string => `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: scalr-agent, namespace: agents}
spec:
  chart: {spec: {chart: agent-local, version: 0.6.5, sourceRef: {kind: HelmRepository, name: scalr}}}
  values:
${values}`;
const VALUES =
  '    agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: token}}\n    replicas: 2\n';

test('kustomize build completes a HelmRelease that is a patch', async () => {
  const patch =
    'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: scalr-agent, namespace: agents}\nspec: {values: {replicaCont: 3}}\n';
  const {found, commandFor} = await enginePlace(
    {
      'release.yaml': release(VALUES),
      'patch.yaml': patch,
      'kustomization.yaml': 'resources: [release.yaml]\npatches: [{path: patch.yaml}]\n',
    },
    KUSTOMIZE,
  );
  const command = await commandFor('patch.yaml');
  expect(codes(await found(command.replace('DIRECTORY', '.')))).toEqual([
    'UNKNOWN_KEY replicaCont',
    'UNKNOWN_KEY replicas',
  ]);
  expect(codes(await found('scalr-agent validate release.yaml'))).toEqual(['UNKNOWN_KEY replicas']);
});

test('a file without templates says the same before and after kustomize build', async () => {
  const base = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base, namespace: agents}\ndata:\n  values.yaml: |\n    podAnotations: {team: a}\n---\n`;
  const text =
    base +
    release(VALUES).replace(
      '  values:',
      '  valuesFrom: [{kind: ConfigMap, name: base}]\n  values:',
    );
  const {found} = await enginePlace(
    {'all.yaml': text, 'kustomization.yaml': 'namePrefix: ""\nresources: [all.yaml]\n'},
    KUSTOMIZE,
  );
  const expected = ['UNKNOWN_KEY podAnotations', 'UNKNOWN_KEY replicas'];
  expect(codes(await found('scalr-agent validate all.yaml'))).toEqual(expected);
  expect(codes(await found('kustomize build . | scalr-agent validate -'))).toEqual(expected);
});

test('flux build kustomization replaces variables and merges patches', async (context) => {
  const flux = await builtTool('flux', context);
  const place = await enginePlace(
    {
      'release.yaml': release(VALUES)
        .replace('acme', `$\{ACCOUNT}`)
        .replace('version: 0.6.5', `version: "$\{CHART:=0.6.5}"`),
      'patch.yaml':
        'kind: HelmRelease\napiVersion: helm.toolkit.fluxcd.io/v2\nmetadata: {name: scalr-agent, namespace: agents}\nspec: {values: {replicaCont: 3}}\n',
      'kustomization.yaml': 'resources: [release.yaml]\npatches: [{path: patch.yaml}]\n',
      'agents.yaml': `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: agents, namespace: flux-system}
spec:
  path: ./
  prune: true
  interval: 10m
  sourceRef: {kind: GitRepository, name: fleet}
  postBuild: {substitute: {ACCOUNT: acme.example}}
`,
    },
    {flux: script(flux)},
  );
  const file = await place.found('scalr-agent validate release.yaml');
  expect(codes(file)).toEqual(['UNCHECKED_VALUE agent.url', 'UNKNOWN_KEY replicas']);
  const command = file.find(({code}) => code === 'UNCHECKED_VALUE')?.suggestion ?? '';
  const filled = command
    .replace('NAME', 'agents')
    .replace('DIRECTORY', '.')
    .replace('FILE', 'agents.yaml');
  // Every value is known now, and the key of the patch too.
  expect(codes(await place.found(filled))).toEqual([
    'UNKNOWN_KEY replicaCont',
    'UNKNOWN_KEY replicas',
  ]);
});

/** Helmfile evaluates templates, files and layers. */
async function helmfilePlace(context: Pick<TestContext, 'skip'>, files: Record<string, string>) {
  const helmfile = await builtTool('helmfile', context);
  const place = await enginePlace({}, {helmfile: script(helmfile)});
  const repository = await chartRepository(helm, LOCAL, place.folder);
  for (const [name, text] of Object.entries(files))
    place.write(name, text.replace('REPOSITORY', repository));
  return place;
}

const RELEASES = `repositories: [{name: scalr, url: REPOSITORY}]
releases:
  - name: scalr-agent
    namespace: agents
    chart: scalr/agent-local
    version: 0.6.5
    values: [common.yaml, ENGINE]
`;
const COMMON = 'agent: {url: "https://acme.scalr.io"}\nreplicas: 2\n';
const TOKEN = 'agent: {tokenExistingSecret: {name: token}}';

test('helmfile write-values prints the values of a Helmfile with templates', async (context) => {
  const {found, commandFor} = await helmfilePlace(context, {
    'helmfile.yaml.gotmpl': RELEASES.replace(
      'ENGINE',
      `values.yaml.gotmpl{{ if true }}, {podAnotations: {team: {{ .Environment.Name }}}}{{ end }}`,
    ),
    'common.yaml': COMMON,
    'values.yaml.gotmpl':
      '{{ if true }}\nagent: {tokenExistingSecret: {nmae: {{ .Release.Name }}}}\n{{ end }}\n',
  });
  const command = await commandFor('helmfile.yaml.gotmpl');
  expect(codes(await found(command.replace('RELEASE.yaml', 'scalr-agent.yaml')))).toEqual([
    'NO_TOKEN agent.token',
    'UNKNOWN_KEY agent.tokenExistingSecret.nmae',
    'UNKNOWN_KEY podAnotations',
    'UNKNOWN_KEY replicas',
  ]);
});

test('a Helmfile without templates says the same before and after write-values', async (context) => {
  const {found} = await helmfilePlace(context, {
    'helmfile.yaml': RELEASES.replace('ENGINE', `{${TOKEN}, podAnotations: {team: a}}`),
    'common.yaml': COMMON,
  });
  const expected = ['UNKNOWN_KEY podAnotations', 'UNKNOWN_KEY replicas'];
  expect(codes(await found('scalr-agent validate helmfile.yaml'))).toEqual(expected);
  const command = `helmfile write-values --output-file-template '{{ .Release.Name }}.yaml' && scalr-agent validate scalr-agent.yaml --chart agent-local`;
  expect(codes(await found(command))).toEqual(expected);
});

test('tofu show -json prints what a plan knows, and what only the apply will', async (context) => {
  const tofu = await builtTool('tofu', context);
  const provider = await builtTool('terraform-provider-helm', context);
  const place = await enginePlace({}, {tofu: script(tofu)});
  const repository = await chartRepository(helm, LOCAL, place.folder);
  const resource = (name: string, body: string): string =>
    `resource "helm_release" "${name}" {\n  name       = "${name}"\n  repository = "${repository}"\n  chart      = "agent-local"\n  version    = "0.6.5"\n${body}}\n`;
  place.write('common.yaml', COMMON);
  place.write(
    'main.tf',
    [
      'variable "annotations" {\n  default = { team = "a" }\n}\nresource "terraform_data" "later" {}\n',
      resource(
        'known',
        '  values = [file("common.yaml"), yamlencode({ podAnotations = var.annotations })]\n  set {\n    name  = "agent.tokenExistingSecret.name"\n    value = "token"\n  }\n  set {\n    name  = "resources.limits.cpuu"\n    value = "2"\n  }\n',
      ),
      resource(
        'later',
        '  values = ["agent: {url: https://acme.scalr.io}", yamlencode({ extraEnv = { ID = terraform_data.later.id } })]\n  set {\n    name  = "agent.tokn"\n    value = terraform_data.later.id\n  }\n',
      ),
    ].join(''),
  );
  const config = join(place.folder, 'tofurc');
  writeFileSync(
    config,
    `provider_installation {\n  dev_overrides {\n    "hashicorp/helm" = "${dirname(provider)}"\n  }\n  direct {}\n}\n`,
  );
  Object.assign(place.env, {TF_CLI_CONFIG_FILE: config, TF_IN_AUTOMATION: '1'});
  const findings = await place.found(await place.commandFor('main.tf'));
  const texts = findings.map(({code, path, message}) => `${message.split(':')[0]} ${code} ${path}`);
  expect(texts.toSorted()).toEqual([
    'helm_release.known UNKNOWN_KEY podAnotations',
    'helm_release.known UNKNOWN_KEY replicas',
    'helm_release.known UNKNOWN_KEY resources.limits.cpuu',
    'helm_release.later UNKNOWN_KEY agent.tokn',
  ]);
});
