import {expect, test} from 'vitest';
import {paragraph, type Screen, theme} from '../../src/ui/theme.ts';

const TEXT = 'every word of this sentence has to find its place';

test.each([
  true,
  false,
])('indents further lines under the first one, with colors (%s) or without', (hasColor) => {
  const screen: Screen = {hasColor, columns: 30};
  const mark = theme(screen).red('×');
  expect(paragraph(`${mark} `, TEXT, screen)).toBe(
    `${mark} every word of this sentence\n  has to find its place\n`,
  );
});

test('does not wrap lines in a pipe', () => {
  expect(paragraph('× ', TEXT, {hasColor: false, columns: undefined})).toBe(`× ${TEXT}\n`);
});

test('keeps a command in one piece, on its own line when it does not fit', () => {
  const screen: Screen = {hasColor: false, columns: 30};
  const command = 'kubectl describe pod agent-5f-x --namespace agents';
  expect(paragraph('- ', `${TEXT}: ${command}`, screen)).toBe(
    `- every word of this sentence\n  has to find its place:\n  ${command}\n`,
  );
  expect(paragraph('- ', `See: kubectl logs a -- x`, screen)).toBe('- See: kubectl logs a -- x\n');
  expect(paragraph('- ', command, screen)).toBe(`- ${command}\n`);
});
