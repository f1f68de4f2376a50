import {expect, test} from 'vitest';
import type {Outcome} from '../../src/ports/processes.ts';
import {renderManifest} from '../../src/preflight/render-manifest.ts';
import {processesOf} from '../cluster-facts/fake-cluster.ts';
import {settingsFrom} from '../support/settings-from.ts';

const WANTED = {
  name: {release: 'scalr-agent', place: {namespace: 'scalr-agent'}},
  chart: {chart: 'agent-job', version: '0.6.5'},
  yaml: '',
};
const RENDERED: Outcome = {exitCode: 0, stdout: 'kind: Deployment\nmetadata: {name: a}\n', stderr: ''};
const failing = (stderr: string): Outcome => ({exitCode: 1, stdout: '', stderr});
const TOO_OLD = failing(
  'Error: chart requires kubeVersion: >=1.35.0-0 <2 which is incompatible with Kubernetes v1.34.1\n\nUse --debug flag to render out invalid YAML\n',
);

/** What comes of it, and the versions that helm was asked for; it answers these in turn. */
async function rendered(serverVersion: string | undefined, ...answers: Outcome[]) {
  const versions: (string | undefined)[] = [];
  const processes = processesOf(async ({args}) => {
    versions.push(args.includes('--kube-version') ? args[args.indexOf('--kube-version') + 1] : undefined);
    const answer = answers.shift();
    if (answer === undefined) throw new Error('nobody expected helm any more');
    return answer;
  });
  const {get} = await settingsFrom({url: 'https://acme.scalr.io'});
  return {versions, ...(await renderManifest(WANTED, serverVersion, get, processes))};
}

test('a server that is new enough', async () => {
  const found = await rendered('v1.35.1', RENDERED);
  expect(found).toMatchObject({versions: ['v1.35.1'], manifest: {value: [{kind: 'Deployment'}]}});
  expect(found).not.toHaveProperty('refusal');
});

test('on one that is too old it is what the chart makes on the oldest it is for', async () => {
  expect(await rendered('v1.34.1', TOO_OLD, RENDERED)).toMatchObject({
    versions: ['v1.34.1', '1.35.0'],
    manifest: {value: [{kind: 'Deployment'}]},
    refusal: expect.stringContaining('requires kubeVersion: >=1.35.0-0'),
  });
});

test('on one that keeps its version to itself nothing is too old', async () => {
  const found = await rendered(undefined, TOO_OLD, RENDERED);
  expect(found).toMatchObject({versions: [undefined, '1.35.0'], manifest: {value: [{kind: 'Deployment'}]}});
  expect(found).not.toHaveProperty('refusal');
});

test.each([
  ['anything else that is wrong is not tried again', [failing('Error: chart not found')], 'chart not found'],
  ['what is wrong on both is told', [TOO_OLD, failing('Error: execution error at a.yaml')], 'execution error'],
])('%s', async (_, answers, because) => {
  expect((await rendered('v1.34.1', ...answers)).manifest).toMatchObject({unknown: 'failed', because: expect.stringContaining(because)});
});
