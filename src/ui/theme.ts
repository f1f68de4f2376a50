import {Chalk, type ChalkInstance} from 'chalk';
import width from 'fast-string-width';
import {wrapAnsi} from 'fast-wrap-ansi';
import isUnicodeSupported from 'is-unicode-supported';
import {printable} from './printable.ts';

export interface Screen {
  hasColor: boolean;
  /** Width of the terminal; undefined in a pipe, where lines stay whole. */
  columns: number | undefined;
  /** Height of the terminal; undefined where nothing scrolls away. */
  rows?: number | undefined;
  isAscii?: boolean;
  /** For a screen reader: marks are words. Such a screen has no colors. */
  isAccessible?: boolean;
  /** Lines can be replaced in place. */
  isLive?: boolean;
}

/** The same screen without colors; follows changes of its width. */
export const withoutColor = (screen: Screen): Screen => ({
  ...screen,
  hasColor: false,
  get rows() {
    return screen.rows;
  },
  get columns() {
    return screen.columns;
  },
});

export const theme = ({hasColor}: Pick<Screen, 'hasColor'>): ChalkInstance =>
  new Chalk({level: hasColor ? 1 : 0});

const NARROWEST = 20;

/** Start of a command with flags, or of one that changes an object. */
const COMMAND =
  /(?<=^|: )(?=(?:kubectl|helm|scalr-agent) [^,;:]*? --)|(?<=: )(?=kubectl (?:annotate|create|delete|label|patch) (?!failed)|oc adm )/;

/** A paragraph whose further lines are indented under its first. A command in it stays one line, so that it can be copied. */
export function paragraph(first: string, text: string, screen: Screen): string {
  const head = asciiFallback(first, screen);
  const body = asciiFallback(text, screen);
  if (screen.columns === undefined) return `${head}${body}\n`;
  const indent = width(head);
  const room = Math.max(screen.columns - indent, NARROWEST);
  const at = body.search(COMMAND);
  const [prose, command] = at < 0 ? [body, ''] : [body.slice(0, at).trimEnd(), body.slice(at)];
  const wrapped = wrapAnsi(prose, room, {hard: true});
  const isShort = width(wrapped.slice(wrapped.lastIndexOf('\n') + 1)) + 1 + width(command) <= room;
  const lines = [wrapped, command].filter((part) => part !== '').join(isShort ? ' ' : '\n');
  return `${head}${lines.replaceAll('\n', `\n${' '.repeat(indent)}`)}\n`;
}

/** What to do next, as a paragraph. YAML that it contains keeps its lines, so that it can be pasted. */
export function nextStep(first: string, text: string, screen: Screen): string {
  const [sentence = '', ...yaml] = text.split('\n').filter((line) => line !== '');
  const indent = ' '.repeat(width(first));
  return paragraph(first, sentence, screen) + yaml.map((line) => `${indent}${line}\n`).join('');
}

export const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';

/** Every non-ASCII character that the program prints. */
const SPELLED: Readonly<Record<string, string>> = {
  '✓': '+',
  '✔': '+',
  '×': 'x',
  '…': '...',
  '“': '"',
  '”': '"',
  '\ufffd': '?',
  '→': '->',
  '·': '-',
  '❯': '>',
  '◉': '[x]',
  '◯': '[ ]',
  '–': '-',
  '’': "'",
  '◆': '*',
  '◇': 'o',
  '●': '*',
  '│': '|',
  '└': '\\',
  '↑': '^',
  '↓': 'v',
  ...Object.fromEntries([...SPINNER].map((frame, index) => [frame, '-\\|/'[index % 4] as string])),
};

const SIGN = new RegExp(Object.keys(SPELLED).join('|'), 'g');

const MARKS = {ready: ['✓', 'green'], waiting: ['…', 'yellow'], failing: ['×', 'red']} as const;

/** The mark of a workload or an agent. */
export function stateMark(state: keyof typeof MARKS, screen: Screen): string {
  const [mark, color] = MARKS[state];
  return theme(screen)[color](mark);
}

/** What a mark at the start of a line says. */
const SPOKEN: Readonly<Record<string, string>> = {
  '✓': 'Done: ',
  '✔': 'Done: ',
  '×': 'Failed: ',
  '!': 'Warning: ',
  '…': 'Waiting: ',
  '→': 'Remedy: ',
  '◆': '',
  '◇': 'Answered: ',
  '│': '',
  '└': '',
  '?': 'Unknown: ',
};

const MARK_AT_START = /^( *)([✓✔×!…→◆◇│└?]) +/gm;

/**
 * Drops control sequences of others, and replaces characters that the screen cannot show, and marks that a screen reader does not read. Not for
 * machine-readable output.
 */
export const asciiFallback = (
  given: string,
  {isAscii = false, isAccessible = false}: Pick<Screen, 'isAscii' | 'isAccessible'>,
): string => {
  const text = printable(given);
  const spoken = isAccessible
    ? text.replace(MARK_AT_START, (_, indent, mark) => `${indent}${SPOKEN[mark]}`)
    : text;
  return isAscii || isAccessible ? spoken.replace(SIGN, (sign) => SPELLED[sign] as string) : spoken;
};

/** True if the terminal or locale does not support these characters; an unset locale is ignored. */
export function isAsciiOnly(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  const [name = '', encoding = name === 'C' || name === 'POSIX' ? 'ASCII' : 'UTF-8'] = locale
    .replace(/@.*/, '')
    .split('.');
  return (
    !/^utf-?8$/i.test(encoding) || (isTerminal && (env['TERM'] === 'dumb' || !isUnicodeSupported()))
  );
}

/** Rows in columns, as kubectl prints tables; the first one is the heading. */
export function columnsText(rows: readonly (readonly string[])[], screen: Screen): string {
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length))) ?? [];
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd(),
  );
  return lines.map((line, index) => `${index === 0 ? theme(screen).bold(line) : line}\n`).join('');
} /** Of a terminal without a size: the one of a CI job, or a serial console. */
export const USUAL_COLUMNS = 80;
