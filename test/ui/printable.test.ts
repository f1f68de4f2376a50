import {stripVTControlCharacters} from 'node:util';
import {expect, test} from 'vitest';
import {printable} from '../../src/ui/printable.ts';
import {paragraph, theme} from '../../src/ui/theme.ts';

test.each([
  ['clears the screen', 'a\u001B[2Jb'],
  ['moves the cursor', 'a\u001B[1;1Hb'],
  ['fills the clipboard', 'a\u001B]52;c;ZXZpbA==\u0007b'],
  ['sets the title', 'a\u001B]0;title\u001B\\b'],
  ['is a link', 'a\u001B]8;;https://evil.example\u001B\\b'],
  ['hides text', 'a\u001B[8mb'],
  ['resets the terminal', 'a\u001Bcb'],
  ['is a C1 sequence', 'a\u009B\u0085b'],
  ['rings, goes back and returns', 'a\u0007\b\rb'],
  ['is cut off', 'ab\u001B['],
  ['is only started', 'ab\u001B'],
])('drops what %s', (_, text) => {
  const shown = printable(text);
  expect(shown).toMatch(/^ab/);
  expect(shown).toBe(stripVTControlCharacters(shown));
});

test('keeps lines, tabs and the own colors', () => {
  const text = `${theme({hasColor: true}).bold.red('x')}\tü → ✓\n\r\n`;
  expect(printable(text)).toBe(text);
});

test('lines of a screen, which prompts and progress consist of, have none of others', () => {
  const screen = {hasColor: true, columns: 80};
  expect(paragraph('\u001B[2J- ', 'pool \u001B]52;c;ZXZpbA==\u0007x', screen)).toBe('- pool x\n');
});
