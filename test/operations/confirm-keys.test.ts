import {expect, test} from 'vitest';
import {codesFor, explained} from '../../src/operations/confirm-keys.ts';

/** A rendered chart in which every place depends on some keys: it changes when one of them is left out. */
const renderWithout =
  (places: Readonly<Record<string, readonly number[]>>) =>
  (mask: readonly number[]): ReadonlyMap<string, {text: string; parts: readonly string[]}> =>
    new Map(
      Object.entries(places).map(([place, keys]) => [
        place,
        {
          text: keys.some((key) => mask.includes(key)) ? 'without' : 'with',
          parts: [place.split('/')[0] as string],
        },
      ]),
    );

const findIn = (keys: number, places: Readonly<Record<string, readonly number[]>>) => {
  const {masks, of} = codesFor(keys, 9);
  const render = renderWithout(places);
  return explained(render([]), masks.map(render), of).map((parts) =>
    [...parts].toSorted().join(', '),
  );
};

test.each([
  1, 9, 10, 35, 70, 126,
])('finds the effect of each of %i keys, and that one key has none', (count) => {
  const places = Object.fromEntries(
    Array.from({length: count - 1}, (_, key) => [`part${key}/place`, [key]]),
  );
  const found = findIn(count, places);
  expect(found.slice(0, -1)).toEqual(Array.from({length: count - 1}, (_, key) => `part${key}`));
  expect(found.at(-1)).toBe('');
});

test.each([
  10, 30, 70,
])('renders at most nine times without some of %i keys, and every key differs', (count) => {
  const {masks, of} = codesFor(count, 9);
  expect(masks.length).toBeLessThanOrEqual(9);
  expect(new Set(of.map((code) => code?.join())).size).toBe(count);
});

test('does not give a key an effect because a place depends on two others', () => {
  const found = findIn(20, {'shared/place': [0, 1], 'own/place': [0]});
  expect(found[0]).toContain('own');
  for (const other of found.slice(2)) expect(other).toBe('');
});

test('ignores what every render changes, such as a random password', () => {
  let renders = 0;
  const {masks, of} = codesFor(3, 9);
  const random = () => new Map([['Secret/password', {text: String(renders++), parts: ['Secret']}]]);
  expect(explained(random(), masks.map(random), of).map((parts) => parts.size)).toEqual([0, 0, 0]);
});
