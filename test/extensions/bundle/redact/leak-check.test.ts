import fc from 'fast-check';
import {expect, test} from 'vitest';
import {
  formsOf,
  leakFinder,
  multiSearch,
} from '../../../../src/extensions/bundle/redact/leak-check.ts';
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
  for (const {name, text} of needles())
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
  expect(await leakFinder(known({}).known)([Buffer.from('anything')])).toEqual([]);
});

/** Of few letters, so that texts overlap, repeat and hold one another. */
const word = (least: number, most: number) =>
  fc.string({unit: fc.constantFrom('a', 'b', '\u00ff', '\0'), minLength: least, maxLength: most});

test('what begins before the limit and is whole is found, and nothing else', () =>
  fc.assert(
    fc.property(
      fc.array(word(6, 12), {maxLength: 5}),
      word(0, 200),
      fc.nat(20),
      fc.nat(200),
      (texts, text, from, limit) => {
        const desired = texts.map((each, means) => ({text: each, means}));
        const found: [number, number][] = [];
        const next = multiSearch(desired, (each) => [each.text]).find(
          Buffer.from(text, 'latin1'),
          from,
          limit,
          (at, {means}) => found.push([at, means]),
        );
        const expected = Array.from(
          {length: Math.max(0, Math.min(limit, text.length) - from)},
          (_, index) => from + index,
        ).flatMap((at) =>
          desired
            .filter((each) => text.startsWith(each.text, at))
            .map(({means}): [number, number] => [at, means]),
        );
        expect(found).toEqual(expected);
        expect(next).toBeLessThanOrEqual(Math.max(from, limit));
      },
    ),
    {numRuns: 2000},
  ));

test('what comes in pieces is found wherever they end, once', () =>
  fc.assert(
    fc.property(
      fc.array(word(6, 12), {minLength: 1, maxLength: 5}),
      word(0, 200),
      fc.integer({min: 1, max: 40}),
      (texts, text, size) => {
        const {find, longest} = multiSearch(
          texts.map((each, means) => ({text: each, means})),
          (each) => [each.text],
        );
        const whole: [number, number][] = [];
        find(Buffer.from(text, 'latin1'), 0, text.length, (at, {means}) => whole.push([at, means]));
        const found: [number, number][] = [];
        let from = 0;
        for (let held = 0; held < text.length; ) {
          held = Math.min(held + size, text.length);
          const limit = held === text.length ? held : held - longest + 1;
          from = find(Buffer.from(text.slice(0, held), 'latin1'), from, limit, (at, {means}) =>
            found.push([at, means]),
          );
        }
        expect(found).toEqual(whole);
      },
    ),
    {numRuns: 1000},
  ));
