import {expect, test} from 'vitest';
import Status from '../../src/commands/status.ts';
import type {Call} from '../../src/ground/call.ts';
import {READY_DEPLOYMENT, readyPod, replicaSet, START} from '../checks/diagnose/objects.ts';
import {poolTokenOf, USER_TOKEN} from '../extensions/account/mock-account.ts';
import {type MockApi, mockApi} from '../extensions/account/mock-api.ts';
import {type FakeObject, fakeKubernetes} from '../support/fake-kubernetes.ts';
import {helmRecord} from '../support/helm-record.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const POD = 'agent-5f-x';
const NAMESPACE = {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'scalr'}};
const inNamespace = (apiVersion: string, object: object): FakeObject => {
  const {metadata} = object as FakeObject;
  return {...object, apiVersion, metadata: {...metadata, namespace: 'scalr'}} as FakeObject;
};

/** A ready release that connects to this URL. */
const objectsFor = (url: string): FakeObject[] => [
  NAMESPACE,
  inNamespace('apps/v1', READY_DEPLOYMENT),
  inNamespace('apps/v1', replicaSet({readyReplicas: 1})),
  inNamespace('v1', readyPod()),
  helmRecord({
    name: 'acme',
    namespace: 'scalr',
    chart: 'agent-local-0.6.5',
    values: {agent: {url}},
  }),
];

async function status(
  api: MockApi,
  argv: readonly string[] = [],
  env: Record<string, string> = api.deps.env,
  url = api.url,
) {
  const result = await runCommand(Status, ['--release', 'acme', '--namespace', 'scalr', ...argv], {
    env: {SSL_CERT_FILE: 'ca.pem', ...env},
    files: api.deps.files,
    now: () => new Date(Date.parse(START) + 300_000),
    kubernetes: async () =>
      fakeKubernetes({
        objects: objectsFor(url),
        log: () => `${START} Scalr agent is ready to receive tasks.`,
      }),
    processes: () => ({
      run: async (_: Call) => ({exitCode: 0, stdout: '{}', stderr: ''}),
      start: () => {
        throw new Error('status starts nothing');
      },
    }),
  });
  expect(result.stdout + result.stderr).not.toContain(USER_TOKEN.split('.')[1]);
  return result;
}

async function json(...args: Parameters<typeof status>) {
  const [api, argv = [], ...more] = args;
  const {stdout, exit} = await status(api, [...argv, '--json'], ...more);
  expect(violations('status', stdout)).toEqual([]);
  return {exit, ...JSON.parse(stdout)};
}

test('joins pods with the agents in Scalr', async () => {
  const api = await mockApi();
  const pool = api.account.pool('eks-prod', {'in-use': true});
  const agent = api.account.agent(pool, POD);
  expect(await json(api)).toMatchObject({
    exit: 0,
    state: 'ready',
    account: {
      host: api.host,
      pool: {id: pool.id, name: 'eks-prod', inUse: true},
      agents: [{pod: POD, id: agent.id, status: 'idle'}],
      withoutPod: [],
    },
  });
  agent.attributes['status'] = 'offline';
  expect(await json(api)).toMatchObject({
    exit: 1,
    state: 'not-ready',
    causes: [{code: 'AGENT_OFFLINE'}],
  });
  const {stdout} = await status(api);
  expect(stdout).toContain(`agent pool eks-prod on ${api.host}: 1 offline`);
});

test.each([
  ['without a credential', [], {}],
  [
    'with the token of another account',
    [],
    {SCALR_HOSTNAME: 'acme.scalr.io', SCALR_TOKEN: USER_TOKEN},
  ],
  ['with a token whose account is not stated', [], {SCALR_TOKEN: USER_TOKEN}],
  [
    'with an agent pool token and no account',
    [],
    {SCALR_TOKEN: poolTokenOf('acme.scalr.io', 'apool-1', 'at-1')},
  ],
  ['with --no-account', ['--no-account'], undefined],
] as const)('%s, contacts nobody and prints the same as before', async (_, argv, env) => {
  const api = await mockApi();
  const {stdout, stderr} = await status(api, argv, env ?? api.deps.env);
  expect(api.sent).toEqual([]);
  expect(stdout).not.toMatch(/scalr account|^Scalr/im);
  expect(stderr).toBe('');
  expect((await json(api, argv, env ?? api.deps.env)).account).toBeUndefined();
});

test('an account that cannot be read is listed, and the release stays ready', async () => {
  const api = await mockApi();
  api.inject('GET', /./, {status: 503}, 99);
  const found = await json(api);
  expect(found).toMatchObject({
    exit: 0,
    state: 'ready',
    unread: [{subject: {object: 'Scalr account'}, code: 'SCALR_UNREACHABLE'}],
  });
  expect(found.account).toBeUndefined();
});

test('two credentials that differ are listed, and nothing is sent', async () => {
  const api = await mockApi();
  await api.deps.files.write(
    '/home/u/.scalr/scalr.conf',
    JSON.stringify({hostname: api.host, token: 'one'}),
    {isPrivate: true},
  );
  const env = {HOME: '/home/u'};
  await api.deps.files.write(
    '/home/u/.terraformrc',
    `credentials "${api.host}" { token = "two" }`,
    {isPrivate: true},
  );
  expect((await json(api, [], env)).unread).toMatchObject([
    {subject: {object: 'Scalr account'}, code: 'NO_CREDENTIAL'},
  ]);
  expect(api.sent).toEqual([]);
});
