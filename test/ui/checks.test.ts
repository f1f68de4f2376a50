import {describe, expect, test} from 'vitest';
import type {CheckReport} from '../../src/checks/preflight/checks/check.ts';
import {type CheckVerdict, cannot} from '../../src/checks/preflight/checks/check-result.ts';
import {remediesOf} from '../../src/ground/finding.ts';
import {checksText} from '../../src/ui/checks.ts';

const check = (
  group: CheckReport['group'],
  code: string,
  verdict: CheckVerdict,
  remedy?: string,
): CheckReport => ({
  group,
  code,
  verdict,
  subject: {requirement: `${code} is right`},
  message: 'what is',
  ref: 'https://example.com',
  remedies: remediesOf(remedy),
});

const PLAIN = {hasColor: false, columns: undefined};

describe('the list of checks', () => {
  const checks = [
    check('Nodes', 'd', 'unknown'),
    check('Tools', 'a', 'passed'),
    check('Tools', 'b', 'warning', 'Do that'),
    check('Nodes', 'c', 'error', 'Apply this\nkind: Role\n  rules: []'),
    check('Nodes', 'e', 'passed'),
  ];
  const problems = [
    '  × c  c is right: what is',
    '    → Apply this',
    '      kind: Role',
    '        rules: []',
    '    https://example.com',
    '  ! b  b is right: what is',
    '    → Do that',
    '    https://example.com',
    '',
  ];
  const unseen = ['Not checked', '  ? d  d is right: what is', '    https://example.com', ''];

  test('begins with failures, and only counts passed checks', () => {
    expect(checksText(checks, PLAIN)).toBe(
      [
        ...problems,
        ...unseen,
        '1 error, 1 warning, 1 not checked, 2 passed (use --verbose to list them)\n',
      ].join('\n'),
    );
  });

  test('shows passed checks under their headings with --verbose', () => {
    const passed = ['Tools', '  ✓ a is right: what is', '', 'Nodes', '  ✓ e is right: what is', ''];
    expect(checksText(checks, PLAIN, 'all')).toBe(
      [...problems, ...unseen, ...passed, '1 error, 1 warning, 1 not checked, 2 passed\n'].join(
        '\n',
      ),
    );
  });

  test('shows only problems with --quiet', () => {
    expect(checksText(checks, PLAIN, 'problems')).toBe(problems.join('\n'));
    expect(checksText([check('Tools', 'a', 'passed')], PLAIN, 'problems')).toBe('');
  });
});

describe('checks skipped for the same reason', () => {
  const REFUSED = 'nodes is forbidden: User "jane" cannot list it';
  const skipped = (code: string, task: string, remedy?: string): CheckReport => ({
    ...check('Nodes', code, 'unknown'),
    ...cannot(task, REFUSED, remedy),
  });
  const checks = [
    check('Tools', 'helm', 'passed'),
    skipped('ready-nodes', 'list nodes', 'Use another account'),
    skipped('run-nodes', 'render the chart', 'Use another account'),
    skipped('secrets', 'read Secret a'),
  ];
  const text = (more: readonly CheckReport[]): string => checksText([...checks, ...more], PLAIN);

  test('are shown once, with all check ids', () => {
    expect(text([{...check('Nodes', 'other', 'unknown'), message: 'Something else'}])).toBe(
      [
        'Not checked',
        `  ? ${REFUSED}`,
        '    ready-nodes, run-nodes, secrets',
        '    → Use another account',
        '  ? other  other is right: Something else',
        '    https://example.com',
        '',
        '0 errors, 0 warnings, 4 not checked, 1 passed (use --verbose to list them)\n',
      ].join('\n'),
    );
  });

  test('are shown without remedy when a failed check has the same reason', () => {
    const failed = {
      ...check('Cluster', 'cluster-reachable', 'error', 'Log in'),
      message: `context a, ${REFUSED}`,
      because: REFUSED,
    };
    expect(text([failed])).toContain('    ready-nodes, run-nodes, secrets\n\n1 error');
  });

  test('are not grouped when there is only one', () => {
    expect(checksText(checks.slice(0, 2), PLAIN)).toContain(
      'ready-nodes is right: Cannot list nodes: ',
    );
  });
});

test('uses colors when the screen supports them', () => {
  const text = checksText([check('Tools', 'a', 'error')], {hasColor: true, columns: 40});
  expect(text).toContain('\u001b[31m×');
});
