import {getEventListeners} from 'node:events';
import {expect, onTestFinished, test} from 'vitest';
import type {ApiReader} from '../../src/kubernetes/client.ts';
import {httpClient} from '../../src/kubernetes/http-client.ts';
import {byPath, cutsAfter, refuses, resets, says, socketThatPlays, stalls} from './faulty-socket.ts';
import {readLog} from './read-log.ts';

const forEver = new AbortController().signal;

function apiOn(socketPath: string): ApiReader {
  const api = httpClient(socketPath);
  onTestFinished(() => api.close());
  return api;
}

test('JSON is parsed, other text is a text, and both come over one connection', async () => {
  const {socketPath, asked, connections} = await socketThatPlays(says('{"items":[]}'), says('ok'), says('', 204));
  const api = apiOn(socketPath);
  expect(await api.get('/api/v1/pods?limit=1', {over: forEver})).toEqual({status: 200, body: {items: []}});
  expect(await api.get('/readyz', {over: forEver})).toEqual({status: 200, body: 'ok'});
  expect(await api.get('/none', {over: forEver})).toEqual({status: 204, body: ''});
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
])('%i with "%s" is %s, and nobody asks again', async (status, message, kind) => {
  const {socketPath, asked} = await socketThatPlays(refuses(status, message));
  const api = apiOn(socketPath);
  expect(await api.get('/a', {over: forEver})).toEqual({trouble: {kind, message, status}});
  expect(await api.stream('/b', {over: forEver})).toEqual({trouble: {kind, message, status}});
  expect(asked).toHaveLength(2);
});

test.each([
  ['429', refuses(429, 'Too many requests', {'retry-after': '1'})],
  ['401 of a login that is renewed', refuses(401, 'Unauthorized')],
  ['500', refuses(500, 'etcdserver: request timed out')],
  ['502', says('dial tcp: connection refused', 502)],
  ['503', says('no healthy upstream', 503)],
  ['a connection that is reset', resets],
])('%s and then success is success', async (_, fault) => {
  const {socketPath, asked} = await socketThatPlays(fault, says('log'), fault, says('{}'));
  const api = apiOn(socketPath);
  expect(await readLog(await api.stream('/log', {over: forEver}))).toEqual({text: 'log', trouble: undefined});
  expect(await api.get('/get', {over: forEver})).toEqual({status: 200, body: {}});
  expect(asked).toEqual(['/log', '/log', '/get', '/get']);
});

test('who wants to be left alone gets the time that was named', async () => {
  const {socketPath} = await socketThatPlays(refuses(429, 'later', {'retry-after': '1'}), says('{}'));
  const start = Date.now();
  await apiOn(socketPath).get('/', {over: forEver});
  expect(Date.now() - start).toBeGreaterThanOrEqual(1000);
});

test('who wants to be left alone for long is left alone', async () => {
  const {socketPath, asked} = await socketThatPlays(refuses(429, 'much later', {'retry-after': '600'}));
  expect(await apiOn(socketPath).get('/', {over: forEver})).toEqual({
    trouble: {kind: 'busy', message: 'much later', status: 429, retryAfterMs: 600_000},
  });
  expect(asked).toHaveLength(1);
});

test('a server that goes on failing is given up', async () => {
  const {socketPath, asked} = await socketThatPlays(says('upstream\nsays more', 503));
  expect(await apiOn(socketPath).get('/', {over: forEver})).toEqual({trouble: {kind: 'server', message: 'upstream', status: 503}});
  expect(asked).toHaveLength(3);
});

test('who is not logged in is told so', async () => {
  const {socketPath, asked} = await socketThatPlays(refuses(401, 'Unauthorized'));
  expect(await apiOn(socketPath).get('/', {over: forEver})).toMatchObject({trouble: {kind: 'not-logged-in', status: 401}});
  expect(asked).toHaveLength(2);
});

test('once it is clear that nobody answers, no time is lost on asking again', async () => {
  const {socketPath, asked} = await socketThatPlays(says('connection refused', 502));
  const api = apiOn(socketPath);
  await Promise.all([1, 2, 3].map(() => api.get('/', {over: forEver})));
  const before = asked.length;
  expect(await api.get('/', {over: forEver})).toMatchObject({trouble: {kind: 'unreachable'}});
  expect(asked.length - before).toBe(1);
});

test('a log that is cut in the middle keeps what came, and says so', async () => {
  const {socketPath, asked} = await socketThatPlays(cutsAfter('half of '));
  expect(await readLog(await apiOn(socketPath).stream('/log', {over: forEver}))).toMatchObject({
    text: 'half of ',
    trouble: {kind: 'truncated'},
  });
  expect(asked).toHaveLength(1);
});

test('an answer that is cut is asked for again', async () => {
  const {socketPath} = await socketThatPlays(cutsAfter('{"items'), says('{"items":[]}'));
  expect(await apiOn(socketPath).get('/', {over: forEver})).toEqual({status: 200, body: {items: []}});
});

test('a log that stalls is left after the idle time, with what came', async () => {
  const {socketPath} = await socketThatPlays(stalls('begun'));
  expect(await readLog(await apiOn(socketPath).stream('/log', {over: forEver, idleMs: 300}))).toEqual({
    text: 'begun',
    trouble: {kind: 'stalled', message: 'there was no answer for 0.3 s'},
  });
});

test('so is one that says nothing at all, and nobody asks again', async () => {
  const {socketPath, asked} = await socketThatPlays(stalls());
  const api = apiOn(socketPath);
  expect(await api.stream('/log', {over: forEver, idleMs: 300})).toMatchObject({trouble: {kind: 'stalled'}});
  expect(await api.get('/get', {over: forEver, idleMs: 300})).toMatchObject({trouble: {kind: 'stalled'}});
  expect(asked).toHaveLength(2);
});

test('a reader that takes its time is no server that stalls', async () => {
  const {socketPath} = await socketThatPlays((outgoing) => {
    outgoing.write('one');
    setTimeout(() => outgoing.end('two'), 50);
  });
  const opened = await apiOn(socketPath).stream('/log', {over: forEver, idleMs: 200});
  if (opened.trouble) throw new Error(opened.trouble.message);
  const chunks: string[] = [];
  for await (const chunk of opened.chunks) {
    chunks.push(String(chunk));
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  expect(chunks).toEqual(['one', 'two']);
  expect(await opened.end).toBeUndefined();
});

test('a signal ends what is under way, what waits for its turn and what waits to ask again', async () => {
  const {socketPath} = await socketThatPlays(byPath({'/busy': refuses(429, 'later', {'retry-after': '20'}), '/log': stalls('begun')}));
  const api = apiOn(socketPath);
  const controller = new AbortController();
  const wish = {over: controller.signal};
  const logs = Array.from({length: 30}, () => api.stream('/log', wish));
  const begun = await Promise.race(logs);
  const reading = readLog(begun);
  const busy = api.get('/busy', wish);
  const start = Date.now();
  controller.abort('SIGINT');
  expect((await reading).trouble).toMatchObject({kind: 'over'});
  for (const opened of await Promise.all(logs)) expect(await (opened.trouble ?? opened.end)).toMatchObject({kind: 'over'});
  expect((await busy).trouble).toBeDefined();
  expect(await api.get('/log', wish)).toMatchObject({trouble: {kind: 'over'}});
  expect(Date.now() - start).toBeLessThan(2000);
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});

test('closing ends what is under way too, and twice is once', async () => {
  const {socketPath} = await socketThatPlays(stalls('begun'));
  const api = httpClient(socketPath);
  const reading = readLog(await api.stream('/log', {over: forEver}));
  await api.close();
  await api.close();
  expect((await reading).trouble).toMatchObject({kind: 'over'});
  expect(await api.get('/', {over: forEver})).toMatchObject({trouble: {kind: 'over'}});
});

test('nothing listens to the signal of the caller once an answer is there, however it ended', async () => {
  const {socketPath} = await socketThatPlays(says('{}'), refuses(403, 'no'), says('log'), cutsAfter('log'), says('long log'));
  const api = apiOn(socketPath);
  const {signal} = new AbortController();
  await api.get('/', {over: signal});
  await api.get('/', {over: signal});
  await readLog(await api.stream('/', {over: signal}));
  await readLog(await api.stream('/', {over: signal}));
  const left = await api.stream('/', {over: signal});
  if (left.trouble) throw new Error(left.trouble.message);
  for await (const _ of left.chunks) break;
  expect(await left.end).toBeUndefined();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('nobody at the socket is trouble like any other', async () => {
  expect(await apiOn('/nowhere/socket').get('/', {over: forEver})).toMatchObject({trouble: {kind: 'unreachable'}});
});

test('logs that wait for their readers hold up no question', async () => {
  const {socketPath} = await socketThatPlays(byPath({'/log': stalls('x'), '/get': says('{}')}));
  const api = apiOn(socketPath);
  const logs = Array.from({length: 12}, () => api.stream('/log', {over: forEver}));
  await Promise.all(logs);
  expect(await api.get('/get', {over: forEver})).toEqual({status: 200, body: {}});
});

test('logs that are followed hold up neither questions nor logs, however many there are', async () => {
  const {socketPath} = await socketThatPlays(byPath({'/follow': stalls('x'), '/log': says('log'), '/get': says('{}')}));
  const api = apiOn(socketPath);
  const followed = await Promise.all(Array.from({length: 40}, () => api.stream('/follow', {over: forEver, follows: true})));
  expect(followed.filter(({trouble}) => trouble)).toEqual([]);
  expect(await api.get('/get', {over: forEver})).toEqual({status: 200, body: {}});
  expect(await readLog(await api.stream('/log', {over: forEver}))).toEqual({text: 'log', trouble: undefined});
});

test('the clock of the server is known where it says it, and its dates are meant by it', async () => {
  const date = 'Sat, 21 Nov 2026 03:00:00 GMT';
  const later = {date, 'retry-after': 'Sat, 21 Nov 2026 03:00:01 GMT'};
  const {socketPath, asked} = await socketThatPlays(refuses(429, 'later', later), says('{}', 200, {date}));
  expect(await apiOn(socketPath).get('/', {over: forEver})).toEqual({status: 200, body: {}, date: new Date(date)});
  expect(asked).toHaveLength(2);
});

test('an answer that is too large to be meant is not kept', async () => {
  const part = Buffer.alloc(1024 * 1024, 'x');
  const {socketPath} = await socketThatPlays((outgoing) => {
    const more = (): void => {
      if (!outgoing.destroyed) outgoing.write(part, more);
    };
    more();
  });
  expect(await apiOn(socketPath).get('/', {over: forEver})).toMatchObject({trouble: {kind: 'too-large'}});
});
