import {getEventListeners} from 'node:events';
import {expect, onTestFinished, test} from 'vitest';
import type {ApiReader} from '../../../src/cluster/kubernetes/client.ts';
import {httpClient} from '../../../src/cluster/kubernetes/http-client.ts';
import {limitedClient} from '../../../src/cluster/kubernetes/with-retries.ts';
import {sleep} from '../../../src/ground/async.ts';
import {fakeKubernetes} from '../../support/fake-kubernetes.ts';
import {
  byPath,
  cutsAfter,
  refuses,
  resets,
  says,
  socketThatPlays,
  stalls,
} from './faulty-socket.ts';
import {readLog} from './read-log.ts';

const forEver = new AbortController().signal;

function apiOn(socketPath: string): ApiReader {
  const api = httpClient(socketPath);
  onTestFinished(() => api.close());
  return api;
}

test('parses JSON, returns other content as text, and uses one connection for both', async () => {
  const {socketPath, asked, connections} = await socketThatPlays(
    says('{"items":[]}'),
    says('ok'),
    says('', 204),
  );
  const api = apiOn(socketPath);
  expect(await api.get('/api/v1/pods?limit=1', {signal: forEver})).toEqual({
    status: 200,
    body: {items: []},
  });
  expect(await api.get('/readyz', {signal: forEver})).toEqual({status: 200, body: 'ok'});
  expect(await api.get('/none', {signal: forEver})).toEqual({status: 204, body: ''});
  expect(asked).toEqual(['/api/v1/pods?limit=1', '/readyz', '/none']);
  expect(connections.size).toBe(1);
});

test.each([
  [403, 'pods is forbidden', 'forbidden'],
  [404, 'pods "a" not found', 'not-found'],
  [410, 'too old', 'expired'],
  [400, 'container "a" in pod "b" is waiting to start: ContainerCreating', 'not-started'],
  [400, 'previous terminated container "a" in pod "b" not found', 'not-started'],
  [400, 'container nope is not valid for pod a', 'refused'],
])('returns %i with "%s" as %s without a retry', async (status, message, kind) => {
  const {socketPath, asked} = await socketThatPlays(refuses(status, message));
  const api = apiOn(socketPath);
  expect(await api.get('/a', {signal: forEver})).toEqual({error: {kind, message, status}});
  expect(await api.stream('/b', {signal: forEver})).toEqual({error: {kind, message, status}});
  expect(asked).toHaveLength(2);
});

test.each([
  ['429', refuses(429, 'Too many requests', {'retry-after': '1'})],
  ['401 of a login that is renewed', refuses(401, 'Unauthorized')],
  ['500', refuses(500, 'etcdserver: request timed out')],
  ['502', says('dial tcp: connection refused', 502)],
  ['503', says('no healthy upstream', 503)],
  ['a connection that is reset', resets],
])('succeeds after %s', async (_, fault) => {
  const {socketPath, asked} = await socketThatPlays(fault, says('log'), fault, says('{}'));
  const api = apiOn(socketPath);
  expect(await readLog(await api.stream('/log', {signal: forEver}))).toEqual({
    text: 'log',
    error: undefined,
  });
  expect(await api.get('/get', {signal: forEver})).toEqual({status: 200, body: {}});
  expect(asked).toEqual(['/log', '/log', '/get', '/get']);
});

test('waits as long as the server requests', async () => {
  const {socketPath} = await socketThatPlays(
    refuses(429, 'later', {'retry-after': '1'}),
    says('{}'),
  );
  const start = Date.now();
  await apiOn(socketPath).get('/', {signal: forEver});
  expect(Date.now() - start).toBeGreaterThanOrEqual(1000);
});

test('does not retry when the server requests a long delay', async () => {
  const {socketPath, asked} = await socketThatPlays(
    refuses(429, 'much later', {'retry-after': '600'}),
  );
  expect(await apiOn(socketPath).get('/', {signal: forEver})).toEqual({
    error: {kind: 'busy', message: 'much later', status: 429, retryAfterMs: 600_000},
  });
  expect(asked).toHaveLength(1);
});

test('stops retrying a server that keeps failing', async () => {
  const {socketPath, asked} = await socketThatPlays(says('upstream\nsays more', 503));
  expect(await apiOn(socketPath).get('/', {signal: forEver})).toEqual({
    error: {kind: 'server', message: 'upstream', status: 503},
  });
  expect(asked).toHaveLength(3);
});

test('reports missing authentication', async () => {
  const {socketPath, asked} = await socketThatPlays(refuses(401, 'Unauthorized'));
  expect(await apiOn(socketPath).get('/', {signal: forEver})).toMatchObject({
    error: {kind: 'not-logged-in', status: 401},
  });
  expect(asked).toHaveLength(2);
});

test('stops retrying after several requests without a connection', async () => {
  const {socketPath, asked} = await socketThatPlays(says('connection refused', 502));
  const api = apiOn(socketPath);
  await Promise.all([1, 2, 3].map(() => api.get('/', {signal: forEver})));
  const before = asked.length;
  expect(await api.get('/', {signal: forEver})).toMatchObject({error: {kind: 'unreachable'}});
  expect(asked.length - before).toBe(1);
});

test('keeps the start of a truncated log, and reports it', async () => {
  const {socketPath, asked} = await socketThatPlays(cutsAfter('half of '));
  expect(await readLog(await apiOn(socketPath).stream('/log', {signal: forEver}))).toMatchObject({
    text: 'half of ',
    error: {kind: 'truncated'},
  });
  expect(asked).toHaveLength(1);
});

test('retries a truncated response', async () => {
  const {socketPath} = await socketThatPlays(cutsAfter('{"items'), says('{"items":[]}'));
  expect(await apiOn(socketPath).get('/', {signal: forEver})).toEqual({
    status: 200,
    body: {items: []},
  });
});

test('says that the connection was closed when every response is truncated', async () => {
  const {socketPath} = await socketThatPlays(
    ...Array.from({length: 3}, () => cutsAfter('{"items')),
  );
  expect(await apiOn(socketPath).get('/', {signal: forEver})).toMatchObject({
    error: {
      kind: 'truncated',
      message: 'the connection was closed before the response was complete',
    },
  });
});

test('stops a stalled log after the idle time, and keeps its start', async () => {
  const {socketPath} = await socketThatPlays(stalls('begun'));
  expect(
    await readLog(await apiOn(socketPath).stream('/log', {signal: forEver, idleMs: 300})),
  ).toEqual({
    text: 'begun',
    error: {kind: 'stalled', message: 'no response for 0.3 s'},
  });
});

test('stops a log without any data after the idle time, without a retry', async () => {
  const {socketPath, asked} = await socketThatPlays(stalls());
  const api = apiOn(socketPath);
  expect(await api.stream('/log', {signal: forEver, idleMs: 300})).toMatchObject({
    error: {kind: 'stalled'},
  });
  expect(await api.get('/get', {signal: forEver, idleMs: 300})).toMatchObject({
    error: {kind: 'stalled'},
  });
  expect(asked).toHaveLength(2);
});

test('does not count the time of a slow reader as stalled', async () => {
  const {socketPath} = await socketThatPlays((outgoing) => {
    outgoing.write('one');
    setTimeout(() => outgoing.end('two'), 50);
  });
  const opened = await apiOn(socketPath).stream('/log', {signal: forEver, idleMs: 200});
  if (opened.error) throw new Error(opened.error.message);
  const chunks: string[] = [];
  for await (const chunk of opened.chunks) {
    chunks.push(String(chunk));
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  expect(chunks).toEqual(['one', 'two']);
  expect(await opened.end).toBeUndefined();
});

test('aborts active, queued and delayed requests with the signal', async () => {
  const {socketPath} = await socketThatPlays(
    byPath({'/busy': refuses(429, 'later', {'retry-after': '20'}), '/log': stalls('begun')}),
  );
  const api = apiOn(socketPath);
  const controller = new AbortController();
  const options = {signal: controller.signal};
  const logs = Array.from({length: 30}, () => api.stream('/log', options));
  const begun = await Promise.race(logs);
  const reading = readLog(begun);
  const busy = api.get('/busy', options);
  const start = Date.now();
  controller.abort('SIGINT');
  expect((await reading).error).toMatchObject({kind: 'aborted'});
  for (const opened of await Promise.all(logs))
    expect(await (opened.error ?? opened.end)).toMatchObject({kind: 'aborted'});
  expect((await busy).error).toBeDefined();
  expect(await api.get('/log', options)).toMatchObject({error: {kind: 'aborted'}});
  // Less than the server asked for.
  expect(Date.now() - start).toBeLessThan(20_000);
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});

test('aborts active requests when it is closed, and can be closed twice', async () => {
  const {socketPath} = await socketThatPlays(stalls('begun'));
  const api = httpClient(socketPath);
  const reading = readLog(await api.stream('/log', {signal: forEver}));
  await api.close();
  await api.close();
  expect((await reading).error).toMatchObject({kind: 'aborted'});
  expect(await api.get('/', {signal: forEver})).toMatchObject({error: {kind: 'aborted'}});
});

test('removes its listeners from the signal when a request has ended', async () => {
  const {socketPath} = await socketThatPlays(
    says('{}'),
    refuses(403, 'no'),
    says('log'),
    cutsAfter('log'),
    says('long log'),
  );
  const api = apiOn(socketPath);
  const {signal} = new AbortController();
  await api.get('/', {signal});
  await api.get('/', {signal});
  await readLog(await api.stream('/', {signal}));
  await readLog(await api.stream('/', {signal}));
  const left = await api.stream('/', {signal});
  if (left.error) throw new Error(left.error.message);
  for await (const _ of left.chunks) break;
  expect(await left.end).toBeUndefined();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('reports a missing server as an error', async () => {
  expect(await apiOn('/nowhere/socket').get('/', {signal: forEver})).toMatchObject({
    error: {kind: 'unreachable'},
  });
});

test('does not block queries by logs that wait for their readers', async () => {
  const {socketPath} = await socketThatPlays(byPath({'/log': stalls('x'), '/get': says('{}')}));
  const api = apiOn(socketPath);
  const logs = Array.from({length: 12}, () => api.stream('/log', {signal: forEver}));
  await Promise.all(logs);
  expect(await api.get('/get', {signal: forEver})).toEqual({status: 200, body: {}});
});

test('does not block queries and logs by any number of followed logs', async () => {
  const {socketPath} = await socketThatPlays(
    byPath({'/follow': stalls('x'), '/log': says('log'), '/get': says('{}')}),
  );
  const api = apiOn(socketPath);
  const followed = await Promise.all(
    Array.from({length: 40}, () => api.stream('/follow', {signal: forEver, follows: true})),
  );
  expect(followed.filter(({error}) => error)).toEqual([]);
  expect(await api.get('/get', {signal: forEver})).toEqual({status: 200, body: {}});
  expect(await readLog(await api.stream('/log', {signal: forEver}))).toEqual({
    text: 'log',
    error: undefined,
  });
});

test('returns the clock of the server when it sends one', async () => {
  const date = 'Sat, 21 Nov 2026 03:00:00 GMT';
  const later = {date, 'retry-after': 'Sat, 21 Nov 2026 03:00:01 GMT'};
  const {socketPath, asked} = await socketThatPlays(
    refuses(429, 'later', later),
    says('{}', 200, {date}),
  );
  expect(await apiOn(socketPath).get('/', {signal: forEver})).toEqual({
    status: 200,
    body: {},
    date: new Date(date),
  });
  expect(asked).toHaveLength(2);
});

test('rejects a response that is too large', async () => {
  const part = Buffer.alloc(1024 * 1024, 'x');
  const {socketPath} = await socketThatPlays((outgoing) => {
    const more = (): void => {
      if (!outgoing.destroyed) outgoing.write(part, more);
    };
    more();
  });
  expect(await apiOn(socketPath).get('/', {signal: forEver})).toMatchObject({
    error: {kind: 'too-large'},
  });
});

test('a limited client sends its requests in turn, and drops those that are aborted before', async () => {
  let open = 0;
  let most = 0;
  const get: ApiReader['get'] = async () => {
    open += 1;
    most = Math.max(most, open);
    await sleep(5, forEver);
    open -= 1;
    return {status: 200, body: {}};
  };
  const aborting = new AbortController();
  const api = limitedClient({...fakeKubernetes(), get}, 3);
  const answers = Array.from({length: 10}, () => api.get('/', {signal: forEver}));
  const late = api.get('/late', {signal: aborting.signal});
  aborting.abort();
  expect(await late).toMatchObject({error: {kind: 'aborted'}});
  expect(await Promise.all(answers)).toHaveLength(10);
  expect(most).toBe(3);
});
