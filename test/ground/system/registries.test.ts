import {once} from 'node:events';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
import {registries} from '../../../src/ground/system/connections.ts';
import {MANIFEST_TYPES, manifestUrl} from '../../../src/settings/kinds/images.ts';

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;
const MANIFEST = {'content-type': MANIFEST_TYPES[0], 'docker-content-digest': DIGEST};

async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ask = (host: string, signal = AbortSignal.timeout(5000)) =>
  registries.manifest(manifestUrl(`${host}/mirror/scalr/agent:1.4.0`), MANIFEST_TYPES, signal);

test('asks for the headers of an image for any platform, and reads the digest', async () => {
  const asked: unknown[] = [];
  const host = await serve(({method, url, headers}, response) => {
    asked.push([method, url, headers.accept?.split(', ')]);
    response.writeHead(200, MANIFEST).end();
  });
  expect(await ask(host)).toEqual({state: 'found', digest: DIGEST});
  expect(asked).toEqual([['HEAD', '/v2/mirror/scalr/agent/manifests/1.4.0', MANIFEST_TYPES]]);
});

test.each([
  [404, {}, {state: 'missing'}],
  [401, {}, {state: 'denied'}],
  [401, {'www-authenticate': 'Basic realm="registry"'}, {state: 'denied'}],
  [401, {'www-authenticate': 'Bearer realm="nothing"'}, {state: 'denied'}],
  [403, {}, {state: 'denied'}],
  [503, {}, {state: 'failed', because: 'it responded with HTTP 503'}],
  [200, {'content-type': MANIFEST_TYPES[2]}, {state: 'found'}],
  [
    200,
    {'content-type': 'text/html'},
    {state: 'failed', because: 'it responded with text/html instead of a manifest'},
  ],
])('reads the status %i with headers %o', async (status, headers, expected) => {
  expect(
    await ask(await serve((_, response) => void response.writeHead(status, headers).end())),
  ).toEqual(expected);
});

test.each([
  [200, {state: 'found', digest: DIGEST}],
  [403, {state: 'denied'}],
])('requests an anonymous token if the registry demands one, which answers %i', async (status, expected) => {
  const asked: string[] = [];
  const host = await serve(({url = '', headers}, response) => {
    asked.push(`${url} ${headers.authorization ?? ''}`.trim());
    if (url.startsWith('/token'))
      response.writeHead(status).end(JSON.stringify({token: 'anonymous'}));
    else if (headers.authorization === 'Bearer anonymous') response.writeHead(200, MANIFEST).end();
    else
      response
        .writeHead(401, {
          'www-authenticate': `Bearer realm="http://${headers.host}/token",service="registry",scope="repository:mirror/scalr/agent:pull"`,
        })
        .end();
  });
  expect(await ask(host)).toEqual(expected);
  expect(asked[1]).toBe('/token?service=registry&scope=repository%3Amirror%2Fscalr%2Fagent%3Apull');
});

test('reports why a registry cannot be reached', async () => {
  expect(await ask('127.0.0.1:1')).toMatchObject({state: 'failed'});
  expect(await ask('nobody.invalid')).toEqual({state: 'failed', because: 'host name not found'});
  const closed = await serve(() => undefined);
  expect(await ask(closed, AbortSignal.timeout(100))).toEqual({
    state: 'failed',
    because: 'timed out',
  });
});
