import fc from 'fast-check';
import {expect, test} from 'vitest';
import {PatternSearch} from '../../../../src/extensions/bundle/redact/pattern-search.ts';

/** Of few letters, so that patterns overlap, repeat and hold one another. */
const word = (least: number, most: number) =>
  fc.string({
    unit: fc.constantFrom('a', 'b', 'B', '\u00ff', '\0'),
    minLength: least,
    maxLength: most,
  });

/** Every pattern with the place where it ends, the longest first, in pieces of the given size. */
function found(
  search: PatternSearch,
  text: string,
  size: number,
): [end: number, pattern: number][] {
  const all: [number, number][] = [];
  const cursor = {position: 0, state: 0};
  const bytes = Buffer.from(text, 'latin1');
  for (let to = size; to < bytes.length + size; to += size)
    while (search.advance(bytes, cursor, Math.min(to, bytes.length)))
      for (const pattern of search.patternsAt(cursor.state)) all.push([cursor.position, pattern]);
  return all;
}

function expected(patterns: readonly string[], text: string): [end: number, pattern: number][] {
  const numbered = patterns.map((pattern, index) => ({pattern, index}));
  const longestFirst = numbered.toSorted((one, other) => other.pattern.length - one.pattern.length);
  return Array.from({length: text.length}, (_, index) => index + 1).flatMap((end) =>
    longestFirst
      .filter(({pattern}) => text.slice(0, end).endsWith(pattern))
      .map(({index}): [number, number] => [end, index]),
  );
}

test('finds every pattern wherever it ends, whatever the pieces', () =>
  fc.assert(
    fc.property(
      fc.array(word(1, 6), {maxLength: 8}),
      word(0, 100),
      fc.integer({min: 1, max: 30}),
      (patterns, text, size) => {
        expect(found(new PatternSearch(patterns), text, size)).toEqual(expected(patterns, text));
      },
    ),
    {numRuns: 2000},
  ));

test('ignores the case of ASCII letters only when told', () => {
  expect(found(new PatternSearch(['Key=', '\u00e4'], true), 'KEY=\u00c4 key=', 4)).toEqual([
    [4, 0],
    [10, 0],
  ]);
  expect(found(new PatternSearch(['Key=']), 'KEY= key= Key=', 4)).toEqual([[14, 0]]);
});

test('finds patterns beyond the states of the table', () => {
  const patterns = Array.from({length: 5000}, (_, index) => `${index * 7919}-of-${index}`);
  const text = `${patterns[4321]} ${patterns[7]}`;
  expect(found(new PatternSearch(patterns), text, 1000).map(([, pattern]) => pattern)).toEqual(
    expected(patterns, text).map(([, pattern]) => pattern),
  );
});
