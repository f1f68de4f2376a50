import {expect, test} from 'vitest';
import {objectsIn} from '../../../src/cluster/helm/release-record.ts';
import {
  droppedValues,
  renderChart,
  renderManifest,
  renderMismatches,
} from '../../../src/cluster/release/desired-release.ts';
import {argumentsOf} from '../../../src/ground/call-arguments.ts';
import type {ProcessResult} from '../../../src/ground/command-line.ts';
import type {ExpectedError} from '../../../src/ground/errors.ts';
import {settingsFrom} from '../../support/settings-from.ts';
import {processesOf} from '../platform/fake-cluster.ts';

const WANTED = {
  name: {release: 'scalr-agent', kubeTarget: {namespace: 'scalr-agent'}},
  chart: {chart: 'agent-job', version: '0.6.5'},
  yaml: '',
};
const RENDERED: ProcessResult = {
  exitCode: 0,
  stdout: 'kind: Deployment\nmetadata: {name: a}\n',
  stderr: '',
};
const failing = (stderr: string): ProcessResult => ({exitCode: 1, stdout: '', stderr});
const TOO_OLD = failing(
  'Error: chart requires kubeVersion: >=1.35.0-0 <2 which is incompatible with Kubernetes v1.34.1\n\nUse --debug flag to render out invalid YAML\n',
);

/** What comes of it, and the versions that helm was asked for; it answers these in turn. */
async function rendered(serverVersion: string | undefined, ...answers: ProcessResult[]) {
  const versions: (string | undefined)[] = [];
  const processes = processesOf(async (call) => {
    const args = argumentsOf(call);
    versions.push(
      args.includes('--kube-version') ? args[args.indexOf('--kube-version') + 1] : undefined,
    );
    const answer = answers.shift();
    if (answer === undefined) throw new Error('nobody expected helm any more');
    return answer;
  });
  const {get} = await settingsFrom({url: 'https://acme.scalr.io'});
  return {versions, ...(await renderManifest(WANTED, serverVersion, get, processes))};
}

test('renders for the version of a supported server', async () => {
  const found = await rendered('v1.35.1', RENDERED);
  expect(found).toMatchObject({versions: ['v1.35.1'], manifest: {value: [{kind: 'Deployment'}]}});
  expect(found).not.toHaveProperty('refusal');
});

test('renders for the oldest supported version when the server is too old', async () => {
  expect(await rendered('v1.34.1', TOO_OLD, RENDERED)).toMatchObject({
    versions: ['v1.34.1', '1.35.0'],
    manifest: {value: [{kind: 'Deployment'}]},
    refusal: expect.stringContaining('requires kubeVersion: >=1.35.0-0'),
  });
});

test('reports no refusal when the server version is unknown', async () => {
  const found = await rendered(undefined, TOO_OLD, RENDERED);
  expect(found).toMatchObject({
    versions: [undefined, '1.35.0'],
    manifest: {value: [{kind: 'Deployment'}]},
  });
  expect(found).not.toHaveProperty('refusal');
});

test.each([
  ['does not retry after another error', [failing('Error: chart not found')], 'chart not found'],
  [
    'reports an error that occurs with both versions',
    [TOO_OLD, failing('Error: execution error at a.yaml')],
    'execution error',
  ],
])('%s', async (_, answers, because) => {
  expect((await rendered('v1.34.1', ...answers)).manifest).toMatchObject({
    unknown: 'failed',
    because: expect.stringContaining(because),
  });
});

const SETTINGS = {url: 'https://acme.scalr.io'};
const promised = async (manifest: string, flags = {}): Promise<string[]> => {
  const {get} = await settingsFrom({...SETTINGS, ...flags});
  return renderMismatches(objectsIn(manifest), get);
};

/** As Helm 3.18 and 4.1 print them. */
test.each([
  'coalesce.go:301: warning: destination for agent-k8s.agent.tokenExistingSecret is a table. Ignoring non-table value ()',
  'level=INFO msg="warning: destination for agent-k8s.agent.tokenExistingSecret is a table. Ignoring non-table value ()"',
  'coalesce.go:298: warning: cannot overwrite table with non table for agent-local.agent (map[url:])',
])('detects a dropped value: %s', (line) => {
  expect(droppedValues(`walk.go:75: found symbolic link\n${line}\n`)).toHaveLength(1);
});

test.each([
  'coalesce.go:298: warning: cannot overwrite table with non table for agent-job.agent.topologySpreadConstraints (map[])',
  'level=INFO msg="warning: cannot overwrite table with non table for agent-job.agent.topologySpreadConstraints (map[])"',
  'WARNING: Kubernetes configuration file is group-readable. This is insecure.',
])('ignores a harmless warning: %s', (line) => {
  expect(droppedValues(line)).toEqual([]);
});

const deployment = (container: string): string => `kind: Deployment
metadata: {name: a}
spec: {template: {spec: {containers: [${container}]}}}
`;

test('compares the rendered chart with the settings', async () => {
  const right = `${deployment('{name: agent, image: scalr/agent:1, env: [{name: A}, {name: B}]}')}---
kind: NetworkPolicy
metadata: {name: p}
---
kind: PersistentVolumeClaim
metadata: {name: c}
`;
  const flags = {'metadata-service': 'block', cache: 'pvc'};
  expect(await promised(right, flags)).toEqual([]);
  expect(await promised(deployment('{name: agent, image: scalr/agent:1}'), flags)).toEqual([
    'The chart creates no NetworkPolicy to block the metadata service.',
    'The chart creates no PVC for the cache.',
  ]);
  expect(await promised(deployment('{name: agent, image: scalr/agent:1}'))).toEqual([]);
});

test('reports duplicate variables and invalid images, also in the templates of runs', async () => {
  expect(
    await promised(deployment('{name: agent, image: scalr/agent:1, env: [{name: A}, {name: A}]}')),
  ).toEqual(['Container agent sets A twice.']);
  const template = `kind: AgentTaskTemplate
metadata: {name: a}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: runner, image: 'scalr/runner:'}]}}}}}
`;
  expect(await promised(template)).toEqual([
    'Invalid image reference in container runner: scalr/runner:',
  ]);
});

test.each([
  ['agent-job-0.6.5', './agent-job', undefined],
  ['agent-k8s-0.6.5', './agent-k8s', '--chart-source contains agent-k8s-0.6.5'],
  ['agent-job-0.6.4', 'agent-job-0.6.4.tgz', '--chart-source contains agent-job-0.6.4'],
  // Repositories answer to the name and the version.
  ['agent-k8s-0.6.5', undefined, undefined],
])('a chart source with %s is for the same chart and version only', async (label, source, refusal) => {
  const stdout = `kind: Deployment\nmetadata: {name: a, labels: {helm.sh/chart: ${label}}}\n`;
  const {get} = await settingsFrom({url: 'https://acme.scalr.io'});
  const error = await renderChart(
    {...WANTED, chart: {...WANTED.chart, source}},
    {serverVersion: '1.35.0'},
    get,
    processesOf(async () => ({...RENDERED, stdout})),
  ).then(
    () => undefined,
    ({message, suggestions}: ExpectedError) => ({message, suggestions}),
  );
  expect(error).toEqual(
    refusal && {
      message: `${refusal}, but the values are for agent-job-0.6.5.`,
      suggestions: ['Set --chart-source to agent-job-0.6.5'],
    },
  );
});

test('labels of dependencies are not compared', async () => {
  const {get} = await settingsFrom({url: 'https://acme.scalr.io'});
  const labeled = (label: string) =>
    `kind: ConfigMap\nmetadata: {name: a, labels: {helm.sh/chart: ${label}}}\n`;
  for (const labels of [['redis-1.0.0'], ['redis-1.0.0', 'agent-job-0.6.5']]) {
    const stdout = labels.map(labeled).join('---\n');
    const rendered = renderChart(
      {...WANTED, chart: {...WANTED.chart, source: './agent-job'}},
      {serverVersion: '1.35.0'},
      get,
      processesOf(async () => ({...RENDERED, stdout})),
    );
    await expect(rendered).resolves.toHaveLength(labels.length);
  }
});

test('the label of a version with build metadata has no plus sign', async () => {
  const stdout = 'kind: Deployment\nmetadata: {labels: {helm.sh/chart: agent-job-0.6.5_acme.1}}\n';
  const {get} = await settingsFrom({url: 'https://acme.scalr.io'});
  const chart = {chart: 'agent-job', version: '0.6.5+acme.1', source: './agent-job'};
  const answer = processesOf(async () => ({...RENDERED, stdout}));
  await expect(
    renderChart({...WANTED, chart}, {serverVersion: '1.35.0'}, get, answer),
  ).resolves.toHaveLength(1);
});
