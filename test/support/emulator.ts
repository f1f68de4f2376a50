import xterm from '@xterm/headless';

/** What a person sees of what was written to a terminal. */
export class Emulator {
  readonly #terminal: xterm.Terminal;

  constructor({columns, rows}: {columns: number; rows: number}) {
    this.#terminal = new xterm.Terminal({cols: columns, rows, allowProposedApi: true, convertEol: true});
  }

  write(text: string | Uint8Array): void {
    this.#terminal.write(text);
  }

  /** Every line, also above the window, down to the last that says something. */
  async lines(): Promise<string[]> {
    const lines = (await this.#all()).map((line) => line?.translateToString().trimEnd() ?? '');
    return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
  }

  /** What the terminal had to break because it was too long, in the middle of a word perhaps. */
  async broken(): Promise<string[]> {
    return (await this.#all()).flatMap((line) => (line?.isWrapped ? [line.translateToString()] : []));
  }

  /** Counted from the first line of all. */
  get cursor(): {row: number; column: number} {
    const {active} = this.#terminal.buffer;
    return {row: active.baseY + active.cursorY, column: active.cursorX};
  }

  async #all(): Promise<(xterm.IBufferLine | undefined)[]> {
    await new Promise<void>((resolve) => this.#terminal.write('', resolve));
    const {active} = this.#terminal.buffer;
    return Array.from({length: active.length}, (_, row) => active.getLine(row));
  }
}
