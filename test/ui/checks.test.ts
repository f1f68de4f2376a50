import {describe, expect, test} from 'vitest';
import type {Checked, Status} from '../../src/preflight/check.ts';
import {checksText} from '../../src/ui/checks.ts';

const check = (group: Checked['group'], id: string, status: Status, remedy?: string): Checked => ({
  ...{group, id, status, title: `${id} is right`, message: 'what is', ref: 'https://example.com'},
  ...(remedy === undefined ? {} : {remedy}),
});

const PLAIN = {hasColor: false, columns: undefined};

describe('checks', () => {
  const checks = [
    check('Nodes', 'd', 'skip'),
    check('Tools', 'a', 'pass'),
    check('Tools', 'b', 'warn', 'Do that'),
    check('Nodes', 'c', 'fail', 'Apply this\nkind: Role\n  rules: []'),
    check('Nodes', 'e', 'pass'),
  ];
  const problems = [
    ...['× c is right: what is', '    → Apply this', '    kind: Role', '      rules: []', '    https://example.com'],
    ...['! b is right: what is', '    → Do that', '    https://example.com', ''],
  ];
  const unseen = ['Not checked', '- d is right: what is', '    https://example.com', ''];

  test('begin with failures, and what passed is a number', () => {
    expect(checksText(checks, PLAIN)).toBe(
      [...problems, ...unseen, '1 error, 1 warning, 1 skipped, 2 passed (--verbose lists them)\n'].join('\n'),
    );
  });

  test('that passed stand under their headings with --verbose', () => {
    const passed = ['Tools', '✓ a is right: what is', '', 'Nodes', '✓ e is right: what is', ''];
    expect(checksText(checks, PLAIN, 'all')).toBe(
      [...problems, ...unseen, ...passed, '1 error, 1 warning, 1 skipped, 2 passed\n'].join('\n'),
    );
  });

  test('are problems only with --quiet', () => {
    expect(checksText(checks, PLAIN, 'problems')).toBe(problems.join('\n'));
    expect(checksText([check('Tools', 'a', 'pass')], PLAIN, 'problems')).toBe('');
  });
});

describe('what is skipped for one and the same reason', () => {
  const REFUSED = 'nodes is forbidden: User "jane" cannot list it';
  const skipped = (id: string, message: string, remedy?: string): Checked => ({...check('Nodes', id, 'skip', remedy), message});
  const checks = [
    check('Tools', 'helm', 'pass'),
    skipped('ready-nodes', `Nodes are unknown: ${REFUSED}`, 'Run it as somebody else'),
    skipped('run-nodes', `Where pods go is unknown: ${REFUSED}`, 'Run it as somebody else'),
    skipped('secrets', `Secret a cannot be read: ${REFUSED}`),
  ];
  const text = (more: readonly Checked[]): string => checksText([...checks, ...more], PLAIN);

  test('is told once, with all it is about', () => {
    expect(text([skipped('other', 'Something else')])).toBe(
      [
        ...['Not checked', '- other is right: Something else', '    https://example.com'],
        ...[`- ${REFUSED}`, '    ready-nodes, run-nodes, secrets', '    → Run it as somebody else', ''],
        '0 errors, 0 warnings, 4 skipped, 1 passed (--verbose lists them)\n',
      ].join('\n'),
    );
  });

  test('needs no advice where it is what failed', () => {
    const failed = {...check('Cluster', 'cluster-reachable', 'fail', 'Log in'), message: `context a, ${REFUSED}`};
    expect(text([failed])).toContain('    ready-nodes, run-nodes, secrets\n\n1 error');
  });

  test('stays where it is when it is about a single check', () => {
    expect(checksText(checks.slice(0, 2), PLAIN)).toContain('- ready-nodes is right: Nodes are unknown: ');
  });
});

test('colours where the screen has them', () => {
  const text = checksText([check('Tools', 'a', 'fail')], {hasColor: true, columns: 40});
  expect(text).toContain('\u001b[31m×');
});
