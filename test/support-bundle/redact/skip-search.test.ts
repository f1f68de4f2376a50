import fc from 'fast-check';
import {expect, test} from 'vitest';
import {skipSearch} from '../../../src/support-bundle/redact/survivors.ts';

/** Of few letters, so that texts overlap, repeat and hold one another. */
const word = (least: number, most: number) =>
  fc.string({unit: fc.constantFrom('a', 'b', '\u00ff', '\0'), minLength: least, maxLength: most});

test('what begins before the limit and is whole is found, and nothing else', () =>
  fc.assert(
    fc.property(fc.array(word(6, 12), {maxLength: 5}), word(0, 200), fc.nat(20), fc.nat(200), (texts, text, from, limit) => {
      const wanted = texts.map((each, means) => ({text: each, means}));
      const found: [number, number][] = [];
      const next = skipSearch(wanted).find(Buffer.from(text, 'latin1'), from, limit, (at, means) => found.push([at, means]));
      const expected = Array.from({length: Math.max(0, Math.min(limit, text.length) - from)}, (_, index) => from + index).flatMap((at) =>
        wanted.filter((each) => text.startsWith(each.text, at)).map(({means}): [number, number] => [at, means]),
      );
      expect(found).toEqual(expected);
      expect(next).toBeLessThanOrEqual(Math.max(from, limit + 8));
    }),
    {numRuns: 2000},
  ));

test('what comes in pieces is found wherever they end, once', () =>
  fc.assert(
    fc.property(fc.array(word(6, 12), {minLength: 1, maxLength: 5}), word(0, 200), fc.integer({min: 1, max: 40}), (texts, text, size) => {
      const {find, longest} = skipSearch(texts.map((each, means) => ({text: each, means})));
      const whole: [number, number][] = [];
      find(Buffer.from(text, 'latin1'), 0, text.length, (at, means) => whole.push([at, means]));
      const found: [number, number][] = [];
      let from = 0;
      for (let held = 0; held < text.length; ) {
        held = Math.min(held + size, text.length);
        const limit = held === text.length ? held : held - longest + 1;
        from = find(Buffer.from(text.slice(0, held), 'latin1'), from, limit, (at, means) => found.push([at, means]));
      }
      expect(found).toEqual(whole);
    }),
    {numRuns: 1000},
  ));
