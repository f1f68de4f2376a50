import {expect, test} from 'vitest';
import {diffText} from '../../src/ui/changes.ts';

const PLAIN = {hasColor: false, columns: undefined};

test('shows changes with three lines of context', () => {
  expect(diffText('a.yaml', '1\n2\n3\n4\nold\n6\n', '1\n2\n3\n4\nnew\n6\n', PLAIN)).toBe(
    '--- a.yaml\n+++ a.yaml\n@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-old\n+new\n 6\n',
  );
});

test('hides Windows line ends, but shows a missing line end', () => {
  expect(diffText('a.yaml', 'a\r\nold', 'a\r\nnew', PLAIN)).toBe(
    '--- a.yaml\n+++ a.yaml\n@@ -1,2 +1,2 @@\n a\n-old\n\\ No newline at end of file\n+new\n\\ No newline at end of file\n',
  );
});

test('hides a token next to a change', () => {
  const token = `token: eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.cccc`;
  expect(diffText('a.yaml', `${token}\nold\n`, `${token}\nnew\n`, PLAIN)).toContain(
    ' token: [hidden]\n',
  );
});

test('uses colors when the screen supports them', () => {
  const text = diffText('a.yaml', 'old\n', 'new\n', {hasColor: true, columns: 80});
  expect(text).toContain('\u001b[31m-old\u001b[39m\n');
  expect(text).toContain('\u001b[32m+new\u001b[39m\n');
});
