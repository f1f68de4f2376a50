import {expect, test} from 'vitest';
import type {CheckReport} from '../../../src/checks/preflight/checks/check.ts';
import type {CheckVerdict} from '../../../src/checks/preflight/checks/check-result.ts';
import {CHECKS, unverified, VERIFIED_BY} from '../../../src/checks/preflight/run-preflight.ts';
import {warningOf} from '../../../src/ground/finding.ts';

const warning = warningOf('NEEDS_KUBERNETES_1_35', 'Not verified: …');
const other = warningOf('CAUTION', 'The proxy URL has no port.');
const report = (code: string, verdict: CheckVerdict): CheckReport => ({
  code,
  verdict,
  subject: {requirement: ''},
  group: 'Cluster',
  ref: '',
  message: '',
  remedies: [],
});
const results = (...verdicts: CheckVerdict[]): CheckReport[] =>
  ['server-version', 'node-versions'].flatMap((id, index) => {
    const verdict = verdicts[index];
    return verdict === undefined ? [] : [report(id, verdict)];
  });

test.each<[CheckVerdict[], boolean]>([
  [['passed', 'passed'], false],
  [['passed', 'error'], false],
  [['passed', 'unknown'], true],
  [['unknown', 'unknown'], true],
  [['passed'], true],
  [[], true],
])('keeps a warning unless all of its checks have a result: %j', (verdicts, isKept) => {
  expect(unverified([warning, other], results(...verdicts))).toEqual(
    isKept ? [warning, other] : [other],
  );
});

test('the warning about the SCC gives way to the check that names what it rejects', () => {
  const ofScc = warningOf('OPENSHIFT_SCC', 'By default the pods run as uid 1000.');
  const check = report('openshift-scc', 'warning');
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
