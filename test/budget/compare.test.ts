import {expect, test} from 'vitest';
import {type Budget, budgetFor, growths} from './compare.ts';

const start = {kilobytes: 41, builtins: ['net'], modules: ['chalk', 'src/ui']};
const now: Budget = {packedKilobytes: 501.2, unpackedKilobytes: 1601, packages: ['chalk', 'yaml'], starts: {values: start}};
const budget = budgetFor(now);

test('what is accepted passes, and so does a little more of the same', () => {
  expect(budget).toEqual({...now, packedKilobytes: 510, unpackedKilobytes: 1650, starts: {values: {...start, kilobytes: 60}}});
  expect(growths(budget, now)).toEqual([]);
  expect(growths(budget, {...now, packedKilobytes: 510, starts: {values: {...start, kilobytes: 60}}})).toEqual([]);
});

test('what becomes less passes', () => {
  expect(growths(budget, {packedKilobytes: 1, unpackedKilobytes: 1, packages: [], starts: {}})).toEqual([]);
});

test.each<[string, Partial<Budget>, string]>([
  ['the tarball', {packedKilobytes: 510.1}, 'The tarball has 511 kB, and 510 kB are allowed.'],
  ['the package', {unpackedKilobytes: 1651}, 'The unpacked package has 1651 kB, and 1650 kB are allowed.'],
  ['a package', {packages: ['ajv', 'chalk', 'yaml']}, 'ajv is bundled.'],
  ['a module of Node.js', {starts: {values: {...start, builtins: ['crypto', 'net']}}}, '`values` loads crypto.'],
  ['a package at start', {starts: {values: {...start, modules: ['chalk', 'execa', 'src/ui']}}}, '`values` loads execa.'],
  ['the size of a start', {starts: {values: {...start, kilobytes: 61}}}, 'What `values` loads has 61 kB, and 60 kB are allowed.'],
  ['a start', {starts: {values: start, install: start}}, '`install` is not in the budget.'],
])('%s that is added is named', (_, more, says) => {
  expect(growths(budget, {...now, ...more})).toEqual([says]);
});

test('nobody accepts more than is promised', () => {
  expect(() => budgetFor({...now, unpackedKilobytes: 2001})).toThrow('The unpacked package has 2050 kB, and 2000 kB are allowed.');
  expect(() => budgetFor({...now, packedKilobytes: 601})).toThrow('This is more than is promised.');
});
