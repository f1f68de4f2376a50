import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {FileRedactor} from '../../../../src/extensions/bundle/redact/file-redactor.ts';
import {secretSearch} from '../../../../src/extensions/bundle/redact/redactor.ts';
import {LIMITS, MOST_HELD} from '../../../../src/extensions/bundle/redact/rule.ts';
import {isExhaustive, numRuns, sample} from '../../../support/sample.ts';
import {KEY, known, redacted, redactorOf} from './helpers.ts';
import {needles, PLACES, VALUES, writings} from './known-secrets.ts';

const LINE =
  '{"event": "Agent heartbeat", "level": "info", "logger_name": "tacoagent.worker", "timestamp": "2026-11-21 10:00:12.4"}\n';
const ordinary = (bytes: number): Buffer =>
  Buffer.from(LINE.repeat(Math.ceil(bytes / LINE.length)).slice(0, bytes), 'latin1');

const TEXTS = [
  `connecting with ${VALUES['token']} to acme\n`,
  `{"m":"{\\"token\\":\\"a\\\\\\"b\\",\\"x\\":1}"}\n`,
  'env:\n- name: DB_PASSWORD\n  value: "Tr0ub4dor"\n- name: PORT\n  value: "1"\n',
  `${VALUES['key']}\nnext\n`,
  `${encodeURIComponent(VALUES['signs'] as string)} and ${writings(VALUES['signs'] as string).get('base64+1')}\n`,
  'proxy http://bob:Tr0ub4dor@proxy.example.com:3128 and Authorization: Basic Ym9iOlRyMHViNGRvcg==\n',
];

test('it does not matter where the chunks end: every place of every kind of text', () => {
  const through = redactorOf(VALUES);
  for (const text of TEXTS) {
    const needle = Buffer.from(text, 'utf8');
    const expected = redacted(through, [needle]).toString('latin1');
    // What is before puts each byte once where a chunk ends, and once where the scan pauses.
    const cuts = Array.from({length: needle.length + 1}, (_, cut) => cut);
    for (const cut of sample(cuts, 16)) {
      for (const pause of [LIMITS.batch, LIMITS.batch - LIMITS.ahead]) {
        const before = ordinary(pause - cut - 1);
        const after = ordinary(LIMITS.ahead);
        const all = Buffer.concat([before, Buffer.from('\n'), needle, after]);
        const output = redacted(through, [all.subarray(0, pause), all.subarray(pause)]).toString(
          'latin1',
        );
        expect(
          output === `${before.toString('latin1')}\n${expected}${after.toString('latin1')}` || [
            text,
            cut,
          ],
        ).toBe(true);
      }
    }
  }
});

test('it does not matter how long the chunks are', () => {
  const all = Buffer.concat(
    [...needles()].filter((_, index) => index % 7 === 0).flatMap(({text}) => [text, ordinary(200)]),
  );
  const once = redacted(redactorOf(VALUES), [all]);
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.integer({min: 1, max: 50}), fc.integer({min: 1, max: 70_000})), {
        minLength: 3,
        maxLength: 40,
      }),
      (lengths) => {
        const chunks: Buffer[] = [];
        for (let [from, index] = [0, 0]; from < all.length; index += 1) {
          const length = lengths[index % lengths.length] as number;
          chunks.push(all.subarray(from, from + length));
          from += length;
        }
        expect(redacted(redactorOf(VALUES), chunks).equals(once)).toBe(true);
      },
    ),
    {numRuns: numRuns(3)},
  );
});

test('a chunk that is filled anew does not change what was pushed', () => {
  const through = redactorOf();
  const file = through.file('x');
  const chunk = Buffer.from('first\n');
  const out = [file.push(chunk)];
  chunk.fill('x');
  expect(Buffer.concat([...out, file.end()]).toString()).toBe('first\n');
});

test('text that holds no secret goes through byte for byte, whatever bytes it has', () => {
  const bytes = Buffer.from(
    Array.from({length: 200_000}, (_, index) => (index * 7919 + (index >> 8)) % 256),
  );
  expect(redacted(redactorOf(), [bytes]).equals(bytes)).toBe(true);
});

const fileFor = (values: Readonly<Record<string, string>> = {}): FileRedactor =>
  new FileRedactor(secretSearch({knownSecrets: known(values), level: 'standard', key: KEY}));

const PATHOLOGICAL: Readonly<Record<string, string>> = {
  'one line without end': 'x',
  'beginnings of tokens': 'eyJ',
  'beginnings of URLs': '://',
  'URLs with users': 'a://b:c',
  'beginnings of keys': '-----BEGIN PRIVATE KEY-----',
  'keys and values': 'token=',
  'words of keys': 'token',
  'open quotes': 'password="',
  'open quotes of two kinds': `password='"`,
  'keys of JSON': '"password":',
  backslashes: '\\',
  'escaped quotes': '\\"token\\":\\"',
  'names of variables': 'name: DB_PASSWORD\n',
  'values first': 'value: x\n',
  'at signs': 'a:b@',
  bearers: 'Bearer ',
  blocks: 'password: |\n  ',
  commas: 'token=a,',
  flags: '--token ',
  'base64 of keys': 'LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t',
  'wrapped values': '"token":"a\n',
  'beginnings of a known value': 'mellon-',
};

describe('work grows with the input and memory does not', () => {
  const measure = (unit: string, bytes: number): {work: number; held: number} => {
    const file = fileFor({word: 'mellon-7'});
    const chunk = Buffer.from(unit.repeat(Math.ceil(65_536 / unit.length)), 'latin1');
    let held = 0;
    for (let pushed = 0; pushed < bytes; pushed += chunk.length) {
      file.push(chunk);
      held = Math.max(held, file.heldBytes);
    }
    file.end();
    expect(file.heldBytes).toBe(0);
    return {work: file.work, held};
  };

  test.each(Object.entries(PATHOLOGICAL))('%s', (_, unit) => {
    const bytes = isExhaustive ? 500_000 : 131_072;
    const once = measure(unit, bytes);
    const twice = measure(unit, 2 * bytes);
    expect(twice.work / once.work).toBeLessThan(3);
    expect(twice.work).toBeLessThan(2 * bytes * 40);
    expect(Math.max(once.held, twice.held)).toBeLessThanOrEqual(MOST_HELD);
  });

  test.each([
    'password=',
    'token: "',
    'eyJ',
    'Authorization: Bearer ',
    'https://bob:',
  ])('a value without end behind %s never comes out', (head) => {
    const file = fileFor();
    const out = [file.push(Buffer.from(`a ${head}`))];
    for (let index = 0; index < 40; index += 1)
      out.push(file.push(Buffer.from('aB3dE5fG7hJ9'.repeat(2000))));
    expect(file.heldBytes).toBeLessThanOrEqual(MOST_HELD);
    out.push(file.push(Buffer.from('"\nnext line\n')), file.end());
    const text = Buffer.concat(out).toString();
    if (head.startsWith('https')) return;
    expect(text).not.toContain('B3dE');
    expect(text).toMatch(/^a [\w: "=]*\[redacted:\w+:\w{8}\]"?\nnext line\n$/);
  });
});

test('no prefix of a secret comes out before the rest of it is there', () => {
  for (const around of Object.values(PLACES)) {
    const token = VALUES['token'] as string;
    const file = redactorOf({token}).file('x');
    const text = ordinary(3 * LIMITS.batch).toString('latin1') + around.split('@')[0];
    const out = [
      file.push(Buffer.from(text)),
      ...[...token.slice(0, -1)].map((one) => file.push(Buffer.from(one))),
    ];
    expect(Buffer.concat(out).toString('latin1')).not.toContain(token.slice(0, 4));
  }
});
