import {expect, test} from 'vitest';
import type {StatusReadings} from '../../../src/checks/status/status.ts';
import {exitOf} from '../../../src/cli/status-release.ts';
import {failed} from '../../../src/ground/errors.ts';
import {unknownOf} from '../../../src/ground/finding.ts';
import {statusText} from '../../../src/ui/status.ts';
import {statusDocument, statusTable} from '../../../src/ui/status-list.ts';
import {NAME, NOW, statusFrom} from './readings.ts';

const FORBIDDEN = failed('FORBIDDEN', 'secrets "agent-token" is forbidden.', ['Request it']);
const TIMED_OUT = failed('CLUSTER_UNREACHABLE', 'Cannot read secrets (timed out).');
const SCREEN = {hasColor: false, columns: 100};

const live = (more: Partial<NonNullable<StatusReadings['live']>> = {}) => ({
  differences: [],
  live: [],
  isVerified: true,
  failures: [],
  replicas: {},
  ...more,
});
const CHANGED = [
  {object: 'Deployment agent', problem: 'changed' as const, paths: ['spec.replicas']},
];

const READ: Partial<StatusReadings> = {live: live()};
const ONE_HIDDEN: Partial<StatusReadings> = {
  live: live({failures: [FORBIDDEN]}),
  unread: [unknownOf('release objects', FORBIDDEN)],
};
const ONE_HIDDEN_AND_CHANGED: Partial<StatusReadings> = {
  ...ONE_HIDDEN,
  live: live({failures: [FORBIDDEN], differences: CHANGED}),
};
const NONE_READ: Partial<StatusReadings> = {
  live: undefined,
  unread: [unknownOf('Helm release', FORBIDDEN)],
};
const UNANSWERED: Partial<StatusReadings> = {
  ...READ,
  unread: [unknownOf('release objects', TIMED_OUT)],
};

test.each([
  ['every object is as installed', READ, [], 0, 0],
  ['the user may not read one object', ONE_HIDDEN, [], 0, 1],
  ['another object differs as well', ONE_HIDDEN_AND_CHANGED, [], 0, 5],
  ['the user may not read the Helm release', NONE_READ, [], 0, 1],
  [
    'the values of the release were not read',
    {...READ, given: undefined, desired: {a: 1}},
    ['a.yaml'],
    0,
    1,
  ],
  ['a query was not answered, so that the state is unknown', UNANSWERED, [], 1, 1],
])('exit code when %s', (_, readings, files, without, withExitCode) => {
  const status = statusFrom(readings);
  expect(exitOf(status, files, false)).toBe(without);
  expect(exitOf(status, files, true)).toBe(withExitCode);
});

test('an object without rights is unknown and named, and never unchanged', () => {
  const status = statusFrom(ONE_HIDDEN);
  const text = statusText({name: NAME, status, files: [], now: NOW}, SCREEN);
  expect(text).toContain('Objects    unknown: some of them could not be read');
  expect(text).toContain('? FORBIDDEN  release objects: secrets "agent-token" is forbidden.');
  expect(statusDocument(NAME, status, []).objects).toMatchObject({differs: null});
  expect(statusTable([{name: NAME, status}], SCREEN)).toMatch(/ \?\n$/);
});

test('a known difference is told even if other objects are unknown', () => {
  const status = statusFrom(ONE_HIDDEN_AND_CHANGED);
  expect(statusDocument(NAME, status, []).objects).toMatchObject({differs: true});
  expect(statusTable([{name: NAME, status}], SCREEN)).toMatch(/ 1\+\n$/);
});
