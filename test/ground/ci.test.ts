import {expect, test} from 'vitest';
import {isCi} from '../../src/ground/ci.ts';

test.each([
  [undefined, false],
  ['', false],
  ['false', false],
  ['False', false],
  ['0', false],
  ['true', true],
  ['1', true],
  ['woodpecker', true],
])('CI=%s', (value, expected) => {
  expect(isCi(value === undefined ? {} : {CI: value})).toBe(expected);
});
