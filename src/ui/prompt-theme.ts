import width from 'fast-string-width';
import type {Choice, InputQuestion, ListQuestion} from '../ground/system/system.ts';
import {TOKEN} from './prompt-text.ts';
import {asciiFallback, paragraph, type Screen, SPINNER, theme} from './theme.ts';

type Window = Screen & {columns: number};
type Asked = Pick<ListQuestion, 'message' | 'help' | 'heading' | 'note' | 'canGoBack'> &
  Pick<InputQuestion, 'isPrefilled'>;

const INDENT = '   ';
/** Lower windows show no explanation. */
const LOW = 18;
/** Narrower windows do not say how many rows a list has. */
const WIDE = 70;
/** No terminal is wide enough to show a token. */
const MOST_DOTS = 32;
const HIDE_CURSOR = '\u001B[?25l';

const KEYS = {
  select: '↑↓ move · type to jump · Enter select',
  search: '↑↓ move · type to filter · Enter select',
} as const;

interface ThemeOptions {
  kind?: keyof typeof KEYS;
  onActive?(name: string): void;
  /** Number of rows of a list that does not fit. */
  rows?: number | undefined;
  /** A mistaken text is removed instead of being left for correction. */
  clearsMistakes?: boolean;
}

const indented = (text: string, screen: Window, indent = INDENT): string =>
  paragraph(indent, text, screen).trimEnd();

const escText = ({canGoBack}: Asked): string =>
  canGoBack ? `Esc ${canGoBack === 'quit' ? 'quit' : 'back'}` : '';

/** What the prompts of @inquirer/prompts look like. */
export function promptTheme(screen: Window, question: Asked, options: ThemeOptions) {
  const {cyan, dim, red} = theme(screen);
  const {kind = 'select', onActive, rows, clearsMistakes = false} = options;
  const shown = (text: string): string => asciiFallback(text, screen);
  const count = rows !== undefined && screen.columns >= WIDE && `${rows} rows`;
  const keys = [count, KEYS[kind], escText(question)].filter(Boolean).join(' · ');
  return {
    prefix: {idle: shown(cyan(question.heading === undefined ? '?' : '◆ ')), done: ''},
    spinner: {interval: 80, frames: [...SPINNER].map((frame) => shown(cyan(`${frame} `)))},
    icon: {cursor: shown('❯')},
    i18n: {disabledError: 'This choice is not possible.'},
    validationFailureMode: clearsMistakes ? ('clear' as const) : ('keep' as const),
    style: {
      message: (text: string) => text,
      answer: (text: string) => text,
      defaultAnswer: (text: string) => dim(question.isPrefilled ? '(empty)' : `(${text})`),
      searchTerm: (text: string) => cyan(text.replaceAll(TOKEN, '')),
      disabled: (text: string) => dim(shown(kind === 'search' ? `- ${text}` : text)),
      description: (text: string) => indented(text, screen),
      error: (text: string) => indented(red(text), screen),
      keysHelpTip: () => indented(dim(keys), screen),
      highlight(text: string) {
        onActive?.(text.replace(/^\S+ /, ''));
        return cyan(text);
      },
    },
  };
}

/** A question, its details and one line that explains it. Text is typed on a line of its own, except a short answer. */
export function messageText(question: Asked, screen: Window, isTyped: boolean): string {
  const {message, note, heading = [], help} = question;
  const {bold, dim} = theme(screen);
  const indent = question.heading === undefined ? '  ' : INDENT;
  const esc = isTyped && question.canGoBack ? `${escText(question)}.` : '';
  const explained = [help[0], esc].filter(Boolean).join(' ');
  const isLow = (screen.rows ?? LOW) < LOW;
  const title = `${bold(message)}${note === undefined ? '' : dim(` (${note})`)}`;
  const lines = [title, ...heading, ...(explained === '' || isLow ? [] : [dim(explained)])];
  const text = lines.map((line) => indented(line, screen, indent)).join('\n');
  return `${text.slice(indent.length)}${isTyped ? `\n${indent.slice(1)}` : ''}`;
}

/** Dots instead of a secret, its length, and what it is. */
export function dotsText(text: string, about: string | undefined, screen: Window): string {
  if (text === '') return '';
  const {dim, green} = theme(screen);
  const {length} = [...text];
  const room = Math.max(1, screen.columns - 24);
  const dots = '●'.repeat(Math.min(length, MOST_DOTS, room));
  const count = length > MOST_DOTS ? dim(`  ${length} characters`) : '';
  const meaning =
    about === undefined ? '' : `\n${indented(about, screen, `${INDENT}${green('✔')} `)}`;
  return asciiFallback(`${dots}${count}${meaning}${HIDE_CURSOR}`, screen);
}

/** The beginning of a reason, which is told in full where the cursor stands. */
const cut = (text: string, room: number): string =>
  width(text) <= room ? text : `${text.slice(0, Math.max(0, room - 1)).trimEnd()}…`;

/** Choices with their meaning beside them, or below the list where it does not fit. */
export function rowsOf(choices: readonly Choice[], screen: Window) {
  const column = Math.max(0, ...choices.map(({label}) => width(label)));
  return choices.map(({value, label, description, disabled}) => {
    const about = disabled ?? description;
    const gap = ' '.repeat(column - width(label));
    const room = screen.columns - INDENT.length - column - 2;
    const fits = width(about ?? '') <= room;
    const row = fits && disabled === undefined ? `${label}${gap}  ${about ?? ''}` : label;
    return {
      value,
      name: asciiFallback(row.trimEnd(), screen),
      short: label,
      disabled: disabled !== undefined && asciiFallback(`${gap} ${cut(disabled, room)}`, screen),
      ...(fits || about === undefined ? {} : {description: about}),
    };
  });
}
