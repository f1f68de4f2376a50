import {expect, test} from 'vitest';
import {toolChecks} from '../../../../src/checks/preflight/checks/cluster.ts';
import type {PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import {known, unknown} from '../../../../src/ground/fact.ts';
import {ORDINARY, preflightContext, saidBy} from '../context.ts';

const missing = unknown('failed', 'helm not found on PATH.');
const tools = (helm: string, kubectl = '1.35.1'): Pick<PreflightContext, 'tools'> => ({
  tools: {helm: known(helm, 'helm version'), kubectl: known(kubectl, 'kubectl version')},
});
const said = async (id: string, but: Partial<PreflightContext> = {}, cluster = ORDINARY) =>
  saidBy(toolChecks, id, await preflightContext({chart: 'agent-local'}, cluster, but));

test('accepts Helm 3.14 and later, and Helm 4', async () => {
  expect(await said('helm-version', tools('3.14.0'))).toBe('pass: helm 3.14.0');
  expect(await said('helm-version', tools('4.0.0'))).toBe('pass: helm 4.0.0');
  expect(await said('helm-version', tools('3.13.3'))).toMatch(
    /^fail: helm 3\.13\.3 is older than 3\.14 -> Install/,
  );
  expect(await said('helm-version', {tools: {...tools('').tools, helm: missing}})).toMatch(
    /^fail: helm not found on PATH\. -> .*--helm/,
  );
});

test('warns when kubectl differs from the server by more than one minor version', async () => {
  expect(await said('kubectl-version', tools('4.0.0', '1.34.9'))).toBe(
    'pass: kubectl 1.34.9, API server v1.35.1',
  );
  expect(await said('kubectl-version', tools('4.0.0', '1.33.0'))).toMatch(
    /^warn: .*differ by 2 minor versions.* -> Install kubectl 1\.35/,
  );
  expect(
    await said('kubectl-version', {tools: {...tools('4.0.0').tools, kubectl: missing}}),
  ).toMatch(/^fail: /);
});

test('shows the context and the version of the API server', async () => {
  expect(await said('cluster-reachable')).toBe(
    'pass: context aks, cluster aks, https://aks.example.com, Kubernetes v1.35.1',
  );
  const {facts} = await preflightContext({chart: 'agent-local'});
  const versions = (reason: 'forbidden' | 'timed-out') => ({
    facts: {
      ...facts,
      versions: {...facts.versions, server: unknown(reason, 'timed out waiting for a response')},
    },
  });
  expect(await said('cluster-reachable', versions('forbidden'))).toMatch(
    /^skip: .*your user cannot read the server version/,
  );
  expect(await said('cluster-reachable', versions('timed-out'))).toMatch(
    /^fail: .*timed out waiting for a response\) -> Try: kubectl cluster-info/,
  );
  expect(
    await said('cluster-reachable', {tools: {...tools('4.0.0').tools, kubectl: missing}}),
  ).toMatch(/^skip: /);
});

test('fails for an identity that the API server rejected, even where everyone may read the version', async () => {
  const {live} = await preflightContext({chart: 'agent-local'});
  const user = {
    ...unknown('not-logged-in', 'Not logged in to the cluster'),
    steps: ['Log in to the cluster', 'Run the command again'],
  };
  expect(await said('cluster-reachable', {live: {...live, user}})).toBe(
    'fail: context aks, cluster aks, https://aks.example.com, Not logged in to the cluster -> Log in to the cluster. Run the command again',
  );
});

test('requires that the chart can be rendered', async () => {
  expect(await said('chart-renders')).toMatch(/^pass: agent-local 0\.6\.5 creates \d objects?/);
  expect(await said('chart-renders', {manifest: unknown('failed', 'chart not found')})).toMatch(
    /^fail: agent-local 0\.6\.5: chart not found -> .*--chart-source/,
  );
  const refusal = {refusal: 'chart requires kubeVersion: >=1.99.0-0'};
  expect(await said('chart-renders', refusal)).toMatch(
    /^fail: agent-local 0\.6\.5: chart requires kubeVersion: >=1\.99.* -> Upgrade/,
  );
  expect(
    await said('chart-renders', {
      manifest: unknown('timed-out', 'timed out waiting for a response'),
    }),
  ).toMatch(/^skip: .* -> .*--timeout/);
  const old = await preflightContext(
    {chart: 'agent-job'},
    {...ORDINARY, serverVersion: 'v1.34.1'},
    refusal,
  );
  expect(saidBy(toolChecks, 'chart-renders', old)).toMatch(
    /^pass: .* on a supported Kubernetes version$/,
  );
  const withoutHelm = {
    tools: {...tools('').tools, helm: missing},
    manifest: unknown('failed', 'helm not found on PATH.'),
  };
  expect(await said('chart-renders', withoutHelm)).toBe('skip: helm not found');
});
