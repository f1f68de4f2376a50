import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {meant} from '../../../src/execute/explain/agent-log.ts';
import {LogWords} from '../../../src/support-bundle/findings/log-words.ts';

const TOKEN = '{"level":"error","event":"401 Client Error: Unauthorized for url: https://acme.scalr.io"}';

function read(text: string, size = text.length): ReturnType<LogWords['end']> {
  const words = new LogWords();
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += Math.max(size, 1)) words.push(bytes.subarray(from, from + size));
  return words.end();
}

describe('what a log says', () => {
  test.each([
    ['READY', 'The agent is ready to receive tasks'],
    ['TOKEN_REJECTED', '401 Client Error: Unauthorized for url'],
    ['TOKEN_REJECTED', 'unauthorised (status 401)'],
    ['TOKEN_REJECTED', 'Invalid agent token'],
    ['TOKEN_REJECTED', 'the token has been revoked'],
    ['TOKEN_REJECTED', 'TOKEN EXPIRED'],
    ['TLS_UNKNOWN_AUTHORITY', 'x509: certificate signed by unknown authority'],
    ['TLS_UNKNOWN_AUTHORITY', '[SSL: CERTIFICATE_VERIFY_FAILED] unable to get local issuer certificate'],
    ['TLS_CERTIFICATE_INVALID', 'x509: certificate has expired or is not yet valid: current time 2026-11-21'],
    ['TLS_CERTIFICATE_INVALID', 'x509: certificate is valid for a.example.com, not acme.scalr.io'],
    ['TLS_CERTIFICATE_INVALID', "hostname 'acme.scalr.io' doesn't match 'proxy.local'"],
    ['TLS_FAILED', 'ssl.SSLEOFError: EOF occurred in violation of protocol'],
    ['TLS_FAILED', 'net/http: TLS handshake timeout'],
    ['TLS_FAILED', 'remote error: tls: internal error'],
    ['TLS_FAILED', 'SSL routines::tlsv1 alert internal error'],
    ['PROXY_REFUSED', 'OSError: Tunnel connection failed: 407 Proxy Authentication Required'],
    ['PROXY_REFUSED', 'requests.exceptions.ProxyError: Cannot connect to proxy.'],
    ['PROXY_REFUSED', 'curl: (56) Received HTTP code 407 from proxy after CONNECT'],
    ['PROXY_REFUSED', 'proxyconnect tcp: dial tcp 10.0.0.1:3128: i/o timeout'],
    ['AGENT_FORBIDDEN', 'pods is forbidden: User "system:serviceaccount:scalr:agent" cannot create resource "pods"'],
    ['DISK_FULL', "OSError: [Errno 28] No space left on device: '/var/lib/scalr-agent/x'"],
    ['DISK_FULL', 'write /tmp/plan: disk quota exceeded'],
    ['DATA_NOT_WRITABLE', "PermissionError: [Errno 13] Permission denied: '/var/lib/scalr-agent'"],
    ['DATA_NOT_WRITABLE', 'mkdir: read-only file system: /data'],
    ['DNS_FAILED', 'Failed to resolve: [Errno -3] Temporary failure in name resolution'],
    ['DNS_FAILED', 'dial tcp: lookup acme.scalr.io: no such host'],
    ['DNS_FAILED', 'socket.gaierror: getaddrinfo failed'],
    ['SCALR_UNREACHABLE', 'HTTPSConnectionPool: Max retries exceeded with url: /api'],
    ['SCALR_UNREACHABLE', 'dial tcp 10.0.0.1:443: connect: connection refused'],
    ['SCALR_UNREACHABLE', 'ConnectTimeout: timed out'],
    ['SCALR_UNREACHABLE', '[Errno 113] No route to host'],
  ])('%s: %s, with its line, below the time of the node and in JSON', (meaning, line) => {
    const json = JSON.stringify({event: 'tried', level: 'error', exception: line, timestamp: '2026-11-21 08:00:01.5'});
    const {lines, said} = read(`start\n2026-11-21T08:00:00.123Z ${line}\n\n2026-11-21T08:00:02.123Z ${json}\nend\n`);
    expect({lines, said}).toMatchObject({lines: 5, said: [{meaning, count: 2, line: 4, at: '2026-11-21T08:00:01Z'}]});
    expect(read(line).said).toMatchObject([{meaning, line: 1}]);
  });

  test.each([
    'an ordinary line about a token_file, a certificate and the proxy',
    'No changes. Your infrastructure matches the configuration.',
    '{"level":"info","event":"connection refused 3 times before, fine now"}',
  ])('is nothing here: %s', (line) => {
    expect(read(`2026-11-21T08:00:00Z ${line}\n`).said).toEqual([]);
  });

  test('is the same wherever its chunks end, and as slow reading finds it', () => {
    const line = fc.oneof(
      fc.string({maxLength: 40}).map((text) => text.replaceAll(/[\n\r]/g, ' ')),
      fc.constantFrom(TOKEN, 'x509: unknown authority', 'é ü connection refused ß', 'agent is ready to receive tasks', ''),
    );
    fc.assert(
      fc.property(fc.array(line, {maxLength: 30}), fc.integer({min: 1, max: 70}), fc.boolean(), (lines, size, ends) => {
        const text = `${lines.join('\n')}${ends ? '\n' : ''}`;
        const expected = new Map<string, {count: number; line: number}>();
        for (const [index, each] of lines.entries()) {
          const meaning = meant(each)?.meaning;
          if (meaning) expected.set(meaning, {count: (expected.get(meaning)?.count ?? 0) + 1, line: index + 1});
        }
        const {said, lines: count} = read(text, size);
        expect(new Map(said.map(({meaning, count: times, line: at}) => [meaning, {count: times, line: at}]))).toEqual(expected);
        expect(count).toBe(text === '' ? 0 : text.replace(/\n$/, '').split('\n').length);
      }),
    );
  });

  test('is found behind a line of megabytes, of which little is held', () => {
    const words = new LogWords();
    for (let index = 0; index < 64; index += 1) words.push(Buffer.alloc(65_536, 'x'));
    words.push(Buffer.from(`\n${TOKEN}`));
    expect(words.end()).toMatchObject({lines: 2, said: [{meaning: 'TOKEN_REJECTED', line: 2}]});
  });
});
