import {eraseLines} from '@inquirer/ansi';
import width from 'fast-string-width';
import {count} from '../ground/text.ts';
import {printable} from './printable.ts';
import type {Screen} from './theme.ts';

interface Output {
  write(text: string): unknown;
  columns?: number | undefined;
}

/** The last lines of a terminal, which are replaced in place. Everything else is printed above them. */
export class LiveLines {
  readonly #output: Output;
  #shown = '';

  constructor(output: Output) {
    this.#output = output;
  }

  readonly print = (text: string): void => {
    this.#output.write(`${this.#erased}${printable(text)}${this.#shown}`);
  };

  /** Complete lines that fit the width, or an empty text. */
  readonly draw = (given: string): void => {
    const text = printable(given);
    if (text === this.#shown) return;
    const erasing = this.#erased;
    if (this.#shown === '') process.once('SIGCONT', this.#forget);
    if (text === '') process.off('SIGCONT', this.#forget);
    this.#shown = text;
    this.#output.write(`${erasing}${text}`);
  };

  get #erased(): string {
    if (this.#shown === '') return '';
    // A window that became narrower has broken the lines.
    const heights = this.#shown.split('\n').map((line) => heightOf(line, this.#output.columns));
    return eraseLines(heights.reduce((sum, height) => sum + height, 0));
  }

  /** After Ctrl-Z and fg, the lines of the shell are on the screen, and they must not be erased. */
  readonly #forget = (): void => {
    this.#shown = '';
  };
}

/** A terminal without a size reports 0 columns. */
const heightOf = (line: string, columns = 0): number =>
  columns === 0 ? 1 : Math.ceil(width(line) / columns) || 1;

/** The first lines of a text, as many as can be replaced in place: what has scrolled away cannot. */
export function fittedLines(
  text: string,
  {columns, rows}: Pick<Screen, 'columns' | 'rows'>,
): string {
  const lines = text.trimEnd().split('\n');
  // The cursor is below the last line.
  let room = (rows ?? Number.POSITIVE_INFINITY) - 1;
  const first = lines.findIndex((line) => {
    room -= heightOf(line, columns);
    return room < 0;
  });
  if (first < 0) return text;
  const shown = lines.slice(0, Math.max(0, first - 1));
  return `${[...shown, `… ${count(lines.length - shown.length, 'more line')}`].join('\n')}\n`;
}
