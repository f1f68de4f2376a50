import {randomBytes} from 'node:crypto';
import {describe, expect, test} from 'vitest';
import {knownSecretSet} from '../../../../src/extensions/bundle/redact/known-values.ts';
import {leakFinder} from '../../../../src/extensions/bundle/redact/leak-check.ts';
import {redactor} from '../../../../src/extensions/bundle/redact/redactor.ts';
import {Secret} from '../../../../src/ground/secret.ts';
import {KEY, redacted} from './helpers.ts';

const MEBIBYTE = 1 << 20;
const secretOf = (bytes: Buffer) =>
  knownSecretSet([
    {kind: 'blob', value: new Secret(bytes.toString('latin1')), isBinary: true, source: 'a/b'},
  ]);
const wrapped = (text: string): string => text.replace(/.{76}(?!$)/g, '$&\n');

/** Each is as large as a Secret can be. */
const LARGE: Readonly<Record<string, Buffer>> = {
  'random bytes': randomBytes(MEBIBYTE),
  'lines of a file': Buffer.from(
    Array.from({length: 30_000}, (_, index) => `line ${index} of the file = ${index * 7919}`).join(
      '\n',
    ),
  ),
  'one word again and again': Buffer.from('abcdef'.repeat(MEBIBYTE / 6)),
  'rulers around a line': Buffer.from(
    `${'-'.repeat(MEBIBYTE / 2)}\nkey-Zr8kQv93LmXw20p-7 of the middle ${'='.repeat(MEBIBYTE / 2 - 100)}`,
  ),
};

// A quadratic search would need hours, so the limit of a test is proof enough.
describe('a Secret of 1 MiB', () => {
  test.each(
    Object.entries(LARGE),
  )('is found in base64, hex and raw, and a log of rulers stays fast: %s', async (name, bytes) => {
    const known = secretOf(bytes);
    expect(known.known.length).toBe(1);
    const through = redactor({knownSecrets: known, key: KEY});
    const part = bytes.subarray(MEBIBYTE / 2 - 4096, MEBIBYTE / 2 + 4096);
    const ruler = Buffer.from(`${'-'.repeat(120)}\n`.repeat(9000));
    for (const written of [
      part,
      Buffer.from(wrapped(part.toString('base64'))),
      Buffer.from(part.toString('hex')),
    ]) {
      const output = redacted(through, [
        Buffer.from('before '),
        written,
        Buffer.from(' after'),
      ]).toString('latin1');
      if (name !== 'rulers around a line')
        expect([name, output.length < 400]).toEqual([name, true]);
      expect(output).not.toContain('Zr8kQv93');
    }
    expect(redacted(through, [ruler]).length).toBe(ruler.length);
    expect(await leakFinder(known.known)([ruler])).toEqual([]);
  });
});

test('a value of rulers alone is listed and not searched', () => {
  expect(secretOf(Buffer.from('-'.repeat(5000)))).toEqual({known: [], notUsed: ['a/b']});
});

test.each([
  ['Latin-1', Buffer.from('pässwörd-Ä9-éü', 'latin1')],
  ['bytes', Buffer.from('00ff10807f9a0b0c0d5e6f7081', 'hex')],
])('a value of %s is found in base64, base64url, hex and raw, and so is a leak', async (_, bytes) => {
  const known = secretOf(bytes);
  const through = redactor({knownSecrets: known, key: KEY});
  for (const before of ['', 'a', 'ab']) {
    const around = Buffer.concat([Buffer.from(before), bytes, Buffer.from('tail')]);
    for (const text of [
      around.toString('base64'),
      around.toString('base64url'),
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
    ]) {
      const written = Buffer.from(`said ${text} .`);
      expect((await leakFinder(known.known)([written])).length).toBeGreaterThan(0);
      expect(await leakFinder(known.known)([redacted(through, [written])])).toEqual([]);
    }
  }
});

test('a value of 12 characters is found over two lines, wherever it was split', () => {
  const value = 'xK9mP2vL5nQ8';
  const through = redactor({
    knownSecrets: knownSecretSet([{kind: 'x', value: new Secret(value)}]),
    key: KEY,
  });
  for (let cut = 1; cut < value.length; cut += 1) {
    const text = `2026-11-21T10:00:00.123456789Z a ${value.slice(0, cut)}\n2026-11-21T10:00:00.123456790Z ${value.slice(cut)} b`;
    expect([cut, through.text('log', text)]).toEqual([
      cut,
      expect.stringMatching(/^\S+ a \[redacted:x:\w{8}\] b$/),
    ]);
  }
});
