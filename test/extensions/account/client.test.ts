import {expect, test} from 'vitest';
import {listAgents, listPools, listTokens} from '../../../src/extensions/account/account.ts';
import {findObject, findPool} from '../../../src/extensions/account/find-object.ts';
import {sleep as realSleep} from '../../../src/ground/async.ts';
import {ExpectedError} from '../../../src/ground/errors.ts';
import {Secret} from '../../../src/ground/secret.ts';
import {proxyServer} from '../../checks/preflight/probe/web.ts';
import {clientOf, DIRECT} from './client-of.ts';
import {USER_TOKEN} from './mock-account.ts';
import {mockApi} from './mock-api.ts';

const failureOf = async (work: Promise<unknown>): Promise<ExpectedError> => {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (error instanceof ExpectedError) return error;
  throw new Error(`expected a failure, got ${error}`);
};

const POOLS = /^\/agent-pools$/;

test('reads all pages of a list', async () => {
  const api = await mockApi();
  for (let index = 0; index < 250; index += 1) api.account.pool(`pool-${index}`);
  const {client} = clientOf(api);
  expect(await listPools(client)).toHaveLength(250);
  expect(api.sent.map(({query}) => query.get('page[number]'))).toEqual(['1', '2', '3']);
});

test('sends the token only in the header, and never shows it', async () => {
  const api = await mockApi();
  const {client} = clientOf(api);
  await listPools(client);
  expect(api.sent.map(({authorization}) => authorization)).toEqual([`Bearer ${USER_TOKEN}`]);
  expect(JSON.stringify(client)).not.toContain('eyJ');
});

test('ends a list whose pages lead back', async () => {
  const api = await mockApi();
  const body = JSON.stringify({data: [], meta: {pagination: {'next-page': 1}}});
  api.inject('GET', POOLS, {status: 200, body});
  expect(await listPools(clientOf(api).client)).toEqual([]);
});

test.each([
  ['a gateway error as HTML', {status: 502}, 2],
  ['a cut connection', 'cut', 1],
  ['a truncated answer', 'truncated', 1],
] as const)('repeats a read after %s', async (_, fault, times) => {
  const api = await mockApi();
  api.account.pool('eks-prod');
  api.inject('GET', POOLS, fault, times);
  const {client, waits} = clientOf(api);
  expect((await listPools(client)).map(({name}) => name)).toEqual(['eks-prod']);
  expect(waits).toHaveLength(times);
});

test('gives up after five attempts', async () => {
  const api = await mockApi();
  api.inject('GET', POOLS, {status: 503}, 9);
  const {client, waits} = clientOf(api);
  const failure = await failureOf(listPools(client));
  expect(failure).toMatchObject({
    code: 'SCALR_UNREACHABLE',
    message: `${api.url} reports an error (HTTP 503).`,
  });
  expect(waits).toHaveLength(4);
  expect(waits.every((wait, index) => wait >= 1000 * 2 ** index && wait <= 1250 * 2 ** index)).toBe(
    true,
  );
});

test('waits as long as Retry-After says, even before it repeats a POST', async () => {
  const api = await mockApi();
  api.inject('POST', POOLS, {status: 429, headers: {'retry-after': '7'}});
  const {client, waits} = clientOf(api);
  const data = {type: 'agent-pools', attributes: {name: 'eks-prod'}};
  expect(
    await client.send({method: 'POST', path: '/agent-pools', body: {data}}, {what: 'create it'}),
  ).toMatchObject({type: 'agent-pools'});
  expect(waits).toEqual([7000]);
});

test('does not wait longer than 32 seconds', async () => {
  const api = await mockApi();
  api.inject('GET', POOLS, {status: 429, headers: {'retry-after': '3600'}});
  const {client, waits} = clientOf(api);
  expect((await failureOf(listPools(client))).message).toContain('too many requests (HTTP 429)');
  expect(waits).toEqual([]);
});

test.each([
  'cut',
  'lost',
  'truncated',
  {status: 500},
] as const)('never repeats a POST after %j', async (fault) => {
  const api = await mockApi();
  const pool = api.account.pool('eks-prod');
  api.inject('POST', /access-tokens$/, fault);
  const {client} = clientOf(api);
  const change = {
    method: 'POST',
    path: `/agent-pools/${pool.id}/access-tokens`,
    body: {data: {type: 'access-tokens'}},
  } as const;
  expect((await failureOf(client.send(change, {what: 'create a token'}))).code).toBe(
    'SCALR_UNREACHABLE',
  );
  expect(api.changes()).toEqual([`POST /agent-pools/${pool.id}/access-tokens`]);
});

test('counts a DELETE as done if its answer was lost', async () => {
  const api = await mockApi();
  const pool = api.account.pool('eks-prod');
  api.inject('DELETE', /./, 'lost');
  await clientOf(api).client.send(
    {method: 'DELETE', path: `/agent-pools/${pool.id}`},
    {what: 'delete it'},
  );
  expect(api.account.names('agent-pools')).toEqual([]);
  expect(api.changes()).toHaveLength(2);
});

test('a first DELETE of a missing object fails', async () => {
  const api = await mockApi();
  const change = {method: 'DELETE', path: '/agent-pools/apool-v0gone'} as const;
  expect((await failureOf(clientOf(api).client.send(change, {what: 'delete it'}))).code).toBe(
    'SCALR_NOT_FOUND',
  );
});

test('repeats a read that gets no answer in time', async () => {
  const api = await mockApi();
  api.inject('GET', POOLS, 'silent', 9);
  const {client, waits} = clientOf(api, {timeoutMs: 50});
  expect((await failureOf(listPools(client))).message).toContain('(timed out)');
  expect(waits).toHaveLength(4);
});

test('ends at once when it is interrupted', async () => {
  const api = await mockApi();
  api.inject('GET', POOLS, 'silent');
  const stop = new AbortController();
  const listing = failureOf(
    listPools(clientOf(api, {signal: stop.signal, sleep: realSleep}).client),
  );
  await expect.poll(() => api.sent).toHaveLength(1);
  stop.abort('SIGINT');
  expect((await listing).message).toContain('(interrupted)');
});

test('explains that 404 can mean a missing permission', async () => {
  const api = await mockApi();
  const pool = api.account.pool('eks-prod');
  api.deny('GET', /access-tokens/);
  const failure = await failureOf(
    listTokens(clientOf(api).client, {id: pool.id, name: 'eks-prod'}),
  );
  expect(failure).toMatchObject({
    code: 'SCALR_NOT_FOUND',
    message: expect.stringMatching(
      /^Cannot read tokens of agent pool eks-prod: it does not exist, or your user has no permission \(HTTP 404\)\. Object with ID/,
    ),
    suggestions: [
      'Check the name or ID',
      'Request the permission agent-pools:read for your user in Scalr',
    ],
  });
});

test.each([
  [403, 'SCALR_DENIED', 'Cannot create agent pool x: permission denied (HTTP 403). Not allowed.'],
  [409, 'SCALR_REJECTED', 'Cannot create agent pool x (HTTP 409). Not allowed.'],
  [422, 'SCALR_REJECTED', 'Cannot create agent pool x (HTTP 422). Not allowed.'],
])('reports the details of HTTP %s', async (status, code, message) => {
  const api = await mockApi();
  api.inject('POST', POOLS, {status, body: JSON.stringify({errors: [{title: 'Not allowed'}]})});
  const data = {type: 'agent-pools', attributes: {name: 'x'}};
  const sending = clientOf(api).client.send(
    {method: 'POST', path: '/agent-pools', body: {data}},
    {what: 'create agent pool x'},
  );
  expect(await failureOf(sending)).toMatchObject({code, message});
});

test('reports which field is invalid', async () => {
  const api = await mockApi();
  const data = {
    type: 'agent-pools',
    attributes: {name: 'x'},
    relationships: {environments: {data: [{type: 'environments', id: 'env-v0none'}]}},
  };
  const sending = clientOf(api).client.send(
    {method: 'POST', path: '/agent-pools', body: {data}},
    {what: 'create agent pool x'},
  );
  expect((await failureOf(sending)).message).toContain(
    "Environment with ID 'env-v0none' not found or user unauthorized. (/data/relationships/environments).",
  );
});

test('names the source of a rejected token', async () => {
  const api = await mockApi();
  const {client} = clientOf(api, {
    token: new Secret('eyJhbGciOiJIUzI1NiJ9.e30.x'),
    source: '/home/u/.scalr/scalr.conf',
  });
  const failure = await failureOf(listPools(client));
  expect(failure).toMatchObject({
    code: 'SCALR_DENIED',
    message: `${api.host} rejected the token from /home/u/.scalr/scalr.conf (HTTP 401).`,
  });
});

test.each([
  ['HTML with status 404', {status: 404}],
  ['HTML with status 200', {status: 200}],
  ['a redirect', {status: 302, headers: {location: 'https://login.example.com'}}],
])('recognizes %s as something else than Scalr', async (_, fault) => {
  const api = await mockApi();
  api.inject('GET', POOLS, fault);
  expect((await failureOf(listPools(clientOf(api).client))).message).toContain(
    'does not respond like the Scalr API',
  );
});

test('suggests --ca-file for an untrusted certificate, without another attempt', async () => {
  const api = await mockApi();
  const {client, waits} = clientOf(api, {route: {...DIRECT, ca: []}});
  const failure = await failureOf(listPools(client));
  expect(failure.suggestions[0]).toBe('Add the CA of the host or of the proxy with --ca-file FILE');
  expect(waits).toEqual([]);
});

test('connects through the proxy, and verifies the certificate of the host', async () => {
  const api = await mockApi();
  api.account.pool('eks-prod');
  const {port, asked} = await proxyServer();
  const host = `acme.scalr.io:${new URL(api.url).port}`;
  const route = {proxy: `http://127.0.0.1:${port}`, ca: [api.ca]};
  expect(await listPools(clientOf({...api, host}, {route}).client)).toHaveLength(1);
  expect(asked).toEqual([host]);
  const wrong = clientOf({...api, host: `other.scalr.io:${new URL(api.url).port}`}, {route}).client;
  expect((await failureOf(listPools(wrong))).message).toContain(
    'the certificate is for another host',
  );
});

test('reports a proxy that refuses, without its password', async () => {
  const api = await mockApi();
  const {port} = await proxyServer(407);
  const route = {proxy: `http://user:hunter2@127.0.0.1:${port}`, ca: [api.ca]};
  const {message} = await failureOf(listPools(clientOf(api, {route}).client));
  expect(message).toContain(`the proxy 127.0.0.1:${port} responded with HTTP 407`);
  expect(message).not.toContain('hunter2');
});

test('finds objects by name and by ID', async () => {
  const api = await mockApi();
  const environment = api.account.environment('prod');
  const pool = api.account.pool('eks-prod', {environments: [environment]});
  const {client} = clientOf(api);
  const expected = {
    id: pool.id,
    name: 'eks-prod',
    environments: [{id: environment.id, name: 'prod'}],
  };
  expect(await findPool(client, 'eks-prod')).toMatchObject(expected);
  expect(await findPool(client, pool.id)).toMatchObject(expected);
});

test('lists the candidates of an ambiguous name', async () => {
  const api = await mockApi();
  const prod = api.account.environment('prod');
  const dev = api.account.environment('dev');
  const one = api.account.workspace('net', prod);
  const other = api.account.workspace('net', dev);
  const {client} = clientOf(api);
  const failure = await failureOf(findObject(client, 'workspace', 'net'));
  expect(failure.message).toBe(
    `Several workspaces have the name net: ${one.id} (environment ${prod.id}), ${other.id} (environment ${dev.id}).`,
  );
  expect(await findObject(client, 'workspace', 'dev/net')).toMatchObject({id: other.id});
  expect(await findObject(client, 'workspace', one.id)).toMatchObject({id: one.id});
});

test('suggests the closest name', async () => {
  const api = await mockApi();
  api.account.pool('eks-prod');
  expect((await failureOf(findPool(clientOf(api).client, 'eks-prd'))).suggestions[0]).toBe(
    'Did you mean eks-prod?',
  );
});

test('reads agents with their pool, and an unknown status as unknown', async () => {
  const api = await mockApi();
  const one = api.account.pool('one');
  const other = api.account.pool('other');
  api.account.agent(one, 'a', {status: 'errored', 'error-message': 'disk full'});
  api.account.agent(other, 'b');
  const {client} = clientOf(api);
  expect(await listAgents(client)).toMatchObject([
    {name: 'a', poolId: one.id, status: 'errored', error: 'disk full'},
    {name: 'b', poolId: other.id},
  ]);
  expect(await listAgents(client, other.id)).toMatchObject([{name: 'b'}]);
});

test('a token of a pool is listed without its text', async () => {
  const api = await mockApi();
  const pool = api.account.pool('eks-prod');
  api.account.token(pool, {description: 'cluster one'});
  expect(await listTokens(clientOf(api).client, {id: pool.id, name: 'eks-prod'})).toMatchObject([
    {description: 'cluster one', isExpired: false},
  ]);
});
