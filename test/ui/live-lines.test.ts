import {expect, test} from 'vitest';
import {LiveLines} from '../../src/ui/live-lines.ts';

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
