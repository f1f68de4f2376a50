import {once} from 'node:events';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {type AddressInfo, connect, createServer, type Server} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createServer as createSecureServer} from 'node:tls';
import {afterAll, describe, expect, onTestFinished, test} from 'vitest';
import {connections} from '../../../src/ground/system/connections.ts';
import type {ConnectionAnswer, ConnectionRequest} from '../../../src/ground/system/system.ts';
import {
  proxyServer,
  secureServer,
  silentServer,
  webServer,
} from '../../checks/preflight/probe/web.ts';
import {issueCertificates} from '../../control-plane/certificates.ts';

const scratch = mkdtempSync(join(tmpdir(), 'connections-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));
const {ca, server, admin: client} = await issueCertificates(scratch);
const own = {cert: readFileSync(server.cert), key: readFileSync(server.key)};
const trusted = readFileSync(ca.cert, 'utf8');

const open = (
  request: Partial<ConnectionRequest> & {port: number},
  timeoutMs = 4000,
): Promise<ConnectionAnswer> =>
  connections.open({host: '127.0.0.1', isTls: true, ...request}, AbortSignal.timeout(timeoutMs));

const OK = {state: 'ok', detail: ''};
async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Nothing listens there. */
const CLOSED = 1;

describe('directly', () => {
  test('connects with TLS to a server whose CA is given', async () => {
    expect(await open({port: await secureServer(own), ca: trusted})).toEqual(OK);
  });

  test('names the issuer of a certificate that is not trusted', async () => {
    const answer = await open({port: await secureServer(own)});
    expect(answer.state).toBe('untrusted');
    expect(answer.detail).not.toBe('');
  });

  test('connects without TLS, and sends nothing', async () => {
    const received: Buffer[] = [];
    const port = await listening(
      createServer(
        (socket) =>
          void socket.on('data', (chunk) => received.push(chunk)).on('error', () => undefined),
      ),
    );
    expect(await open({port, isTls: false})).toEqual(OK);
    expect(Buffer.concat(received).toString()).toBe('');
  });

  test('presents the client certificate to a server that requires one', async () => {
    // TLS 1.3 rejects a client only after its handshake.
    const strict = {...own, ca: trusted, requestCert: true, maxVersion: 'TLSv1.2'} as const;
    const port = await listening(
      createSecureServer(strict, (socket) => void socket.on('error', () => undefined)),
    );
    const certificate = {
      certificate: readFileSync(client.cert, 'utf8'),
      key: readFileSync(client.key, 'utf8'),
    };
    expect(await open({port, ca: trusted, client: certificate})).toEqual(OK);
    expect((await open({port, ca: trusted})).state).toBe('tls');
  });

  test('reports a refused connection, an unknown name and a plain HTTP server', async () => {
    expect(await open({port: CLOSED})).toEqual({state: 'refused', detail: ''});
    expect(await open({host: 'no-such-host.invalid', port: 443})).toEqual({
      state: 'dns',
      detail: '',
    });
    expect((await open({port: await webServer(200)})).state).toBe('tls');
  });

  test('stops at the signal when the server does not answer', async () => {
    expect(await open({port: await silentServer()}, 300)).toEqual({state: 'timeout', detail: ''});
  });
});

describe('through a proxy', () => {
  test('asks it for the host and port, and connects with TLS', async () => {
    const port = await secureServer(own);
    const proxy = await proxyServer();
    expect(
      await open({host: 'localhost', port, ca: trusted, proxy: `http://127.0.0.1:${proxy.port}`}),
    ).toEqual(OK);
    expect(proxy.asked).toEqual([`localhost:${port}`]);
  });

  test('connects with TLS inside of TLS to a proxy with https://, whose CA it must know', async () => {
    const port = await secureServer(own);
    const proxy = await listening(
      createSecureServer(own, (socket) => {
        socket.once('data', () => {
          const there = connect(port, '127.0.0.1', () => {
            socket.write('HTTP/1.1 200 Connected\r\n\r\n');
            there.pipe(socket).pipe(there);
          });
          there.on('error', () => socket.destroy());
        });
        socket.on('error', () => undefined);
      }),
    );
    const request = {host: 'localhost', port: 443, proxy: `https://localhost:${proxy}`};
    expect(await open({...request, ca: trusted})).toEqual(OK);
    expect((await open(request)).state).toBe('proxy-failed');
  });

  test.each([403, 407, 502])('reports that it refuses with %i', async (status) => {
    const proxy = await proxyServer(status);
    expect(await open({port: 443, proxy: `http://127.0.0.1:${proxy.port}`})).toEqual({
      state: 'proxy',
      detail: String(status),
    });
  });

  test('sends its user and password, decoded', async () => {
    const received: Buffer[] = [];
    const port = await listening(
      createServer((socket) => {
        socket.on('error', () => undefined);
        socket.on('data', (chunk) => {
          received.push(chunk);
          socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
        });
      }),
    );
    expect(
      (await open({host: 'acme.scalr.io', port: 443, proxy: `http://ann:p%40ss@127.0.0.1:${port}`}))
        .state,
    ).toBe('proxy');
    const lines = Buffer.concat(received).toString().split('\r\n');
    expect(lines[0]).toBe('CONNECT acme.scalr.io:443 HTTP/1.1');
    expect(lines).toContain(
      `Proxy-Authorization: Basic ${Buffer.from('ann:p@ss').toString('base64')}`,
    );
    expect(lines.join('\n')).not.toMatch(/authorization: bearer/i);
  });

  test('tells failures of the proxy from those behind it', async () => {
    expect((await open({port: 443, proxy: `http://127.0.0.1:${CLOSED}`})).state).toBe(
      'proxy-refused',
    );
    expect((await open({port: 443, proxy: 'http://no-such-host.invalid:3128'})).state).toBe(
      'proxy-dns',
    );
    expect(
      (await open({port: 443, proxy: `http://127.0.0.1:${await silentServer()}`}, 300)).state,
    ).toBe('timeout');
  });

  test('reports a proxy that is no proxy, or that closes the connection', async () => {
    expect(
      (await open({port: 443, proxy: `http://127.0.0.1:${await webServer(200)}`})).state,
    ).toMatch(/proxy|tls/);
    const port = await listening(
      createServer((socket) => void socket.on('error', () => undefined).end()),
    );
    const answer = await open({port: 443, proxy: `http://127.0.0.1:${port}`});
    expect(answer).toEqual({state: 'proxy', detail: 'no complete response'});
  });
});
