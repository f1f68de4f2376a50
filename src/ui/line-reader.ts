import {StringDecoder} from 'node:string_decoder';
import {stripVTControlCharacters} from 'node:util';
import width from 'fast-string-width';
import {PromptCanceled} from '../ground/errors.ts';
import {masked, TOKEN} from './prompt-text.ts';
import {TerminalInput} from './terminal-input.ts';

export interface LineStreams {
  input: NodeJS.ReadableStream & {isTTY?: boolean; setRawMode?(isRaw: boolean): unknown};
  output: NodeJS.WritableStream;
  signal?: AbortSignal;
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';
export const ESCAPE_KEY = '\u001b';
const DELETE = '\u007f';
/** Erases a character on the screen, as terminals do it. */
const ERASE = '\b \b';

/** A line while it is typed. */
interface OpenLine {
  prompt: string;
  isHidden: boolean;
  typed: string;
  /** What is on the screen of it. */
  shown: string;
  resolve(text: string): void;
  reject(reason: Error): void;
}

/** Reads lines. Lines typed ahead answer the next questions, except on a terminal. */
export class LineReader {
  readonly #streams: LineStreams;
  readonly #decoder = new StringDecoder('utf8');
  /** In raw mode, the terminal shows nothing that is typed. */
  readonly #isRaw: boolean;
  #ahead = '';
  #isOver = false;
  #line: OpenLine | undefined;
  /** What was pasted behind the last line. */
  rest = '';

  constructor(streams: LineStreams) {
    this.#streams = streams;
    this.#isRaw = streams.input instanceof TerminalInput;
  }

  /** @throws PromptCanceled */
  read(prompt: string, isHidden: boolean): Promise<string> {
    const {input, output, signal} = this.#streams;
    if (signal?.aborted || this.#isOver) return Promise.reject(new PromptCanceled());
    return new Promise((resolve, reject) => {
      this.#line = {prompt, isHidden, typed: '', shown: '', resolve, reject};
      signal?.addEventListener('abort', this.#cancel);
      // Before the question, so that nothing typed at once is echoed.
      if (isHidden) input.setRawMode?.(true);
      output.write(prompt);
      input
        .on('data', this.#onData)
        .on('end', this.#onEnd)
        .on('escape', this.#onEscape)
        .on('continue', this.#onContinue)
        .resume();
      this.#takeKeys(this.#line);
    });
  }

  readonly #onData = (chunk: Buffer | string): void => {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.write(chunk);
    const line = this.#line;
    if (line === undefined) return;
    this.#ahead += stripVTControlCharacters(text);
    this.#takeKeys(line);
    // The rest of a paste may be secret too: the next question must not show it.
    if (!line.isHidden && !this.#isRaw) return;
    this.rest = this.#ahead.replaceAll(/[\r\n]/g, '');
    this.#ahead = '';
  };

  readonly #onEnd = (): void => {
    this.#isOver = true;
    this.#cancel();
  };

  readonly #onEscape = (): void => {
    if (this.#line) this.#line.typed = ESCAPE_KEY;
  };

  readonly #onContinue = (): void => {
    if (this.#line) this.#streams.output.write(`${this.#line.prompt}${this.#line.shown}`);
  };

  readonly #cancel = (): void => {
    const line = this.#line;
    this.#close('');
    line?.reject(new PromptCanceled());
  };

  #takeKeys(line: OpenLine): void {
    while (this.#ahead !== '') {
      const key = this.#ahead.charAt(0);
      this.#ahead = this.#ahead.slice(1);
      if (key === '\r') this.#ahead = this.#ahead.replace(/^\n/, '');
      if (key === CTRL_C || key === CTRL_D) this.#cancel();
      else if (key === '\r' || key === '\n') this.#complete(line);
      else line.typed = edited(line.typed, key);
      if (this.#line === undefined) return;
    }
    this.#echo(line);
  }

  #complete(line: OpenLine): void {
    this.#echo(line);
    const isMasked = line.isHidden || (this.#isRaw && line.typed.search(TOKEN) >= 0);
    if (isMasked) this.#close(masked(line.typed));
    // A terminal in its own mode has shown the line break.
    else this.#close(this.#isRaw ? '' : undefined);
    line.resolve(line.typed);
  }

  /** Writes or erases at the end of the line only, so that a screen reader can follow. */
  #echo(line: OpenLine): void {
    if (!this.#isRaw || line.isHidden) return;
    const text = visible(line.typed);
    const kept = commonStart(text, line.shown);
    const erased = ERASE.repeat(width(line.shown.slice(kept.length)));
    this.#streams.output.write(`${erased}${text.slice(kept.length)}`);
    line.shown = text;
  }

  /** `ending` ends the line on the screen. */
  #close(ending: string | undefined): void {
    const {input, output, signal} = this.#streams;
    input
      .off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('escape', this.#onEscape)
      .off('continue', this.#onContinue);
    signal?.removeEventListener('abort', this.#cancel);
    input.pause();
    if (this.#line?.isHidden) input.setRawMode?.(false);
    if (ending !== undefined) output.write(`${ending}\n`);
    this.#line = undefined;
  }
}

function edited(typed: string, key: string): string {
  if (key === DELETE || key === '\b') return typed.slice(0, -1);
  return key === CTRL_U ? '' : typed + key;
}

/** What a terminal in raw mode shows of a line: no token. */
const visible = (line: string): string => line.replaceAll(TOKEN, '').replaceAll(/\p{Cc}/gu, '');

/** The shorter of two texts if the other one starts with it; else nothing. */
function commonStart(one: string, other: string): string {
  if (one.startsWith(other)) return other;
  return other.startsWith(one) ? one : '';
}
