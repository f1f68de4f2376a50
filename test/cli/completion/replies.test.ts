import {expect, test} from 'vitest';
import {bashWords, type Line} from '../../../src/cli/completion/line.ts';
import {bashReply, type Offer, reply} from '../../../src/cli/completion/replies.ts';

const line = (prefix: string, typed: string): Line => ({
  command: 'status',
  given: new Map(),
  flag: undefined,
  prefix,
  typed,
  hasEnded: false,
});
const named = (...values: string[]) => values.map((value) => ({value, description: ''}));
const TWO = [
  {value: 'pvc', description: 'A claim that is made for it, and more of these words'},
  {value: 'pvc-old', description: ''},
];

test('the scripts read three things: what it is, what stands before it, and each value with its meaning', () => {
  expect(reply(TWO, line('--cache=', 'z'), {isFiltered: false})).toBe(
    'values\n--cache=\npvc\tA claim that is made for it, and more of these words\npvc-old\t\n',
  );
  expect(reply('files', line('-f', 'a'), {isFiltered: false})).toBe('files\n-f\n');
});

test('filters candidates for shells that do not filter', () => {
  expect(reply(named('pvc', 'efs'), line('', 'p'), {isFiltered: true})).toBe('values\n\npvc\t\n');
});

test('omits names with control characters and cleans descriptions', () => {
  const offer = [
    ...named('two\nlines', 'clear\u001b[2J'),
    {value: 'fine', description: 'of\ta\u0007bell'},
  ];
  expect(reply(offer, line('', ''), {isFiltered: false})).toBe('values\n\nfine\tof a bell\n');
});

const inBash = (
  offer: Offer,
  written: string,
  replaced: string,
  prefix: string,
  typed: string,
  type = '9',
) => bashReply(offer, line(prefix, typed), bashWords(written, replaced, {}), {type, columns: 40});

test.each([
  ['x --cache=p', 'p', '--cache=', 'p', 'pvc'],
  ['x --cache=p', '--cache=p', '--cache=', 'p', '--cache=pvc'],
])('bash gets what replaces its word: %s, %s', (written, replaced, prefix, typed, expected) => {
  expect(inBash(named('pvc', 'efs'), written, replaced, prefix, typed)).toBe(
    `-o nosort\n\n${expected}\n`,
  );
});

test.each([
  ['x ', '', "it\\'s\\ \\$5\\!"],
  ['x "', '', "it's \\$5!"],
  ["x '", '', "it'\\''s $5!"],
])('quotes %s for bash', (written, replaced, expected) => {
  expect(inBash(named("it's $5!"), written, replaced, '', '')).toBe(`-o nosort\n\n${expected}\n`);
});

test('shows descriptions in bash lists only, up to the width of the terminal', () => {
  expect(inBash(TWO, 'x ', '', '', '')).toBe('-o nosort\n\npvc\npvc-old\n');
  expect(inBash(TWO, 'x ', '', '', '', '63')).toBe(
    '-o nosort\n\npvc      (A claim that is made for it…)\npvc-old\n',
  );
  expect(inBash(TWO, 'x pvc-', 'pvc-', '', 'pvc-', '63')).toBe('-o nosort\n\npvc-old\n');
});

test.each([
  ['x --out=a', 'a', '--out=', 'a', ''],
  ['x --out=a', '--out=a', '--out=', 'a', '--out='],
  ['x -f a,b', 'a,b', 'a,', 'b', 'a,'],
])('bash finds files by itself, behind what stands before them: %s, %s', (written, replaced, prefix, typed, before) => {
  expect(inBash('files', written, replaced, prefix, typed)).toBe(`-o default\n${before}\n`);
  expect(inBash('directories', written, replaced, prefix, typed)).toBe(`-o dirnames\n${before}\n`);
});
