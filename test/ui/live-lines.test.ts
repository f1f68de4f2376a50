import {expect, test} from 'vitest';
import {fittedLines, LiveLines} from '../../src/ui/live-lines.ts';

/** Lines that are erased, the one of the cursor included. */
const erasedIn = (text: string): number => text.split('\u001B[2K').length - 1;

test('erases the lines that a narrower window has broken', () => {
  const output = {columns: 80, text: '', write: (text: string) => (output.text = text)};
  const {draw} = new LiveLines(output);
  draw(`${'a'.repeat(70)}\nshort\n`);
  draw('one\n');
  expect(erasedIn(output.text)).toBe(3);
  draw(`${'a'.repeat(70)}\nshort\n`);
  output.columns = 40;
  draw('');
  expect(erasedIn(output.text)).toBe(4);
});

test('keeps as many lines as a terminal can replace', () => {
  const text = 'one\ntwo\nthree\nfour\n';
  expect(fittedLines(text, {columns: 80, rows: 5})).toBe(text);
  expect(fittedLines(text, {columns: 80, rows: 4})).toBe('one\ntwo\n… 2 more lines\n');
  expect(fittedLines(text, {columns: undefined, rows: undefined})).toBe(text);
  const broken = `${'a'.repeat(25)}\ntwo\n`;
  expect(fittedLines(broken, {columns: 10, rows: 5})).toBe(broken);
  expect(fittedLines(broken, {columns: 10, rows: 4})).toBe('… 2 more lines\n');
});
