import {gunzipSync} from 'node:zlib';
import {expect, test} from 'vitest';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {faultyApi} from '../control-plane/faulty-api.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {poolTokenOf, USER_TOKEN} from '../extensions/account/mock-account.ts';
import {installPlace, stepFlags, TOKEN} from '../support/install-place.ts';
import {startProgram} from '../support/killed-run.ts';
import {
  agentsOf,
  installWithPool,
  type PoolAccount,
  poolAccount,
  poolIn,
  secretOf,
  tokensIn,
} from '../support/pool-account.ts';
import {install, preflight, status} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelmMatrix();
const argv = await stepFlags('agent-local');
const installed = (place: Workplace, account: PoolAccount, ...more: string[]) =>
  installWithPool(place, helm, account, ...more);

test('an install creates the pool and its token, waits for the agent in Scalr, and changes nothing when it is repeated', async () => {
  const place = await installPlace();
  const own = await poolAccount(argv);
  const {api, env} = own;
  const dry = await install(place, helm, [...own.flags, '--dry-run'], {env});
  expect(dry.stderr).toMatch(
    /1\. Create agent pool eks-prod\n +2\. Create a token of agent pool eks-prod\n/,
  );
  expect(api.changes()).toEqual([]);

  agentsOf(place, api);
  const first = await installed(place, own);
  const pool = poolIn(api);
  expect(first).toMatchObject({
    exit: 0,
    changed: true,
    pool: {
      id: pool.id,
      name: 'eks-prod',
      created: true,
      newToken: true,
      agents: [expect.stringContaining('scalr-agent-agent-local-')],
    },
  });
  expect(first.stderr).toMatch(
    /^Scalr reports scalr-agent-agent-local-\S+ \(idle\) in agent pool eks-prod\. Nothing is linked to it: scalr-agent pool link/m,
  );
  expect(first.stderr.match(/pool link/g)).toHaveLength(1);
  const {token, id} = await secretOf(place);
  expect(tokensIn(api)).toEqual([id]);
  expect(token).toBe(poolTokenOf(api.host, pool.id, id));

  // Nowhere but in its Secret.
  const release = await place.kubectl(
    'get',
    'secrets',
    '--selector=owner=helm',
    '--output',
    'jsonpath={.items[*].data.release}',
  );
  const rest = await place.kubectl('get', 'all,configmaps,serviceaccounts', '--output', 'yaml');
  const record = Buffer.from(Buffer.from(release, 'base64').toString(), 'base64');
  for (const text of [JSON.stringify(first), rest, gunzipSync(record).toString()]) {
    expect(text).not.toContain(token);
    expect(text).not.toContain(USER_TOKEN);
  }

  expect(await installed(place, own)).toMatchObject({
    changed: false,
    pool: {created: false, newToken: false},
  });
  expect(tokensIn(api)).toEqual([id]);
  const {stdout} = await status(place, helm, ['--json'], {env});
  expect(JSON.parse(stdout).account).toMatchObject({
    pool: {name: 'eks-prod', inUse: false},
    agents: [{status: 'idle'}],
  });
});

test('an installed release gets the token of the pool, and its pods are restarted', async () => {
  const place = await installPlace();
  const own = await poolAccount(argv);
  const {api, flags} = own;
  const before = await install(
    place,
    helm,
    [...flags.filter((flag) => !/pool|eks-prod/.test(flag)), '--yes'],
    {env: TOKEN},
  );
  expect(before.exit, before.stderr).toBe(0);
  agentsOf(place, api);
  const {steps, exit} = await installed(place, own);
  expect(exit).toBe(0);
  expect(steps.map(({id}: {id: string}) => id)).toEqual([
    'create-pool',
    'create-token',
    'secret/scalr-agent-token',
    'restart/scalr-agent-agent-local',
    'restarted/scalr-agent-token',
  ]);
  expect((await secretOf(place)).token).toBe(
    poolTokenOf(api.host, poolIn(api).id, tokensIn(api)[0] as string),
  );
});

test('a failure before helm leaves neither a token nor a pool in the account', async () => {
  const place = await installPlace();
  const own = await poolAccount(argv);
  const api = await faultyApi(place.kubeconfig);
  api.inject('PATCH', /\/secrets\/scalr-agent-token/, {status: 403}, 9);
  const {error} = await installed({...place, kubeconfig: api.kubeconfig}, own);
  expect(error.message).toContain(
    'The new token was revoked. Agent pool eks-prod, which this run created, was deleted.',
  );
  expect([...own.api.account.objects.keys()]).toEqual([]);
});

test.each([
  ['before the Secret exists', 'PATCH', /\/secrets\/scalr-agent-token/, 'stall'],
  ['after the Secret is created', 'PATCH', /\/secrets\/scalr-agent-token/, 'lose'],
  ['when helm has written its record', 'POST', /\/secrets/, 'lose'],
] as const)('a run that is killed %s leaves no orphan after the next one, and touches no token of others', async (_, method, path, fault) => {
  const place = await installPlace();
  const own = await poolAccount(argv);
  const {api, env, flags} = own;
  const server = await faultyApi(place.kubeconfig);
  const injected = server.inject(method, path, fault, 1);
  const run = startProgram('install', place, server, helm, [...flags, '--yes'], env);
  await injected.hit;
  run.signal('SIGKILL');
  await run.ended;
  expect(tokensIn(api)).toHaveLength(1);
  const theirs = [
    api.account.token(poolIn(api), {
      description: 'scalr-agent-install cluster=other namespace=scalr release=scalr-agent',
    }).id,
    api.account.token(poolIn(api)).id,
  ];
  agentsOf(place, api);
  expect(await installed(place, own, '--take-over')).toMatchObject({
    exit: 0,
    pool: {created: false},
  });
  const {token, id} = await secretOf(place);
  expect(token).toBe(poolTokenOf(api.host, poolIn(api).id, id));
  expect(tokensIn(api).toSorted()).toEqual([id, ...theirs].toSorted());
  expect(api.account.names('agent-pools')).toEqual(['eks-prod']);
});

test('a release of another account is refused before anything is sent', async () => {
  const place = await installPlace();
  const own = await poolAccount(argv);
  const {stdout} = await install(place, helm, ['--pool', 'eks-prod', ...argv, '--yes', '--json'], {
    env: own.env,
  });
  expect(JSON.parse(stdout).error).toMatchObject({
    code: 'NO_CREDENTIAL',
    message: 'No Scalr API token found for acme.scalr.io.',
  });
  expect(own.api.sent).toEqual([]);
});

test('a token that is given as well is refused', async () => {
  const place = await installPlace();
  const own = await poolAccount(argv);
  const {error} = await installed(place, {...own, env: {...own.env, SCALR_AGENT_TOKEN: 'hunter2'}});
  expect(error).toMatchObject({
    code: 'CONFLICTING_SETTINGS',
    message: expect.stringContaining('SCALR_AGENT_TOKEN'),
  });
  expect(own.api.changes()).toEqual([]);
});

test('preflight compares the agents with the quota of the account, and the pool with the purpose', async () => {
  const place = await installPlace();
  const {api, env} = await poolAccount([]);
  api.account.limits('localhost', {agents: 1, 'agent-relay-available': false});
  api.account.agent(api.account.pool('git', {'vcs-enabled': true}), 'agent-of-another-cluster');
  const checked = async (...more: string[]): Promise<Record<string, string>[]> => {
    const {stdout} = await preflight(
      place,
      helm,
      ['--url', api.url, ...argv.filter((flag) => flag !== '--skip-preflight'), ...more, '--json'],
      {env: {...env, ...TOKEN}},
    );
    expect(JSON.parse(stdout).error).toBeUndefined();
    return JSON.parse(stdout).checks.filter(({id}: {id: string}) => /^agent-|^pool-type/.test(id));
  };
  const message = `${api.host} allows 1 agent: 1 in other releases, 1 in this one`;
  expect(await checked('--pool', 'git')).toMatchObject([
    {id: 'agent-quota', status: 'fail', message},
    {id: 'pool-type', status: 'fail'},
  ]);
  expect(await checked('--purpose', 'vcs')).toMatchObject([
    {id: 'agent-quota'},
    {id: 'agent-relay', status: 'fail'},
  ]);
  api.sent.length = 0;
  expect(await checked('--no-account')).toEqual([]);
  expect(api.sent).toEqual([]);
  api.deny('GET', /^\/accounts/);
  expect(await checked()).toMatchObject([{id: 'agent-quota', status: 'skip'}]);
});
