import {expect, test} from 'vitest';
import type {KeyFinding} from '../../../src/ground/finding.ts';
import type {Tree} from '../../../src/ground/tree.ts';
import {certainFindings} from '../../../src/values/validate/certain-findings.ts';

const finding = (code: string, path: string): KeyFinding => ({
  code,
  verdict: 'error',
  subject: {path},
  message: code,
  remedies: [],
});

/** The codes that stay. */
const certain = (found: readonly KeyFinding[], values: Tree, isPartial = false): string[] =>
  certainFindings(found, values, isPartial).map(({code}) => code);

const TEMPLATE = '{{ .Values.replicas }}';

test('everything about values without templates is certain', () => {
  const found = [finding('WRONG_TYPE', 'a'), finding('TOKEN_CONFLICT', 'b')];
  expect(certain(found, {a: 1, b: 2})).toEqual(['WRONG_TYPE', 'TOKEN_CONFLICT']);
});

test('nothing about a value that is a template is certain, except its key', () => {
  const found = [finding('TOKEN_CONFLICT', 'a'), finding('UNKNOWN_KEY', 'a')];
  expect(certain(found, {a: TEMPLATE})).toEqual(['UNKNOWN_KEY']);
});

test('what is about the whole file is certain', () => {
  expect(certain([finding('INVALID_YAML', '')], {a: TEMPLATE}, true)).toEqual(['INVALID_YAML']);
});

test('that a key is missing is certain only if all values are here', () => {
  const found = [finding('MISSING_URL', 'agent.url')];
  expect(certain(found, {a: 1})).toEqual(['MISSING_URL']);
  expect(certain(found, {a: 1}, true)).toEqual([]);
});

test('what depends on a switch that is a template is not certain, what is about one value is', () => {
  const found = [
    finding('WRONG_TYPE', 'enabled'),
    finding('TOKEN_CONFLICT', 'b'),
    finding('LARGE_NUMBER', 'c'),
    finding('MISSING_URL', 'agent.url'),
  ];
  expect(certain(found, {enabled: TEMPLATE, b: 2, c: 3})).toEqual(['LARGE_NUMBER']);
  // The same type error of a value that is no template says nothing about others.
  expect(certain(found, {enabled: 'yes', b: 2, c: 3})).toEqual([
    'WRONG_TYPE',
    'TOKEN_CONFLICT',
    'LARGE_NUMBER',
    'MISSING_URL',
  ]);
  // Nor does a template where any text fits.
  expect(certain(found.slice(1), {enabled: TEMPLATE, b: 2, c: 3})).toEqual([
    'TOKEN_CONFLICT',
    'LARGE_NUMBER',
    'MISSING_URL',
  ]);
});
