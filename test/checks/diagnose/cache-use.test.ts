import {expect, test} from 'vitest';
import {cacheUseIn, cacheUseText, sumOfCacheUse} from '../../../src/checks/diagnose/log-matcher.ts';

const use = (
  plugins: readonly [installed: number, cached: number],
  modules: readonly [installed: number, cached: number],
) => ({
  plugins: {installed: plugins[0], cached: plugins[1]},
  modules: {installed: modules[0], cached: modules[1]},
});

test.each([
  ['Initialized 8 modules in 4.12s (8 used from cache)', use([0, 0], [8, 8])],
  ['Initialized 20 plugins in 6.09s (20 used from cache)', use([20, 20], [0, 0])],
  [
    'Initialized 20 plugins and 0 modules in 6.09s (20 plugins used from cache)',
    use([20, 20], [0, 0]),
  ],
  [
    'Initialized 20 plugins and 3 modules in 6.09s (18 plugins and 2 modules used from cache)',
    use([20, 18], [3, 2]),
  ],
  ['2026-11-21T08:00:00.1Z {"event":"Initialized 1 plugin in 0.5s"}', use([1, 0], [0, 0])],
  [
    'Initialized 8 modules in 4.12s (8 used from cache)\nplan\nInitialized 5 plugins in 1s (0 used from cache)\n',
    use([5, 0], [8, 8]),
  ],
])('counts cache use of runs: %s', (line, expected) => {
  expect(cacheUseIn(line)).toEqual(expected);
});

test.each([
  '',
  'Initializing modules...',
  'Initialized the backend',
  'used from cache',
])('returns undefined when there is no such line: %o', (log) => {
  expect(cacheUseIn(log)).toBeUndefined();
});

test('adds up logs and describes the sum', () => {
  const sum = sumOfCacheUse([
    cacheUseIn('Initialized 8 modules in 4s (8 used from cache)'),
    undefined,
    use([20, 5], [1, 0]),
  ]);
  expect(sum && cacheUseText(sum)).toBe('5 of 20 plugins and 8 of 9 modules used from the cache');
  expect(sumOfCacheUse([undefined])).toBeUndefined();
  expect(cacheUseText(use([0, 0], [0, 0]))).toBe('no plugins or modules used from the cache');
});
