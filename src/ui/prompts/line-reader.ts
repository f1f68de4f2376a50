import {StringDecoder} from 'node:string_decoder';
import {stripVTControlCharacters} from 'node:util';
import {Cancelled} from './cancelled.ts';
import {masked} from './frame.ts';

export interface LineStreams {
  input: NodeJS.ReadableStream & {setRawMode?(isRaw: boolean): unknown};
  output: NodeJS.WritableStream;
  /** Takes the question away. */
  signal?: AbortSignal;
}

const [CTRL_C, CTRL_D, CTRL_U, DELETE] = ['\u0003', '\u0004', '\u0015', '\u007f'];

/** Lines from a terminal. What was typed before it was asked for waits for the next question. */
export class LineReader {
  readonly #streams: LineStreams;
  readonly #decoder = new StringDecoder('utf8');
  #ahead = '';
  #isOver = false;

  constructor(streams: LineStreams) {
    this.#streams = streams;
  }

  /** @throws Cancelled */
  read(prompt: string, {isHidden}: {isHidden: boolean}): Promise<string> {
    const {input, output, signal} = this.#streams;
    return new Promise((resolve, reject) => {
      let typed = '';
      if (signal?.aborted || this.#isOver) return reject(new Cancelled());
      const cancel = (): void => end(() => reject(new Cancelled()), '');
      const over = (): void => {
        this.#isOver = true;
        cancel();
      };
      const hear = (chunk: Buffer | string): void => {
        this.#ahead += typeof chunk === 'string' ? chunk : this.#decoder.write(chunk);
        take();
        // The rest of a paste may be secret too, and the next question would show it.
        if (isHidden) this.#ahead = '';
      };
      const take = (): void => {
        while (this.#ahead !== '') {
          const key = this.#ahead.charAt(0);
          this.#ahead = this.#ahead.slice(1);
          if (key === '\r') this.#ahead = this.#ahead.replace(/^\n/, '');
          if (key === '\r' || key === '\n') {
            end(() => resolve(stripVTControlCharacters(typed)), isHidden ? masked(typed) : undefined);
            return;
          }
          if (key === CTRL_C || key === CTRL_D) {
            cancel();
            return;
          }
          if (key === DELETE || key === '\b') typed = typed.slice(0, -1);
          else typed = key === CTRL_U ? '' : typed + key;
        }
      };
      const end = (settle: () => void, ending?: string): void => {
        input.off('data', hear).off('end', over);
        signal?.removeEventListener('abort', cancel);
        input.pause();
        if (isHidden) input.setRawMode?.(false);
        if (ending !== undefined) output.write(`${ending}\n`);
        settle();
      };
      signal?.addEventListener('abort', cancel);
      // Before anybody is asked: what is typed at once would be shown.
      if (isHidden) input.setRawMode?.(true);
      output.write(prompt);
      input.on('data', hear).on('end', over).resume();
      take();
    });
  }
}
