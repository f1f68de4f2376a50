import {setTimeout as wait} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {contextsMatching} from '../../src/cli/status-release.ts';
import type {KubernetesClient} from '../../src/cluster/kubernetes/client.ts';
import Status from '../../src/commands/status.ts';
import type {Call} from '../../src/ground/call.ts';
import {argumentsOf} from '../../src/ground/call-arguments.ts';
import type {ClusterTarget} from '../../src/ground/command-line.ts';
import {failingKubernetes, fakeKubernetes} from '../support/fake-kubernetes.ts';
import {chartObject, helmRecord} from '../support/helm-record.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const found = {name: 'acme', namespace: 'prod', chart: 'agent-local-0.6.5'};
const deployment = (ready: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'acme',
    namespace: 'prod',
    generation: 1,
    labels: {'app.kubernetes.io/instance': 'acme', 'helm.sh/chart': found.chart},
    annotations: {'meta.helm.sh/release-name': 'acme', 'meta.helm.sh/release-namespace': 'prod'},
  },
  spec: {replicas: 1, selector: {matchLabels: {'app.kubernetes.io/instance': 'acme'}}},
  status: {
    observedGeneration: 1,
    replicas: 1,
    updatedReplicas: ready,
    readyReplicas: ready,
    availableReplicas: ready,
  },
});
const cluster = (ready: number): KubernetesClient =>
  fakeKubernetes({objects: [helmRecord(found), chartObject(found), deployment(ready)]});

/** A release whose namespace is deleted after it was listed. */
function vanishing(): KubernetesClient {
  const other = {...found, namespace: 'gone'};
  const listed = fakeKubernetes({
    objects: [helmRecord(found), chartObject(found), helmRecord(other), chartObject(other)],
  });
  const now = cluster(1);
  return {
    ...listed,
    get: (path, options) =>
      (path.includes('/namespaces/') && !path.includes('fieldSelector') ? now : listed).get(
        path,
        options,
      ),
  };
}

/** Answers nothing until the request is aborted. */
const silent = (): KubernetesClient => ({
  ...fakeKubernetes(),
  get: async (_, {signal}) => {
    await wait(60_000, undefined, {signal}).catch(() => undefined);
    return {error: {kind: 'aborted', message: 'timed out'}};
  },
});

const CLUSTERS: Readonly<Record<string, () => KubernetesClient>> = {
  'prod-eu': () => cluster(1),
  'prod-us': () => cluster(1),
  'prod-dead': silent,
  moving: vanishing,
  'test-empty': () => fakeKubernetes(),
  'test-late': () => cluster(0),
  'test-closed': () =>
    failingKubernetes({
      kind: 'unreachable',
      message: 'dial tcp 192.0.2.1:443: connect: connection refused',
    }),
};

async function run(...argv: string[]) {
  const closed: string[] = [];
  const result = await runCommand(Status, argv, {
    kubernetes: async ({kubeContext = ''}: ClusterTarget) => {
      const client = (CLUSTERS[kubeContext] as () => KubernetesClient)();
      return {...client, close: async () => void closed.push(kubeContext)};
    },
    processes: () => ({
      async run(call: Call) {
        const args = argumentsOf(call);
        expect(args.slice(0, 2)).toEqual(['config', 'view']);
        return {
          exitCode: 0,
          stdout: JSON.stringify({contexts: Object.keys(CLUSTERS).map((name) => ({name}))}),
          stderr: '',
        };
      },
      start: () => {
        throw new Error('status starts nothing');
      },
    }),
  });
  return {...result, closed};
}

test('lists one line for each release of the matching clusters, and leaves no proxy open', async () => {
  const {stdout, exit, closed} = await run('--contexts', 'prod-eu,prod-us');
  expect(exit, stdout).toBe(0);
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 6))).toEqual([
    ['CONTEXT', 'NAMESPACE', 'RELEASE', 'CHART', 'STATUS', 'READY'],
    ['prod-eu', 'prod', 'acme', 'agent-local-0.6.5', 'ready', '1/1'],
    ['prod-us', 'prod', 'acme', 'agent-local-0.6.5', 'ready', '1/1'],
    [''],
  ]);
  expect(new Set(closed)).toEqual(new Set(['prod-eu', 'prod-us']));
});

test('an unreachable cluster is a line, does not hold the others, and is the exit code', async () => {
  const start = Date.now();
  const {stdout, exit} = await run('--contexts', 'prod-*', '--timeout', '1s');
  expect(Date.now() - start).toBeLessThan(60_000);
  expect(exit).toBe(1);
  expect(stdout).toMatch(/^prod-eu .* ready +1\/1/m);
  expect(stdout).toMatch(/^prod-us .* ready +1\/1/m);
  expect(stdout).toMatch(/^prod-dead +- +- +- +unreachable$/m);
  expect(stdout).toContain(
    '? CLUSTER_UNREACHABLE  prod-dead: Cannot reach the Kubernetes API of context prod-dead (timed out, --timeout).',
  );
});

test('prints documents and errors as JSON', async () => {
  const {stdout, exit} = await run('--contexts', 'test-*', '--contexts', 'prod-eu', '--json');
  expect(violations('status', stdout)).toEqual([]);
  expect({exit, ...JSON.parse(stdout)}).toMatchObject({
    exit: 1,
    clusters: [
      {context: 'test-empty', releases: [], error: {code: 'RELEASE_NOT_FOUND'}},
      {
        context: 'test-late',
        releases: [{release: 'acme', context: 'test-late', state: 'not-ready'}],
      },
      {
        context: 'test-closed',
        releases: [],
        error: {
          code: 'CLUSTER_UNREACHABLE',
          message: expect.stringContaining('connection refused'),
        },
      },
      {context: 'prod-eu', releases: [{release: 'acme', context: 'prod-eu', state: 'ready'}]},
    ],
  });
});

test('leaves out a release that was uninstalled after it was listed', async () => {
  const {stdout, exit} = await run('--contexts', 'moving', '--json');
  expect({exit, ...JSON.parse(stdout)}).toMatchObject({
    exit: 0,
    clusters: [{context: 'moving', releases: [{namespace: 'prod'}]}],
  });
});

test('a named release is looked for in every cluster', async () => {
  const argv = [
    '--contexts',
    'prod-eu,test-empty',
    '--namespace',
    'prod',
    '--release',
    'acme',
    '--json',
  ];
  const {clusters} = JSON.parse((await run(...argv)).stdout);
  expect(clusters).toMatchObject([
    {releases: [{release: 'acme'}]},
    {releases: [], error: {code: 'RELEASE_NOT_FOUND'}},
  ]);
});

test('a pattern without a match names the contexts', async () => {
  const {error} = JSON.parse((await run('--contexts', 'live-*', '--json')).stdout);
  expect(error).toMatchObject({
    code: 'INVALID_SETTING',
    exit: 2,
    message: 'No context of the kubeconfig matches live-*.',
  });
  expect(error.suggestions[0]).toContain('prod-eu, prod-us, prod-dead');
});

test.each([
  ['--values', 'a.yaml'],
  ['--watch'],
  ['--kube-context', 'a'],
])('cannot be combined with %s', async (...flags) => {
  const {stdout} = await runCommand(Status, ['--contexts', 'a', ...flags, '--json']);
  expect(JSON.parse(stdout).error).toMatchObject({code: 'USAGE'});
});

test.each([
  [['a.b'], ['a.b']],
  [['*b'], ['a.b', 'axb']],
  [
    ['axb', 'a*b'],
    ['axb', 'a.b'],
  ],
  [['arn:aws:eks:eu-west-1:1:cluster/*'], ['arn:aws:eks:eu-west-1:1:cluster/prod']],
])('%j selects %j', (patterns, expected) => {
  expect(
    contextsMatching(patterns, ['a.b', 'axb', 'arn:aws:eks:eu-west-1:1:cluster/prod']),
  ).toEqual(expected);
});

test('names a kubeconfig without contexts, which kubectl prints for a missing file', () => {
  expect(() => contextsMatching(['live-*'], [])).toThrow(
    'The kubeconfig was not found, or has no contexts.',
  );
});
