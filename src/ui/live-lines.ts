import {eraseLines} from '@inquirer/ansi';

/** The last lines of a terminal, which are replaced in place. Everything else is printed above them. */
export class LiveLines {
  readonly #output: {write(text: string): unknown};
  #shown = '';

  constructor(output: {write(text: string): unknown}) {
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
    return this.#shown === '' ? '' : eraseLines(this.#shown.split('\n').length);
  }

  /** After Ctrl-Z and fg, the lines of the shell are on the screen, and they must not be erased. */
  readonly #forget = (): void => {
    this.#shown = '';
  };
}
