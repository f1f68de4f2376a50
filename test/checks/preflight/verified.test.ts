import {expect, test} from 'vitest';
import type {CheckReport} from '../../../src/checks/preflight/checks/check.ts';
import {CHECKS, unverified, VERIFIED_BY} from '../../../src/checks/preflight/run-preflight.ts';
import {warningOf} from '../../../src/findings/finding.ts';

const warning = warningOf('NEEDS_KUBERNETES_1_35', 'Not verified: …');
const other = warningOf('CAUTION', 'The proxy URL has no port.');
const results = (...statuses: CheckReport['status'][]): CheckReport[] =>
  ['server-version', 'node-versions'].flatMap((id, index) => {
    const status = statuses[index];
    return status === undefined
      ? []
      : [{id, status, group: 'Cluster' as const, title: '', ref: '', message: ''}];
  });

test.each<[CheckReport['status'][], boolean]>([
  [['pass', 'pass'], false],
  [['pass', 'fail'], false],
  [['pass', 'skip'], true],
  [['skip', 'skip'], true],
  [['pass'], true],
  [[], true],
])('keeps a warning unless all of its checks have a result: %j', (statuses, isKept) => {
  expect(unverified([warning, other], results(...statuses))).toEqual(
    isKept ? [warning, other] : [other],
  );
});

test('the warning about the SCC gives way to the check that names what it rejects', () => {
  const ofScc = warningOf('OPENSHIFT_SCC', 'By default the pods run as uid 1000.');
  const check: CheckReport = {
    id: 'openshift-scc',
    status: 'warn',
    group: 'Cluster',
    title: '',
    ref: '',
    message: '',
  };
  expect(unverified([ofScc], [check])).toEqual([]);
  expect(unverified([ofScc], [])).toEqual([ofScc]);
});

test('refers to existing checks', () => {
  const ids = CHECKS.map(({id}) => id);
  expect(
    Object.values(VERIFIED_BY)
      .flat()
      .filter((id) => !ids.includes(id)),
  ).toEqual([]);
});
