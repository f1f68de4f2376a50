import {eraseLines} from '@inquirer/ansi';
import width from 'fast-string-width';

interface Output {
  write(text: string): unknown;
  columns?: number;
}

/** The last lines of a terminal, which are replaced in place. Everything else is printed above them. */
export class LiveLines {
  readonly #output: Output;
  #shown = '';

  constructor(output: Output) {
    this.#output = output;
  }

  readonly print = (text: string): void => {
    this.#output.write(`${this.#erased}${text}${this.#shown}`);
  };

  /** Complete lines that fit the width, or an empty text. */
  readonly draw = (text: string): void => {
    if (text === this.#shown) return;
    const erasing = this.#erased;
    if (this.#shown === '') process.once('SIGCONT', this.#forget);
    if (text === '') process.off('SIGCONT', this.#forget);
    this.#shown = text;
    this.#output.write(`${erasing}${text}`);
  };

  get #erased(): string {
    if (this.#shown === '') return '';
    const {columns = Number.POSITIVE_INFINITY} = this.#output;
    // A window that became narrower has broken the lines.
    const heights = this.#shown.split('\n').map((line) => Math.ceil(width(line) / columns) || 1);
    return eraseLines(heights.reduce((sum, height) => sum + height, 0));
  }

  /** After Ctrl-Z and fg, the lines of the shell are on the screen, and they must not be erased. */
  readonly #forget = (): void => {
    this.#shown = '';
  };
}
