import {describe, expect, test} from 'vitest';
import type {Checked, Status} from '../../src/preflight/check.ts';
import {checksText} from '../../src/ui/checks.ts';

const check = (group: Checked['group'], id: string, status: Status, remedy?: string): Checked => ({
  ...{group, id, status, title: `${id} is right`, message: 'what is', ref: 'https://example.com'},
  ...(remedy === undefined ? {} : {remedy}),
});

test('checks stand under their headings, with what to do about those that do not pass', () => {
  const checks = [
    check('Nodes', 'd', 'skip'),
    check('Tools', 'a', 'pass'),
    check('Nodes', 'c', 'fail', 'Apply this\nkind: Role\n  rules: []'),
    check('Tools', 'b', 'warn', 'Do that'),
  ];
  expect(checksText(checks, {hasColor: false, columns: undefined})).toBe(
    [
      ...['Tools', '✓ a is right: what is', '! b is right: what is', '    → Do that', '    https://example.com', ''],
      ...['Nodes', '- d is right: what is', '    https://example.com', '× c is right: what is'],
      ...['    → Apply this', '    kind: Role', '      rules: []', '    https://example.com', ''],
      '1 error, 1 warning, 1 passed, 1 skipped\n',
    ].join('\n'),
  );
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
  const text = (more: readonly Checked[]): string => checksText([...checks, ...more], {hasColor: false, columns: undefined});

  test('is told once, with all it is about', () => {
    expect(text([skipped('other', 'Something else')])).toBe(
      [
        ...['Tools', '✓ helm is right: what is', '', 'Nodes', '- other is right: Something else', '    https://example.com', ''],
        ...['Not looked at', `- ${REFUSED}`, '    ready-nodes, run-nodes, secrets', '    → Run it as somebody else', ''],
        '0 errors, 0 warnings, 1 passed, 4 skipped\n',
      ].join('\n'),
    );
  });

  test('needs no advice where it is what failed', () => {
    const failed = {...check('Cluster', 'cluster-reachable', 'fail', 'Log in'), message: `context a, ${REFUSED}`};
    expect(text([failed])).toContain('    ready-nodes, run-nodes, secrets\n\n1 error');
  });

  test('stays where it is when it is about a single check', () => {
    expect(checksText(checks.slice(0, 2), {hasColor: false, columns: undefined})).not.toContain('Not looked at');
  });
});

test('colours where the screen has them', () => {
  const text = checksText([check('Tools', 'a', 'fail')], {hasColor: true, columns: 40});
  expect(text).toContain('\u001b[31m×');
});
