import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {readValuesTexts} from '../../../src/cli/values-files.ts';
import Validate from '../../../src/commands/validate.ts';
import type {FindingDocument} from '../../../src/ui/findings.ts';
import {readFiles} from '../../../src/values/embedded/read-files.ts';
import {readLayers} from '../../../src/values/reading/source.ts';
import {memoryFiles} from '../../support/memory-files.ts';
import {runCommand} from '../../support/run-command.ts';
import {ARGO, ARGO_OBJECT, FLUX, HELMFILE, K3S} from '../migrate/examples.ts';

const TOKEN = 'eyJhbGciOiJub25lIn0.eyJqdGkiOiJ4In0.c2lnbmF0dXJl';
const VALUES = 'agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}';

const flux = (chart: string, version: string, more = '', name = 'a') =>
  `kind: HelmRelease\nmetadata: {name: ${name}, namespace: agents}\nspec:\n  chart: {spec: {chart: ${chart}, version: ${version}}}\n${more}  values:\n    ${VALUES}\n`;
const argo = (chart: string, more = '') =>
  `kind: Application\nspec:\n  source:\n    repoURL: https://scalr.github.io/agent-helm/\n    chart: ${chart}\n    targetRevision: 0.6.5\n    helm:\n      releaseName: a\n      valuesObject:\n        ${VALUES}\n${more}`;
const AUTOSCALER = '---\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\n';

/** What validate finds, with the text at each position. */
async function found(files: Record<string, string>, ...argv: string[]) {
  const names = argv.length > 0 ? argv : [Object.keys(files)[0] as string];
  const {stdout} = await runCommand(Validate, [...names, '--json'], {files: memoryFiles(files)});
  const document = JSON.parse(stdout);
  const all = document.files ?? [document];
  return all.flatMap(({file = names[0], findings = []}) =>
    findings.map((at: FindingDocument) => {
      const line = files[at.file ?? (file as string)]?.split('\n')[(at.line ?? 0) - 1] ?? '';
      return `${at.code} ${/^[\w.:/"*>=]+/.exec(line.slice((at.column ?? 1) - 1))?.[0] ?? ''}`;
    }),
  );
}

test('an answers file is named as one', async () => {
  const text = 'url: https://acme.scalr.io\nchart: agent-local\nconcurrency: 2\n';
  const {stdout, exit} = await runCommand(Validate, ['mine.yaml'], {
    files: memoryFiles({'mine.yaml': text}),
  });
  expect(stdout).toContain('It is an answers file');
  expect(stdout).toContain('scalr-agent values --answers mine.yaml');
  expect(exit).toBe(2);
});

test.each([
  ['url: https://acme.scalr.io\nchart: agent-local\n', ['UNCHECKED_FILE']],
  ['url: https://acme.scalr.io\nconcurrency: 2\n', []],
])('an answers file in a directory is named if it names a chart: %j', async (text, codes) => {
  const [groups] = await readFiles(
    [{file: 'd/a.yaml', text, isFound: true}],
    async () => undefined,
  );
  expect(groups?.flatMap(({around = []}) => around.map(({code}) => code))).toEqual(codes);
});

describe('findings point to the line of the file', () => {
  test.each([
    [
      'an Argo CD Application with a text',
      ARGO.replace('debug', 'debug').replace('url:', 'urll:'),
      'UNKNOWN_KEY urll:',
    ],
    ['an ApplicationSet with an object', ARGO_OBJECT.replace('url:', 'urll:'), 'UNKNOWN_KEY urll:'],
    ['a HelmRelease', FLUX.replace('log_format', 'log_formt'), 'UNKNOWN_KEY log_formt:'],
    [
      'a Helmfile',
      HELMFILE.replaceAll('url: "https://acme', 'urll: "https://acme'),
      'UNKNOWN_KEY urll:',
    ],
    ['a HelmChart of K3s', K3S.replace('url:', 'urll:'), 'UNKNOWN_KEY urll:'],
    ['a flow mapping', flux('agent-local', '0.6.5').replace('url:', 'urll:'), 'UNKNOWN_KEY urll:'],
  ])('of %s', async (_, text, expected) => {
    expect(await found({'file.yaml': text})).toContain(expected);
  });

  test('of each values file that the release names', async () => {
    const files = {
      'd/helmfile.yaml': `releases:\n  - name: a\n    chart: scalr/agent-local\n    version: 0.6.5\n    values:\n      - clusters/eu.yaml\n      - replicaCount: -1\n`,
      'd/clusters/eu.yaml': VALUES.replace('url', 'urll'),
    };
    expect(await found(files)).toEqual(['UNKNOWN_KEY urll:', 'WRONG_VALUE replicaCount:']);
  });
});

describe('a file that only its engine can evaluate', () => {
  const RESOURCE = 'resource "helm_release" "a" {\n  chart = "scalr/agent-local"\n}\n';
  test.each([
    ['main.tf', RESOURCE, 'tofu show -json plan.tfplan | scalr-agent validate -'],
    ['helmfile.yaml.gotmpl', HELMFILE, 'write-values'],
    [
      'helmfile.yaml',
      `{{ if .a }}\n${HELMFILE}{{ end }}\n`,
      'helmfile -f helmfile.yaml write-values',
    ],
  ])('%s is not checked, and others are', async (name, text, command) => {
    const files = memoryFiles({[name]: text, 'values.yaml': VALUES.replace('url', 'urll')});
    const {exit, stdout} = await runCommand(
      Validate,
      ['values.yaml', name, '--chart', 'agent-local'],
      {files},
    );
    expect(exit).toBe(3);
    expect(stdout).toContain('UNKNOWN_KEY');
    expect(stdout).toContain(`${name} not checked: `);
    expect(stdout).toContain(command);
    expect(stdout).toContain(
      '2 files (1 checked, 1 not checked): 1 error, 0 warnings, not checked',
    );
    expect((await runCommand(Validate, [name], {files})).exit).toBe(2);
  });
});

describe('findings for fleets', () => {
  test.each([
    ['a version range of Flux', flux('agent-local', '"0.6.*"'), ['VERSION_RANGE version:']],
    ['no policy for definitions', flux('agent-job', '0.6.5'), ['NO_CRD_POLICY version:']],
    [
      'skipped definitions',
      argo('agent-job').replace('releaseName: a', 'skipCrds: true'),
      ['NO_CRD_POLICY targetRevision:'],
    ],
    [
      'an autoscaler and drift detection',
      flux('agent-local', '0.6.5', '  driftDetection: {mode: enabled}\n') + AUTOSCALER,
      ['REPLICAS_REVERTED version:'],
    ],
    [
      'an autoscaler and Argo CD',
      argo('agent-local') + AUTOSCALER,
      ['REPLICAS_REVERTED targetRevision:'],
    ],
    [
      'an OCI address',
      argo('agent-local').replace('https://scalr', 'oci://scalr'),
      ['OCI_REPOSITORY oci://scalr.github.io/agent'],
    ],
    [
      'an address without a scheme',
      argo('agent-local').replace('https://scalr', 'scalr'),
      ['OCI_REPOSITORY scalr.github.io/agent'],
    ],
    [
      'a token',
      `${argo('agent-local')}---\nkind: Secret\nstringData: {token: ${TOKEN}}\n`,
      [expect.stringMatching(/^TOKEN_IN_FILE eyJ/)],
    ],
    [
      'two releases with the same names',
      `${flux('agent-k8s', '0.6.5')}---\n${flux('agent-k8s', '0.6.5', '', 'b')}`.replaceAll(
        '{name: t}',
        't',
      ),
      ['SEVERAL_RELEASES version:'],
    ],
  ])('%s', async (_, text, expected) => {
    expect(await found({'file.yaml': text})).toEqual(expected);
  });

  test.each([
    ['an exact version', flux('agent-local', '0.6.5')],
    ['a policy for definitions', flux('agent-job', '0.6.5', '  upgrade: {crds: CreateReplace}\n')],
    ['Argo CD, which applies definitions', argo('agent-job')],
    [
      'ignored replicas of Flux',
      flux(
        'agent-local',
        '0.6.5',
        '  driftDetection: {mode: enabled, ignore: [{paths: [/spec/replicas]}]}\n',
      ) + AUTOSCALER,
    ],
    ['Flux without drift detection', flux('agent-local', '0.6.5') + AUTOSCALER],
    [
      'ignored replicas of Argo CD',
      argo(
        'agent-local',
        '  ignoreDifferences: [{kind: Deployment, jsonPointers: [/spec/replicas]}]\n',
      ) + AUTOSCALER,
    ],
    [
      'an OCI address in a comment',
      `# not oci://scalr.github.io/agent-helm\n${argo('agent-local')}`,
    ],
    [
      'two releases in two namespaces',
      `${flux('agent-local', '0.6.5')}---\n${flux('agent-local', '0.6.5').replace('namespace: agents', 'namespace: b')}`,
    ],
    [
      'two releases with names of their own',
      `${flux('agent-local', '0.6.5')}---\n${flux('agent-local', '0.6.5', '', 'b')}`,
    ],
  ])('nothing for %s', async (_, text) => {
    expect(await found({'file.yaml': text})).toEqual([]);
  });

  test('only that they are unchecked for templates of an ApplicationSet', async () => {
    const text = ARGO_OBJECT.replace('https://acme.scalr.io', "'{{.url}}/x'");
    expect(await found({'file.yaml': text})).toEqual(['UNCHECKED_VALUE url:']);
  });

  test('a missing key is not reported if values come from elsewhere', async () => {
    const text = flux(
      'agent-local',
      '0.6.5',
      '  valuesFrom: [{kind: ConfigMap, name: base}]\n',
    ).replace(VALUES, 'agent: {urll: x}');
    expect(await found({'file.yaml': text})).toEqual(['UNKNOWN_KEY urll:']);
    const {stderr} = await runCommand(Validate, ['file.yaml'], {
      files: memoryFiles({'file.yaml': text}),
    });
    expect(stderr).toContain(
      'file.yaml: other values of the HelmRelease were not checked (ConfigMap base).',
    );
  });

  test('a values file of another repository is named', async () => {
    const text = argo('agent-local').replace('releaseName: a', 'valueFiles: [$values/eu.yaml]');
    const {stderr, exit} = await runCommand(Validate, ['file.yaml'], {
      files: memoryFiles({'file.yaml': text}),
    });
    expect(exit).toBe(0);
    expect(stderr).toContain('other values of the Application were not checked ($values/eu.yaml)');
  });

  test('--fix does not change the file', async () => {
    const text = flux('agent-local', '0.6.5').replace('url:', 'urll:');
    const files = memoryFiles({'file.yaml': text});
    const {stderr} = await runCommand(Validate, ['file.yaml', '--fix', '--yes'], {files});
    expect(stderr).toContain('Nothing was changed');
    expect((await files.read('file.yaml')).toString()).toBe(text);
  });
});

describe('the values to compare or to merge', () => {
  const read = async (files: Record<string, string>) =>
    readLayers(await readValuesTexts([Object.keys(files)[0] as string], memoryFiles(files)));

  test.each([
    ['a HelmRelease', {'a.yaml': flux('agent-local', '0.6.5')}],
    ['an Application', {'a.yaml': argo('agent-local')}],
    [
      'a Helmfile with a file',
      {
        'a.yaml': 'releases: [{chart: scalr/agent-local, version: 0.6.5, values: [v.yaml]}]',
        'v.yaml': VALUES,
      },
    ],
    ['a values file', {'values.yaml': VALUES}],
  ])('come from %s', async (_, files) => {
    expect(await read(files as Record<string, string>)).toEqual(parse(VALUES));
  });

  test.each([
    [
      'several releases',
      `${flux('agent-local', '0.6.5')}---\n${flux('agent-job', '0.6.5')}`,
      'it has 2 releases of the charts',
    ],
    [
      'other values',
      flux('agent-local', '0.6.5', '  valuesFrom: [{kind: Secret, name: a}]\n'),
      'other values of the HelmRelease are not in it (Secret a)',
    ],
  ])('cannot be told with %s', async (_, text, message) => {
    await expect(read({'a.yaml': text})).rejects.toThrow(
      `Cannot determine the values in a.yaml: ${message}`,
    );
  });
});
