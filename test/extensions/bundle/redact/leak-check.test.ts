import fc from 'fast-check';
import {expect, test} from 'vitest';
import {formsOf, leakFinder} from '../../../../src/extensions/bundle/redact/leak-check.ts';
import {sample} from '../../../support/sample.ts';
import {known, redacted, redactorOf} from './helpers.ts';
import {needles, VALUES, writings} from './known-secrets.ts';

const find = leakFinder(known(VALUES).known);

test('every form of every value is found in what was written, wherever the chunks end', async () => {
  for (const [kind, value] of Object.entries(VALUES)) {
    const find = leakFinder(known({[kind]: value}).known);
    for (const [form, written] of formsOf(Buffer.from(value, 'utf8').toString('latin1'))) {
      if (kind === 'long') continue;
      const text = Buffer.from(`before ${written} after`, 'latin1');
      const places = [1, 7, 9, 12, 7 + (written.length >> 1), 7 + written.length - 1];
      for (const cut of places) {
        const found = await find([text.subarray(0, cut), text.subarray(cut)]);
        expect([kind, form, cut, found.some(({at}) => at >= 7)]).toEqual([kind, form, cut, true]);
      }
    }
  }
});

test('a byte at a time changes nothing', async () => {
  const text = Buffer.from(
    `a ${VALUES['hex']} b ${writings(VALUES['word'] as string).get('base64+2')}`,
    'latin1',
  );
  expect(await find([...text].map((byte) => Buffer.from([byte])))).toEqual(await find([text]));
});

test('it says what and where, and nothing of the value', async () => {
  expect(await find([Buffer.from('using mellon-7')])).toEqual([
    {kind: 'word', form: 'raw', at: 6, length: 8},
  ]);
});

test('nothing is found in what was redacted, nor in ordinary text', async () => {
  const through = redactorOf(VALUES);
  for (const {name, text} of sample([...needles()], 4))
    expect([name, await find([redacted(through, [text])])]).toEqual([name, []]);
  expect(await find([Buffer.from('{"event": "Agent heartbeat", "level": "info"}\n')])).toEqual([]);
});

test('nothing is found of what may stand alone either, in whatever encoding', async () => {
  const lines = 'first line of it 7\nsecond line of it 88yy\nthird l+ne "of" it/9';
  const values = {key: VALUES['key'] as string, token: VALUES['token'] as string, lines};
  const through = redactorOf(values);
  const find = leakFinder(known(values).known);
  for (const part of Object.values(values).flatMap((value) => value.split(/[\n.]/))) {
    for (const [form, written] of formsOf(part)) {
      for (const text of [`a ${written} b`, `a ${Buffer.from(`x=${part}`).toString('base64')} b`]) {
        expect([
          part,
          form,
          await find([redacted(through, [Buffer.from(text, 'latin1')])]),
        ]).toEqual([part, form, []]);
      }
    }
  }
});

test('with nothing known there is nothing to find', async () => {
  const chunks = [Buffer.from('anything'), Buffer.from('else')];
  expect(await leakFinder(known({}).known)(chunks)).toEqual([]);
});

/** Of few letters, so that values overlap and repeat. */
const word = (least: number, most: number) =>
  fc.string({unit: fc.constantFrom('a', 'b', 'c', 'Z'), minLength: least, maxLength: most});

test('what comes in pieces is found wherever they end, once', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(word(6, 12), {minLength: 1, maxLength: 5}),
      word(0, 200),
      fc.integer({min: 1, max: 40}),
      async (values, text, size) => {
        const find = leakFinder(values.map((whole) => ({kind: whole, whole})));
        const bytes = Buffer.from(text, 'latin1');
        const pieces = Array.from({length: Math.ceil(text.length / size)}, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        );
        const whole = await find([bytes]);
        expect(await find(pieces)).toEqual(whole);
        expect(whole.some(({form}) => form === 'raw')).toBe(
          values.some((value) => text.includes(value)),
        );
      },
    ),
    {numRuns: 500},
  ));
