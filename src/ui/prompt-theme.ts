import {stripVTControlCharacters} from 'node:util';
import width from 'fast-string-width';
import type {Choice, ListQuestion} from '../ground/system/system.ts';
import {TOKEN} from './prompt-text.ts';
import {asciiFallback, paragraph, type Screen, SPINNER, theme} from './theme.ts';

type Window = Screen & {columns: number};
type Asked = Pick<ListQuestion, 'message' | 'help' | 'heading' | 'note' | 'canGoBack'>;

const INDENT = '   ';
const MOST_ROWS = 15;
const FEWEST_ROWS = 3;
/** Lower windows show no explanation. */
const LOW = 18;

const indented = (text: string, screen: Window, indent = INDENT): string =>
  paragraph(indent, text, screen).trimEnd();

interface ThemeOptions {
  heading?: readonly string[] | undefined;
  keys?: string;
  onActive?(name: string, isTicked: boolean): void;
}

/** What the prompts of @inquirer/prompts look like. */
export function promptTheme(screen: Window, {heading, keys = '', onActive}: ThemeOptions) {
  const {cyan, dim, red} = theme(screen);
  const shown = (text: string): string => asciiFallback(text, screen);
  const same = (text: string): string => text;
  const checked = shown('◉');
  return {
    prefix: {idle: shown(cyan(heading === undefined ? '?' : '◆ ')), done: ''},
    spinner: {interval: 80, frames: [...SPINNER].map((frame) => shown(cyan(`${frame} `)))},
    icon: {
      cursor: shown('❯'),
      checked,
      unchecked: shown('◯'),
      disabledChecked: checked,
      disabledUnchecked: '-',
    },
    i18n: {disabledError: 'This choice is not possible.'},
    style: {
      message: same,
      answer: same,
      renderSelectedChoices: () => '',
      confirmDefault: (text: string) => text.toUpperCase(),
      defaultAnswer: (text: string) => dim(`(${text})`),
      searchTerm: (text: string) => cyan(text.replaceAll(TOKEN, '')),
      disabled: (text: string) => dim(shown(text)),
      description: (text: string) => indented(text, screen),
      error: (text: string) => indented(red(text), screen),
      keysHelpTip: () => indented(dim(keys), screen),
      highlight(text: string) {
        const [, marks = '', name = ''] =
          /^(\S+) (.*)$/s.exec(stripVTControlCharacters(text)) ?? [];
        onActive?.(name, marks.endsWith(checked));
        return cyan(text);
      },
    },
  };
}

/** A question, its details and one line that explains it. */
function messageText({message, note, heading, help}: Asked, screen: Window): string {
  const indent = heading === undefined ? '  ' : INDENT;
  const {bold, dim} = theme(screen);
  const title = `${bold(message)}${note === undefined ? '' : dim(` (${note})`)}`;
  const [explained = ''] = help;
  const isLow = (screen.rows ?? LOW) < LOW;
  const lines = [title, ...(heading ?? []), ...(explained === '' || isLow ? [] : [dim(explained)])];
  return lines
    .map((line) => indented(line, screen, indent))
    .join('\n')
    .slice(indent.length);
}

export const listMessage = messageText;

/** The text is typed on a line of its own, unless it is one letter. */
export function textMessage(question: Asked, screen: Window, isInline: boolean): string {
  if (isInline) return messageText({...question, help: []}, screen);
  const [explained = '', ...others] = question.help;
  const keys = escText(question.canGoBack);
  const help = [[explained, keys && `${keys}.`].filter(Boolean).join(' '), ...others];
  const indent = question.heading === undefined ? ' ' : '  ';
  return `${messageText({...question, help}, screen)}\n${indent}`;
}

const escText = (canGoBack: ListQuestion['canGoBack']): string => {
  if (!canGoBack) return '';
  return `Esc ${canGoBack === 'quit' ? 'quit' : 'back'}`;
};

const KEYS = {
  select: '↑↓ move · type to jump · Enter select',
  search: '↑↓ move · type to filter · Enter select',
  checkbox: '↑↓ move · Space toggle · Enter confirm',
} as const;

/** The keys of a list. */
export const keysText = (kind: keyof typeof KEYS, {canGoBack}: Asked): string =>
  [KEYS[kind], escText(canGoBack)].filter(Boolean).join(' · ');

/** Choices with their meaning beside them, or below the list where it does not fit. */
export function rowsOf(choices: readonly Choice[], screen: Window) {
  const column = Math.max(0, ...choices.map(({label}) => width(label)));
  return choices.map(({value, label, description, disabled}) => {
    const about = disabled ?? description;
    const row = `${label}${' '.repeat(column - width(label))}  ${about ?? ''}`.trimEnd();
    const fits = width(row) + INDENT.length <= screen.columns;
    const name = asciiFallback(fits && disabled === undefined ? row : label, screen);
    const beside = fits ? `${' '.repeat(column - width(label))} ${disabled}` : '(not possible)';
    return {
      value,
      name,
      disabled: disabled !== undefined && beside,
      ...(fits || about === undefined ? {} : {description: about}),
    };
  });
}

/** How many rows of the list fit into the window, above the longest meaning and the keys. */
export function pageSizeOf(
  question: Asked & {choices: readonly Choice[]},
  keys: string,
  screen: Window,
): number {
  const {rows = 24} = screen;
  const heightOf = (text: string): number =>
    text === '' ? 0 : indented(text, screen).split('\n').length;
  const above = messageText(question, screen).split('\n').length;
  const meanings = rowsOf(question.choices, screen).map(({description = ''}) =>
    heightOf(description),
  );
  // A blank line, and one for the cursor.
  const below = Math.max(0, ...meanings) + heightOf(keys) + 2;
  return Math.max(FEWEST_ROWS, Math.min(MOST_ROWS, rows - above - below));
}
