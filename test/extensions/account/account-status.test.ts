import {describe, expect, test} from 'vitest';
import type {ReleaseStatus} from '../../../src/checks/status/status.ts';
import {readAccountStatus, withAccount} from '../../../src/extensions/account/account-status.ts';
import {ExpectedError} from '../../../src/ground/errors.ts';
import {statusText} from '../../../src/ui/status.ts';
import {readyPod} from '../../checks/diagnose/objects.ts';
import {lookAt, NAME, NOW, statusFrom, WELL} from '../../checks/status/readings.ts';
import {clientOf} from './client-of.ts';
import type {Stored} from './mock-account.ts';
import {type MockApi, mockApi} from './mock-api.ts';

const POD = 'agent-5f-x';

async function joined(api: MockApi, status: ReleaseStatus = statusFrom()): Promise<ReleaseStatus> {
  return withAccount(NAME, status, await readAccountStatus(clientOf(api).client, status), NOW);
}

/** An account with a pool that is in use. */
async function accountWithPool(): Promise<{api: MockApi; pool: Stored}> {
  const api = await mockApi();
  return {api, pool: api.account.pool('eks-prod', {'in-use': true})};
}

const codes = ({causes, advice}: ReleaseStatus): string[] =>
  [...causes, ...advice].map(({code}) => code);

test('a healthy agent stays healthy', async () => {
  const {api, pool} = await accountWithPool();
  api.account.agent(pool, POD);
  const status = await joined(api);
  expect(status).toMatchObject({
    state: 'ready',
    causes: [],
    recent: [],
    advice: [],
    unread: [],
    account: {pool: {name: 'eks-prod'}, isUnused: false},
  });
  const text = statusText(
    {name: NAME, status, files: [], now: NOW},
    {hasColor: false, columns: undefined},
  );
  expect(text).toContain(`Scalr      agent pool eks-prod on ${api.host}: 1 idle\n`);
});

test.each([
  [
    'offline',
    {status: 'offline', 'last-seen-at': '2026-11-21T09:00:00Z'},
    'AGENT_OFFLINE',
    'last seen 2026-11-21T09:00:00Z',
  ],
  [
    'errored',
    {status: 'errored', 'error-message': 'No space left on device'},
    'AGENT_ERRORED',
    'No space left on device',
  ],
])('a ready pod whose agent is %s makes the release not ready', async (_, attributes, code, reason) => {
  const {api, pool} = await accountWithPool();
  api.account.agent(pool, POD, attributes);
  expect(await joined(api)).toMatchObject({
    state: 'not-ready',
    causes: [
      {
        subject: {object: `pod/${POD}`},
        code,
        message: expect.stringContaining(reason),
        verdict: 'warning',
      },
    ],
  });
});

test('an agent of a pod that is not ready yet is no cause of its own', async () => {
  const {api, pool} = await accountWithPool();
  api.account.agent(pool, POD, {status: 'offline'});
  const starting = {
    ...statusFrom(),
    state: 'not-ready' as const,
    agents: [{pod: POD, state: 'unknown' as const}],
  };
  expect((await joined(api, starting)).causes).toEqual([]);
});

test('a name that two agents of the pool have is unknown', async () => {
  const {api, pool} = await accountWithPool();
  api.account.agent(pool, POD, {status: 'offline'});
  api.account.agent(pool, 'agent-5f-y');
  const status = {
    ...statusFrom(),
    agents: ['agent-5f-y', POD].map((pod) => ({pod, state: 'registered' as const})),
  };
  api.account.agent(pool, POD, {status: 'offline'});
  expect(await joined(api, status)).toMatchObject({
    state: 'ready',
    account: {
      agents: [
        {pod: 'agent-5f-y', agent: {status: 'idle'}},
        {pod: POD, agent: undefined},
      ],
    },
    advice: [
      {
        code: 'AGENT_NOT_IN_ACCOUNT',
        message: `Scalr does not list an agent for each of these pods: ${POD}`,
      },
    ],
  });
});

test('the same name in two pools is not joined', async () => {
  const {api, pool} = await accountWithPool();
  api.account.agent(pool, POD, {status: 'offline'});
  api.account.agent(api.account.pool('of-another-cluster'), POD);
  expect(await joined(api)).toMatchObject({state: 'ready', causes: [], account: {pool: undefined}});
});

test('an unknown agent is an advice, because the user may lack the permission', async () => {
  const {api} = await accountWithPool();
  const status = await joined(api);
  expect(status).toMatchObject({
    state: 'ready',
    advice: [
      {
        code: 'AGENT_NOT_IN_ACCOUNT',
        remedies: [{text: expect.stringContaining('agent-pools:read')}],
      },
    ],
  });
});

test('a full account explains missing agents', async () => {
  const {api, pool} = await accountWithPool();
  api.account.agent(pool, 'agent-of-another-release');
  api.account.agent(pool, 'gone', {status: 'offline'});
  const {attributes} = api.account.limits('acme', {agents: 1});
  const message = `${api.host} allows 1 agent, and 1 are connected`;
  expect((await joined(api)).advice).toContainEqual(
    expect.objectContaining({code: 'AGENT_QUOTA', message}),
  );
  attributes['quotas'] = {agents: 2};
  expect(codes(await joined(api))).toEqual(['AGENT_NOT_IN_ACCOUNT']);
});

test('a pool that nothing uses', async () => {
  const api = await mockApi();
  const pool = api.account.pool('eks-prod');
  api.account.agent(pool, POD);
  expect(await joined(api)).toMatchObject({
    state: 'ready',
    advice: [
      {
        code: 'POOL_NOT_LINKED',
        remedies: [
          {text: expect.stringContaining(`scalr-agent pool link ${pool.id} --workspace NAME`)},
        ],
      },
    ],
  });
  api.account.workspace('network', api.account.environment('prod'), pool);
  expect(codes(await joined(api))).toEqual([]);
});

test('different versions, a recommended upgrade and a token that expires soon', async () => {
  const {api, pool} = await accountWithPool();
  api.account.agent(pool, POD, {version: '1.8.0', 'upgrade-status': 'high'});
  api.account.agent(pool, 'agent-5f-y');
  api.account.token(pool, {'expires-at': '2026-11-25T00:00:00Z'});
  api.account.token(pool, {'expires-at': '2026-11-01T00:00:00Z', 'is-expired': true});
  api.account.token(pool, {'expires-at': '2027-11-25T00:00:00Z'});
  const status = {
    ...statusFrom(),
    agents: [POD, 'agent-5f-y'].map((pod) => ({pod, state: 'registered' as const})),
  };
  const found = await joined(api, status);
  expect(codes(found)).toEqual(['MIXED_VERSIONS', 'UPGRADE_PENDING', 'TOKEN_EXPIRES']);
  expect(found.state).toBe('ready');
});

test('only agents of earlier pods of this release count as stale', async () => {
  const {api, pool} = await accountWithPool();
  api.account.agent(pool, POD);
  api.account.agent(pool, 'agent-4c-w', {status: 'offline'});
  api.account.agent(pool, 'other-cluster-1a-b', {status: 'offline'});
  expect(await joined(api)).toMatchObject({
    state: 'ready',
    account: {withoutPod: [{name: 'agent-4c-w'}]},
    advice: [
      {
        code: 'AGENT_WITHOUT_POD',
        message: '1 agent of earlier pods is offline in Scalr: agent-4c-w',
      },
    ],
  });
});

describe('requests', () => {
  test('do not grow with the pods, nor with agents of others', async () => {
    const {api, pool} = await accountWithPool();
    const pods = Array.from({length: 20}, (_, index) => `agent-5f-${index}`);
    for (const pod of pods) api.account.agent(pool, pod);
    const other = api.account.pool('other');
    for (let index = 0; index < 300; index += 1) api.account.agent(other, `theirs-${index}`);
    const status = {
      ...statusFrom({releaseSnapshot: lookAt([...WELL, readyPod()])}),
      agents: pods.map((pod) => ({pod, state: 'registered' as const})),
    };
    expect((await joined(api, status)).account?.agents).toHaveLength(20);
    expect(api.sent).toHaveLength(4);
    expect(api.changes()).toEqual([]);
  });

  test('that are not allowed are listed, and do not change the state', async () => {
    const {api, pool} = await accountWithPool();
    api.account.agent(pool, POD);
    api.deny('GET', /access-tokens/);
    expect(await joined(api)).toMatchObject({
      state: 'ready',
      unread: [{subject: {object: 'tokens of the agent pool'}, code: 'SCALR_NOT_FOUND'}],
    });
  });

  test('that fail make what they read unknown, whichever it is', async () => {
    const prepared = async (): Promise<MockApi> => {
      const api = await mockApi();
      const pool = api.account.pool('eks-prod', {'in-use': false});
      api.account.agent(pool, POD);
      return api;
    };
    // One pod is missing in the account, so its limits are read too.
    const status = statusFrom({
      releaseSnapshot: lookAt([...WELL, {...readyPod(), metadata: {name: 'agent-5f-y'}}]),
    });
    const all = await prepared();
    await joined(all, status);
    const paths = [...new Set(all.sent.map(({path}) => path.replace(/^.*\/v3/, '').split('?')[0]))];
    expect(paths.length).toBeGreaterThan(4);
    for (const path of paths) {
      const api = await prepared();
      api.deny('GET', new RegExp(`${path}$`));
      const read = await joined(api, status).then(
        ({unread}) => unread.map(({verdict}) => verdict),
        // The command lists the whole account as unread.
        (error: unknown) => [error instanceof ExpectedError ? 'unknown' : error],
      );
      expect(read, path).toContain('unknown');
    }
  });
});
