import xterm from '@xterm/headless';

/** Renders terminal output as a user sees it. */
export class Emulator {
  readonly #terminal: xterm.Terminal;

  constructor({columns, rows}: {columns: number; rows: number}) {
    this.#terminal = new xterm.Terminal({
      cols: columns,
      rows,
      allowProposedApi: true,
      convertEol: true,
    });
  }

  write(text: string | Uint8Array): void {
    this.#terminal.write(text);
  }

  /** All lines including scrollback, without empty lines at the end. */
  async lines(): Promise<string[]> {
    const lines = (await this.#all()).map((line) => line?.translateToString().trimEnd() ?? '');
    return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
  }

  /** What a user sees without scrolling. */
  async visible(): Promise<string[]> {
    const all = await this.#all();
    return all
      .slice(this.#terminal.buffer.active.baseY)
      .map((line) => line?.translateToString().trimEnd() ?? '');
  }

  /** Lines that the terminal wrapped because they were too long. */
  async broken(): Promise<string[]> {
    return (await this.#all()).flatMap((line) =>
      line?.isWrapped ? [line.translateToString()] : [],
    );
  }

  /** Counted from the first line of the scrollback. */
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
