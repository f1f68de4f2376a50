import {expect, test} from 'vitest';
import CollectLogs from '../../src/commands/collect-logs.ts';
import type {Call} from '../../src/ground/call.ts';
import {READY_DEPLOYMENT, readyPod, replicaSet, START} from '../checks/diagnose/objects.ts';
import {USER_TOKEN} from '../extensions/account/mock-account.ts';
import {type MockApi, mockApi} from '../extensions/account/mock-api.ts';
import {type FakeObject, fakeKubernetes} from '../support/fake-kubernetes.ts';
import {helmRecord} from '../support/helm-record.ts';
import {contentOf, hostShims} from '../support/host-shims.ts';
import {runCommand} from '../support/run-command.ts';

const shims = hostShims();
const RESOURCES = ['agenttasktemplates', 'agenttasks', 'agentworkers', 'atasks'].map(
  (name) => `${name}.scalr.io`,
);
const inNamespace = (apiVersion: string, object: object): FakeObject => {
  const {metadata} = object as FakeObject;
  return {...object, apiVersion, metadata: {...metadata, namespace: 'scalr'}} as FakeObject;
};

/** The files of a bundle of a release that connects to this URL. */
async function collect(
  api: MockApi,
  {argv = [], url = api.url}: {argv?: string[]; url?: string} = {},
) {
  const file = shims.zip();
  const objects = [
    {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'scalr'}},
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
  const {stdout} = await runCommand(
    CollectLogs,
    ['--release', 'acme', '--namespace', 'scalr', '--json', '--out', file, ...argv],
    {
      env: {SSL_CERT_FILE: 'ca.pem', ...api.deps.env},
      files: api.deps.files,
      now: () => new Date(Date.parse(START) + 300_000),
      kubernetes: async () => ({
        ...fakeKubernetes({objects, resources: RESOURCES}),
        stream: async () => ({error: {kind: 'forbidden', message: 'may not read logs'}}),
      }),
      processes: () => ({
        run: async (_: Call) => ({exitCode: 0, stdout: '{}', stderr: ''}),
        start: () => {
          throw new Error('collect-logs starts nothing');
        },
      }),
    },
  );
  const content = await contentOf(file);
  expect(JSON.stringify(content)).not.toContain(USER_TOKEN.split('.')[1]);
  return {content, document: JSON.parse(stdout)};
}

test('adds the pool of the release, its agents and its queue, without tokens', async () => {
  const api = await mockApi();
  const pool = api.account.pool('eks-prod');
  const other = api.account.pool('other');
  api.account.agent(pool, 'agent-5f-x', {status: 'busy'});
  api.account.agent(other, 'elsewhere');
  api.account.token(pool, {description: 'of-the-pool'});
  const environment = api.account.environment('prod');
  const ours = api.account.workspace('network', environment, pool);
  const theirs = api.account.workspace('db', environment, other);
  api.account.run(ours, 'plan_queued');
  api.account.run(theirs, 'planning');
  const {content} = await collect(api);
  const text = String(content['scalr/acme.json']);
  expect(JSON.parse(text)).toMatchObject({
    pods: ['agent-5f-x'],
    pool: {name: 'eks-prod'},
    agents: [{name: 'agent-5f-x', status: 'busy'}],
    links: {workspaces: [{name: 'network'}]},
    queue: [{status: 'plan_queued', workspace: 'network'}],
  });
  expect(text).not.toContain('of-the-pool');
  expect(api.changes()).toEqual([]);
});

test('contacts the account only if the token is for exactly its host, and never with --no-account', async () => {
  const api = await mockApi();
  api.account.agent(api.account.pool('eks-prod'), 'agent-5f-x');
  for (const options of [{argv: ['--no-account']}, {url: 'https://other.scalr.io'}])
    expect((await collect(api, options)).content).not.toHaveProperty(['scalr/acme.json']);
  expect(api.sent).toEqual([]);
});

test('lists what the account does not show', async () => {
  const api = await mockApi();
  api.account.agent(api.account.pool('eks-prod'), 'agent-5f-x');
  api.deny('GET', /workspaces/);
  const {content, document} = await collect(api);
  expect(JSON.parse(String(content['scalr/acme.json']))).toMatchObject({
    pool: {name: 'eks-prod'},
    links: null,
    queue: null,
  });
  expect(JSON.stringify(document.errors)).toContain('scalr/acme.json (links)');
});
