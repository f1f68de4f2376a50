import {expect, test} from 'vitest';
import {apiErrorInText, apiErrorOf} from '../../../src/cluster/kubernetes/api-error.ts';
import type {ApiResult} from '../../../src/cluster/kubernetes/client.ts';
import {listAll} from '../../../src/cluster/kubernetes/resources.ts';
import {retryAfter} from '../../../src/ground/fact.ts';

const signal = new AbortController().signal;

/** An API that has these answers, in this order. */
function scripted(...answers: ApiResult[]) {
  const asked: string[] = [];
  const get = async (path: string): Promise<ApiResult> => {
    asked.push(path);
    return answers[asked.length - 1] as ApiResult;
  };
  return {asked, get};
}

const page = (items: unknown[], next?: string): ApiResult => ({
  status: 200,
  body: {items, metadata: next ? {continue: next} : {}},
});

test('reads a list in pages', async () => {
  const api = scripted(page([1, 2], 'a+b'), page([3]));
  expect(await listAll(api, '/api/v1/pods', {signal}, 2)).toEqual({items: [1, 2, 3]});
  expect(api.asked).toEqual(['/api/v1/pods?limit=2', '/api/v1/pods?limit=2&continue=a%2Bb']);
});

test('keeps the query of a path', async () => {
  const api = scripted(page([]));
  await listAll(api, '/api/v1/events?fieldSelector=type%3DWarning', {signal}, 2);
  expect(api.asked).toEqual(['/api/v1/events?fieldSelector=type%3DWarning&limit=2']);
});

test('keeps the items before an error', async () => {
  const error = {kind: 'stalled', message: 'no response for 20 s'} as const;
  expect(await listAll(scripted(page([1], 'x'), {error}), '/pods', {signal})).toEqual({
    items: [1],
    error,
  });
});

test('continues an expired list with the token of the API server', async () => {
  const gone = {
    error: apiErrorOf(410, {kind: 'Status', message: 'too old', metadata: {continue: 'fresh'}}),
  };
  expect(await listAll(scripted(page([1], 'old'), gone, page([2])), '/pods', {signal})).toEqual({
    items: [1, 2],
  });
  const stuck = {
    error: apiErrorOf(410, {kind: 'Status', message: 'too old', metadata: {continue: 'old'}}),
  };
  expect(await listAll(scripted(page([1], 'old'), stuck), '/pods', {signal})).toMatchObject({
    items: [1],
    error: {kind: 'expired'},
  });
});

test('reports an error when the response is not a list', async () => {
  expect(await listAll(scripted({status: 200, body: 'ok'}), '/readyz', {signal})).toMatchObject({
    items: [],
    error: {kind: 'refused', message: 'the response for /readyz is not a list'},
  });
});

test('reads the retry delay from the Status of the server', () => {
  expect(
    apiErrorOf(429, {kind: 'Status', message: 'later', details: {retryAfterSeconds: 3}}),
  ).toMatchObject({retryAfterMs: 3000});
  expect(
    apiErrorOf(
      429,
      {kind: 'Status', message: 'later', details: {retryAfterSeconds: 3}},
      {
        retryAfterMs: 1000,
      },
    ),
  ).toMatchObject({retryAfterMs: 1000});
});

test.each([
  ['dial tcp 10.0.0.1:6443: connect: connection refused', 'unreachable'],
  [
    'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    'unreachable',
  ],
  ['getting credentials: exec: executable aws failed with exit code 255', 'not-logged-in'],
  ['no healthy upstream', 'server'],
  [
    {
      kind: 'Status',
      message:
        'Get "https://10.0.0.9:10250/containerLogs": dial tcp 10.0.0.9:10250: connect: refused',
    },
    'server',
  ],
])('classifies a plain text error as a connection problem: %s', (body, kind) => {
  expect(apiErrorOf(500, body).kind).toBe(kind);
});

test.each([
  ['7', 7000],
  ['Sat, 21 Nov 2026 12:00:05 GMT', 5000],
  ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After: %s', (header, expected) => {
  expect(retryAfter(header, new Date('2026-11-21T12:00:00Z'))).toBe(expected);
});

test.each([
  ['Error from server (TooManyRequests): later', 'busy'],
  [
    'Error from server (ServiceUnavailable): the server is currently unable to handle the request',
    'server',
  ],
  ['Error from server: etcdserver: request timed out', 'server'],
  ['W1121 12:00:00 warning\nUnable to connect to the server: dial tcp: i/o timeout', 'unreachable'],
  ['error: getting credentials: exec: executable aws not found', 'not-logged-in'],
  ['error: unexpected EOF', 'truncated'],
  [
    'Error in configuration: \n* unable to read client-cert /a.crt for prod due to open /a.crt: permission denied',
    'unreachable',
  ],
  ['', 'unreachable'],
])('parses the kubectl error: %s', (stderr, kind) => {
  expect(apiErrorInText(stderr).kind).toBe(kind);
});

test('keeps the file of a kubeconfig that cannot be read', () => {
  const file = '* unable to read client-cert /a.crt for prod due to open /a.crt: permission denied';
  expect(apiErrorInText(`Error in configuration: \n${file}`).message).toBe(file);
});
