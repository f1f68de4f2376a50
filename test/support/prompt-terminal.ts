import {once} from 'node:events';
import {PassThrough} from 'node:stream';
import {setImmediate} from 'node:timers/promises';
import type {Prompter} from '../../src/ground/system/system.ts';
import {InquirerPrompter} from '../../src/ui/inquirer-prompter.ts';
import {LinePrompter} from '../../src/ui/line-prompter.ts';
import type {Screen} from '../../src/ui/theme.ts';
import {Emulator} from './emulator.ts';

interface Wanted extends Partial<Screen> {
  columns?: number;
  rows?: number;
  isDumb?: boolean;
  /** The input is a terminal and not a pipe. */
  isTTY?: boolean;
  isEchoed?: boolean;
  signal?: AbortSignal;
}

/** A terminal of two streams, with an emulator for the visible screen. */
export class PromptTerminal {
  readonly input = Object.assign(new PassThrough(), {
    isRaw: false,
    setRawMode: this.#setRaw.bind(this),
  });
  readonly output: PassThrough & {columns: number; rows: number};
  readonly prompter: Prompter;
  /** The whole output, with escape sequences. */
  written = '';
  readonly #emulator: Emulator;

  constructor({
    columns = 80,
    rows = 24,
    isDumb = false,
    isTTY = false,
    isEchoed = false,
    signal,
    ...desired
  }: Wanted = {}) {
    // Piping into a standard stream never ends it.
    this.output = Object.assign(new PassThrough(), {columns, rows, _isStdio: true});
    this.#emulator = new Emulator({columns, rows});
    this.output.on('data', (chunk: Buffer) => {
      this.written += chunk.toString();
      this.#emulator.write(chunk);
    });
    const streams = {
      input: Object.assign(this.input, isTTY ? {isTTY} : {}),
      output: this.output,
      isEchoed,
      ...(signal ? {signal} : {}),
    };
    const screen = {hasColor: false, columns, ...desired};
    this.prompter = isDumb
      ? new LinePrompter(screen, streams)
      : new InquirerPrompter(screen, streams);
  }

  async lines(): Promise<string[]> {
    for (let turn = 0; turn < 6; turn++) await setImmediate();
    return this.#emulator.lines();
  }

  get cursor(): {row: number; column: number} {
    return this.#emulator.cursor;
  }

  get showsCursor(): boolean {
    return this.written.lastIndexOf('\u001b[?25h') > this.written.lastIndexOf('\u001b[?25l');
  }

  /** Waits until the text is shown. */
  async see(text: string): Promise<string[]> {
    for (;;) {
      const lines = await this.lines();
      if (lines.join('\n').includes(text)) return lines;
      await once(this.output, 'data');
    }
  }

  /** Sends all keys in one chunk, like a paste. */
  async press(keys: string): Promise<string[]> {
    this.input.write(keys);
    return this.lines();
  }

  #setRaw(isRaw: boolean): void {
    this.input.isRaw = isRaw;
  }
}

export const UP = '\u001b[A';
export const DOWN = '\u001b[B';
export const LEFT = '\u001b[D';
export const ENTER = '\r';
export const ESC = '\u001b';
export const CTRL_A = '\u0001';
export const CTRL_C = '\u0003';
export const CTRL_D = '\u0004';
export const CTRL_U = '\u0015';
export const BACKSPACE = '\u007f';
