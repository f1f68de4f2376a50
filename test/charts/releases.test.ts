import {expect, test} from 'vitest';
import {compare, describeRange, rangeOf, within} from '../../src/charts/releases/versions.ts';

test('compares only the three numbers of a version', () => {
  expect(within('0.7.0-rc.1', '>=0.6.4')).toBe(true);
  expect(within('0.6.5-company.1', '>=0.6.5')).toBe(true);
  expect(compare('0.7.0-rc.1', '0.6.9')).toBeGreaterThan(0);
  expect(compare('0.10.0', '0.9.9')).toBeGreaterThan(0);
  expect(compare('v1.35.1-gke.100', '1.35')).toBeGreaterThan(0);
  expect(compare('v1.35.0-eks-abc', '1.35')).toBe(0);
});

test.each([
  [['1.0.0', '1.1.0', '1.2.0'], '*', 'all supported versions'],
  [['1.1.0', '1.2.0'], '>=1.1.0', 'since 1.1.0'],
  [['1.0.0', '1.1.0'], '<=1.1.0', 'up to 1.1.0'],
  [['1.0.0', '1.2.0'], '<=1.0.0 || >=1.2.0', 'up to 1.0.0, since 1.2.0'],
  [['1.1.0'], '1.1.0', '1.1.0'],
])('%j is the range %s', (some, range, words) => {
  expect(rangeOf(some, ['1.0.0', '1.1.0', '1.2.0'])).toBe(range);
  expect(describeRange(range)).toBe(words);
});
