import {describe, expect, test} from 'vitest';
import {
  caBundleKind,
  clientCertificate,
  privateKey,
} from '../../src/settings/kinds/certificates.ts';
import {certificates} from '../support/certificates.ts';
import {settingsFrom, TODAY} from '../support/settings-from.ts';

const file = (name: string): Buffer => certificates[name] as Buffer;
const parse = (content: string | Buffer) =>
  caBundleKind().parse(Buffer.from(content), {now: TODAY});
const count = (pem: string) => pem.match(/BEGIN CERTIFICATE/g)?.length;

describe('a CA bundle', () => {
  test('gives the same value for PEM and DER', () => {
    expect(parse(file('ca.der'))).toBe(parse(file('ca.pem')));
  });

  test('ignores comments, blank lines and CRLF between certificates', () => {
    const text = `# company roots\r\n\r\n${file('ca.pem').toString().replaceAll('\n', '\r\n')}\r\nsecond one:\r\n${file('second-ca.pem')}`;
    expect(parse(text)).toBe(`${file('ca.pem')}${file('second-ca.pem')}`);
  });

  test('removes duplicate certificates', () => {
    expect(count(parse(`${file('ca.pem')}${file('second-ca.pem')}${file('ca.pem')}`))).toBe(2);
  });

  test.each<[string, string | Buffer, RegExp]>([
    [
      'an expired certificate',
      file('expired.pem'),
      /Certificate 1 \(CN=Example expired CA\) expired on Jan {2}1 .*2021/,
    ],
    ['a certificate of tomorrow', file('future.pem'), /is not valid before .*2090/],
    [
      'a server certificate',
      file('client.pem'),
      /Certificate 1 \(CN=agent\) is a server certificate, not a CA certificate/,
    ],
    [
      'a server certificate behind a CA',
      `${file('ca.pem')}${file('client.pem')}`,
      /Certificate 2 \(CN=agent\)/,
    ],
    ['a private key', file('client.key'), /contains a private key/],
    [
      'a private key behind a CA',
      `${file('ca.pem')}${file('client.key')}`,
      /contains a private key/,
    ],
    [
      'a damaged certificate',
      file('ca.pem')
        .toString()
        .replace(/^MII.*\n/m, 'AAAA\n'),
      /Certificate 1 cannot be parsed/,
    ],
    ['a certificate that is cut off', file('ca.pem').toString().slice(0, 300), /truncated/],
    ['something else', 'hello', /neither PEM nor DER/],
    [
      'a certificate request',
      '-----BEGIN CERTIFICATE REQUEST-----\nMII=\n-----END CERTIFICATE REQUEST-----',
      /contains CERTIFICATE REQUEST but no certificate/,
    ],
    ['nothing', '\n', /is empty/],
  ])('refuses %s', (_, content, message) => {
    expect(() => parse(content)).toThrow(message);
  });

  test('suggests the issuer when given a server certificate', () => {
    expect(() => parse(file('client.pem'))).toThrow(
      expect.objectContaining({suggestion: {text: expect.stringContaining('CN=Example Root CA')}}),
    );
  });
});

describe('a client certificate', () => {
  const files = certificates;
  const flags = {url: 'https://acme.scalr.io', 'client-cert-file': 'client.pem'};

  test('requires a key', async () => {
    await expect(settingsFrom(flags, files)).rejects.toThrow(
      '--client-cert-file: A client certificate requires a key',
    );
  });

  test('refuses the key of another certificate', async () => {
    await expect(settingsFrom({...flags, 'client-key-file': 'other.key'}, files)).rejects.toThrow(
      'does not match the client certificate',
    );
  });

  test('accepts a matching key', async () => {
    await expect(
      settingsFrom({...flags, 'client-key-file': 'client.key'}, files),
    ).resolves.toBeDefined();
  });

  test('is hidden in output', () => {
    const secret = clientCertificate().parse(file('client.pem'), {now: TODAY});
    expect(JSON.stringify({secret})).toBe('{"secret":"[hidden]"}');
  });

  test('refuses an encrypted key', () => {
    expect(() =>
      privateKey().parse('-----BEGIN ENCRYPTED PRIVATE KEY-----\n', {now: TODAY}),
    ).toThrow('passphrase');
  });
});
