import {describe, expect, test} from 'vitest';
import type {CheckReport} from '../../src/checks/preflight/checks/check.ts';
import {type CheckStatus, cannot} from '../../src/checks/preflight/checks/check-result.ts';
import {checksText} from '../../src/ui/checks.ts';

const check = (
  group: CheckReport['group'],
  id: string,
  status: CheckStatus,
  remedy?: string,
): CheckReport => ({
  group,
  id,
  status,
  title: `${id} is right`,
  message: 'what is',
  ref: 'https://example.com',
  ...(remedy === undefined ? {} : {remedy}),
});

const PLAIN = {hasColor: false, columns: undefined};

describe('the list of checks', () => {
  const checks = [
    check('Nodes', 'd', 'skip'),
    check('Tools', 'a', 'pass'),
    check('Tools', 'b', 'warn', 'Do that'),
    check('Nodes', 'c', 'fail', 'Apply this\nkind: Role\n  rules: []'),
    check('Nodes', 'e', 'pass'),
  ];
  const problems = [
    '× c is right: what is',
    '    → Apply this',
    '    kind: Role',
    '      rules: []',
    '    c: https://example.com',
    '! b is right: what is',
    '    → Do that',
    '    b: https://example.com',
    '',
  ];
  const unseen = ['Not checked', '- d is right: what is', '    d: https://example.com', ''];

  test('begins with failures, and only counts passed checks', () => {
    expect(checksText(checks, PLAIN)).toBe(
      [
        ...problems,
        ...unseen,
        '1 error, 1 warning, 1 skipped, 2 passed (use --verbose to list them)\n',
      ].join('\n'),
    );
  });

  test('shows passed checks under their headings with --verbose', () => {
    const passed = ['Tools', '✓ a is right: what is', '', 'Nodes', '✓ e is right: what is', ''];
    expect(checksText(checks, PLAIN, 'all')).toBe(
      [...problems, ...unseen, ...passed, '1 error, 1 warning, 1 skipped, 2 passed\n'].join('\n'),
    );
  });

  test('shows only problems with --quiet', () => {
    expect(checksText(checks, PLAIN, 'problems')).toBe(problems.join('\n'));
    expect(checksText([check('Tools', 'a', 'pass')], PLAIN, 'problems')).toBe('');
  });
});

describe('checks skipped for the same reason', () => {
  const REFUSED = 'nodes is forbidden: User "jane" cannot list it';
  const skipped = (id: string, task: string, remedy?: string): CheckReport => ({
    ...check('Nodes', id, 'skip'),
    ...cannot(task, REFUSED, remedy),
  });
  const checks = [
    check('Tools', 'helm', 'pass'),
    skipped('ready-nodes', 'list nodes', 'Use another account'),
    skipped('run-nodes', 'render the chart', 'Use another account'),
    skipped('secrets', 'read Secret a'),
  ];
  const text = (more: readonly CheckReport[]): string => checksText([...checks, ...more], PLAIN);

  test('are shown once, with all check ids', () => {
    expect(text([{...check('Nodes', 'other', 'skip'), message: 'Something else'}])).toBe(
      [
        'Not checked',
        '- other is right: Something else',
        '    other: https://example.com',
        `- ${REFUSED}`,
        '    ready-nodes, run-nodes, secrets',
        '    → Use another account',
        '',
        '0 errors, 0 warnings, 4 skipped, 1 passed (use --verbose to list them)\n',
      ].join('\n'),
    );
  });

  test('are shown without remedy when a failed check has the same reason', () => {
    const failed = {
      ...check('Cluster', 'cluster-reachable', 'fail', 'Log in'),
      message: `context a, ${REFUSED}`,
      because: REFUSED,
    };
    expect(text([failed])).toContain('    ready-nodes, run-nodes, secrets\n\n1 error');
  });

  test('are not grouped when there is only one', () => {
    expect(checksText(checks.slice(0, 2), PLAIN)).toContain(
      '- ready-nodes is right: Cannot list nodes: ',
    );
  });
});

test('uses colors when the screen supports them', () => {
  const text = checksText([check('Tools', 'a', 'fail')], {hasColor: true, columns: 40});
  expect(text).toContain('\u001b[31m×');
});
