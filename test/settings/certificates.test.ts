import {describe, expect, test} from 'vitest';
import {caBundle, clientCertificate, privateKey} from '../../src/settings/tls.ts';
import {certificates} from '../support/certificates.ts';
import {settingsFrom, TODAY} from '../support/settings-from.ts';

const file = (name: string): Buffer => certificates[name] as Buffer;
const parse = (content: string | Buffer) => caBundle().parse(Buffer.from(content), {now: TODAY});
const count = (pem: string) => pem.match(/BEGIN CERTIFICATE/g)?.length;

describe('a CA bundle', () => {
  test('PEM and DER of the same certificate are the same', () => {
    expect(parse(file('ca.der'))).toBe(parse(file('ca.pem')));
  });

  test('comments, blank lines and Windows line ends between certificates do no harm', () => {
    const text = `# company roots\r\n\r\n${file('ca.pem').toString().replaceAll('\n', '\r\n')}\r\nsecond one:\r\n${file('second-ca.pem')}`;
    expect(parse(text)).toBe(`${file('ca.pem')}${file('second-ca.pem')}`);
  });

  test('a certificate that stands twice is taken once', () => {
    expect(count(parse(`${file('ca.pem')}${file('second-ca.pem')}${file('ca.pem')}`))).toBe(2);
  });

  test.each<[string, string | Buffer, RegExp]>([
    ['an expired certificate', file('expired.pem'), /certificate 1 \(CN=Example expired CA\) expired on Jan {2}1 .*2021/],
    ['a certificate of tomorrow', file('future.pem'), /is valid only from .*2090/],
    ['a server certificate', file('client.pem'), /certificate 1 \(CN=agent\) belongs to a server, not to a CA/],
    ['a server certificate behind a CA', `${file('ca.pem')}${file('client.pem')}`, /certificate 2 \(CN=agent\)/],
    ['a private key', file('client.key'), /holds a private key/],
    ['a private key behind a CA', `${file('ca.pem')}${file('client.key')}`, /holds a private key/],
    [
      'a damaged certificate',
      file('ca.pem')
        .toString()
        .replace(/^MII.*\n/m, 'AAAA\n'),
      /certificate 1 is damaged/,
    ],
    ['a certificate that is cut off', file('ca.pem').toString().slice(0, 300), /cut off/],
    ['something else', 'hello', /neither PEM nor DER/],
    [
      'a certificate request',
      '-----BEGIN CERTIFICATE REQUEST-----\nMII=\n-----END CERTIFICATE REQUEST-----',
      /holds CERTIFICATE REQUEST and no certificate/,
    ],
    ['nothing', '\n', /is empty/],
  ])('%s is refused by name', (_, content, message) => {
    expect(() => parse(content)).toThrow(message);
  });

  test('an outdated server certificate is named with the issuer that is wanted', () => {
    expect(() => parse(file('client.pem'))).toThrow(expect.objectContaining({suggestion: expect.stringContaining('CN=Example Root CA')}));
  });
});

describe('a client certificate', () => {
  const files = certificates;
  const flags = {url: 'https://acme.scalr.io', 'client-cert-file': 'client.pem'};

  test('needs its key', async () => {
    await expect(settingsFrom(flags, files)).rejects.toThrow('--client-cert-file: has no key');
  });

  test('refuses a key that belongs to another', async () => {
    await expect(settingsFrom({...flags, 'client-key-file': 'other.key'}, files)).rejects.toThrow('does not belong to the certificate');
  });

  test('and its key are a pair', async () => {
    await expect(settingsFrom({...flags, 'client-key-file': 'client.key'}, files)).resolves.toBeDefined();
  });

  test('never prints', () => {
    const secret = clientCertificate().parse(file('client.pem'), {now: TODAY});
    expect(JSON.stringify({secret})).toBe('{"secret":"[hidden]"}');
  });

  test('with a passphrase on the key is refused', () => {
    expect(() => privateKey().parse('-----BEGIN ENCRYPTED PRIVATE KEY-----\n', {now: TODAY})).toThrow('passphrase');
  });
});
