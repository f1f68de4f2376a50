import {describe, expect, test} from 'vitest';
import {awaitAgents} from '../../../src/extensions/account/await-agents.ts';
import {findPool} from '../../../src/extensions/account/find-object.ts';
import {
  installWithPool,
  type PoolUser,
  preparePool,
} from '../../../src/extensions/account/install-pool.ts';
import {ExpectedError} from '../../../src/ground/errors.ts';
import {clientOf} from './client-of.ts';
import {poolTokenOf} from './mock-account.ts';
import {type MockApi, mockApi} from './mock-api.ts';

const USER: PoolUser = {
  release: 'scalr-agent',
  namespace: 'scalr',
  clusterId: 'uid-1',
  tokenId: undefined,
  isUnrecorded: false,
  isForVcs: false,
};
const DESCRIPTION = 'scalr-agent-install cluster=uid-1 namespace=scalr release=scalr-agent';
const FAILED = new ExpectedError('helm is not there.', {
  code: 'TOOL_NOT_FOUND',
  suggestions: ['Install helm'],
});

const never = (): AbortSignal => new AbortController().signal;
const deps = (interrupt = never()) => ({
  interrupts: {interrupt, forceQuit: never()},
  onStep: () => undefined,
});

const prepare = (api: MockApi, more: Partial<PoolUser> = {}, creates = true, pool = 'eks-prod') =>
  preparePool(clientOf(api).client, {pool, creates}, {...USER, ...more});

const titles = ({steps}: {steps: readonly {title: string}[]}): string[] =>
  steps.map(({title}) => title);

describe('the plan', () => {
  test('creates a pool and a token, and names the release and its cluster in the description', async () => {
    const api = await mockApi();
    const prepared = await prepare(api);
    expect(titles(prepared)).toEqual([
      'Create agent pool eks-prod',
      'Create a token of agent pool eks-prod',
    ]);
    expect(prepared.token).toEqual({
      name: 'scalr-agent',
      description: DESCRIPTION,
      expiresInMinutes: null,
    });
    expect(prepared.warnings).toMatchObject([{code: 'NOT_SHARED'}]);
    expect(api.changes()).toEqual([]);
  });

  test('needs --create-pool for a pool that does not exist', async () => {
    await expect(prepare(await mockApi(), {}, false)).rejects.toMatchObject({
      code: 'SCALR_NOT_FOUND',
      suggestions: expect.arrayContaining(['Add --create-pool to create it']),
    });
  });

  test('does not create a pool if the account cannot be read', async () => {
    const api = await mockApi();
    api.deny('GET', /agent-pools/);
    await expect(prepare(api)).rejects.toMatchObject({
      code: 'SCALR_NOT_FOUND',
      message: expect.stringContaining('no permission'),
    });
  });

  test('keeps the token of the Secret if the pool still has it', async () => {
    const api = await mockApi();
    const pool = api.account.pool('eks-prod');
    const token = api.account.token(pool, {description: DESCRIPTION});
    expect(await prepare(api, {tokenId: token.id})).toMatchObject({
      steps: [],
      token: undefined,
      orphans: [],
    });
    token.attributes['is-expired'] = true;
    expect(titles(await prepare(api, {tokenId: token.id}))).toContain(
      'Create a token of agent pool eks-prod',
    );
  });

  test('revokes what an interrupted run has left, and no token of others', async () => {
    const api = await mockApi();
    const pool = api.account.pool('eks-prod');
    const orphan = api.account.token(pool, {description: DESCRIPTION});
    api.account.token(pool, {description: DESCRIPTION, 'last-used-at': '2026-11-20T00:00:00Z'});
    api.account.token(pool, {description: DESCRIPTION.replace('uid-1', 'uid-2')});
    api.account.token(pool, {description: `${DESCRIPTION}-two`});
    api.account.token(pool, {name: 'scalr-agent'});
    api.account.token(api.account.pool('other'), {description: DESCRIPTION});
    expect((await prepare(api)).orphans.map(({id}) => id)).toEqual([orphan.id]);
    expect((await prepare(api, {tokenId: orphan.id})).orphans).toEqual([]);
    // Another cluster may have the same namespace and release.
    api.account.token(pool, {description: DESCRIPTION.replace('uid-1', 'unknown')});
    expect((await prepare(api, {clusterId: undefined})).orphans).toEqual([]);
    // The Secret may hold the unused token.
    expect((await prepare(api, {isUnrecorded: true})).orphans).toEqual([]);
  });

  test.each([
    [true, 'runs'],
    [false, 'vcs'],
  ])('refuses a pool with another purpose: VCS is %s', async (isForVcs, purpose) => {
    const api = await mockApi();
    api.account.pool('eks-prod', {'vcs-enabled': isForVcs});
    await expect(prepare(api, {isForVcs: !isForVcs})).rejects.toMatchObject({
      code: 'CONFLICTING_SETTINGS',
      message: expect.stringContaining(`--purpose is ${purpose}`),
    });
  });
});

describe('the run', () => {
  test('gives the new token to the install', async () => {
    const api = await mockApi();
    const {client} = clientOf(api);
    const {result, pool} = await installWithPool(
      await prepare(api),
      client,
      deps(),
      async (made) => made,
    );
    expect(result?.text.reveal()).toBe(poolTokenOf(api.host, pool.id, result?.tokenId as string));
    expect(api.account.ofType('access-tokens')).toMatchObject([
      {attributes: {description: DESCRIPTION}},
    ]);
  });

  test('a failure before the token is used revokes it, and deletes the pool that this run has created', async () => {
    const api = await mockApi();
    const running = installWithPool(await prepare(api), clientOf(api).client, deps(), async () =>
      Promise.reject(FAILED),
    );
    await expect(running).rejects.toMatchObject({
      code: 'TOOL_NOT_FOUND',
      message:
        'helm is not there. The new token was revoked. Agent pool eks-prod, which this run created, was deleted.',
      suggestions: ['Install helm'],
    });
    expect([...api.account.ofType('access-tokens'), ...api.account.ofType('agent-pools')]).toEqual(
      [],
    );
  });

  test('a failure keeps a pool that existed, and its other tokens', async () => {
    const api = await mockApi();
    const theirs = api.account.token(api.account.pool('eks-prod'));
    const running = installWithPool(await prepare(api), clientOf(api).client, deps(), async () =>
      Promise.reject(FAILED),
    );
    await expect(running).rejects.toMatchObject({
      message: 'helm is not there. The new token was revoked.',
    });
    expect(api.account.ofType('access-tokens').map(({id}) => id)).toEqual([theirs.id]);
    expect(api.account.names('agent-pools')).toEqual(['eks-prod']);
  });

  test('a failure afterwards keeps both', async () => {
    const api = await mockApi();
    const running = installWithPool(
      await prepare(api),
      clientOf(api).client,
      deps(),
      async (_, keep) => {
        keep();
        throw FAILED;
      },
    );
    await expect(running).rejects.toBe(FAILED);
    expect(api.account.ofType('access-tokens')).toHaveLength(1);
    expect(api.account.names('agent-pools')).toEqual(['eks-prod']);
  });

  test.each([
    ['pool', /agent-pools$/],
    ['token', /access-tokens$/],
  ])('Ctrl-C after the request for the %s undoes it', async (_, path) => {
    const api = await mockApi();
    const stop = new AbortController();
    api.afterNext('POST', path, () => stop.abort('SIGINT'));
    const running = installWithPool(
      await prepare(api),
      clientOf(api).client,
      deps(stop.signal),
      async () => 'installed',
    );
    await expect(running).rejects.toMatchObject({code: 'INTERRUPTED'});
    expect([...api.account.ofType('access-tokens'), ...api.account.ofType('agent-pools')]).toEqual(
      [],
    );
  });

  test('a failed clean-up names the commands for it', async () => {
    const api = await mockApi();
    api.inject('DELETE', /access-tokens/, {status: 403, body: '{"errors":[{"detail":"No."}]}'});
    const pool = api.account.pool('eks-prod');
    const running = installWithPool(await prepare(api), clientOf(api).client, deps(), async () =>
      Promise.reject(FAILED),
    );
    await expect(running).rejects.toMatchObject({
      suggestions: [
        expect.stringMatching(
          new RegExp(`^Revoke it: scalr-agent pool token revoke ${pool.id} at-\\w+$`),
        ),
        'Install helm',
      ],
    });
  });

  test('a lost answer leaves neither a token nor a pool', async () => {
    const api = await mockApi();
    api.inject('POST', /access-tokens$/, 'lost');
    const running = installWithPool(
      await prepare(api),
      clientOf(api).client,
      deps(),
      async () => 'installed',
    );
    await expect(running).rejects.toMatchObject({code: 'SCALR_UNREACHABLE'});
    expect([...api.account.ofType('access-tokens'), ...api.account.ofType('agent-pools')]).toEqual(
      [],
    );
  });
});

describe('the agent', () => {
  const NOW = Date.parse('2026-11-21T12:00:00Z');
  async function waited(
    api: MockApi,
    more: {pods?: string[]; agentsBefore?: string[]; onSleep?: () => void; interrupt?: AbortSignal},
  ) {
    const {client} = clientOf(api);
    let time = NOW;
    return awaitAgents(client, await findPool(client, 'eks-prod'), {
      pods: more.pods ?? ['agent-x'],
      agentsBefore: new Set(more.agentsBefore),
      timeoutMs: 60_000,
      interrupt: more.interrupt ?? never(),
      now: () => new Date(time),
      sleep: async (milliseconds) => {
        time += milliseconds;
        more.onSleep?.();
      },
    });
  }

  test('is waited for until it is idle', async () => {
    const api = await mockApi();
    const agent = api.account.agent(api.account.pool('eks-prod'), 'agent-x', {status: 'offline'});
    const onSleep = (): void => {
      agent.attributes['status'] = 'idle';
    };
    expect(await waited(api, {onSleep})).toMatchObject([{name: 'agent-x', status: 'idle'}]);
  });

  test('of another cluster does not count, a new one with its own name does', async () => {
    const api = await mockApi();
    const pool = api.account.pool('eks-prod');
    const theirs = api.account.agent(pool, 'theirs');
    const onSleep = (): void => {
      if (api.account.names('agents').length === 1) api.account.agent(pool, 'by-name');
    };
    expect(await waited(api, {agentsBefore: [theirs.id], onSleep})).toMatchObject([
      {name: 'by-name'},
    ]);
  });

  test('that never works is a failure with what Scalr reports', async () => {
    const api = await mockApi();
    api.account.agent(api.account.pool('eks-prod'), 'agent-x', {
      status: 'errored',
      'error-message': 'disk full',
    });
    await expect(waited(api, {})).rejects.toMatchObject({
      code: 'TIMED_OUT',
      message: expect.stringContaining('after 60 s. agent-x is errored (disk full).'),
    });
  });

  test('is not waited for after Ctrl-C', async () => {
    const api = await mockApi();
    api.account.pool('eks-prod');
    await expect(waited(api, {interrupt: AbortSignal.abort('SIGINT')})).rejects.toMatchObject({
      code: 'INTERRUPTED',
    });
  });
});
