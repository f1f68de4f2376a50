import {expect, test} from 'vitest';
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

test('colours where the screen has them', () => {
  const text = checksText([check('Tools', 'a', 'fail')], {hasColor: true, columns: 40});
  expect(text).toContain('\u001b[31m×');
});
