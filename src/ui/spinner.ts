import {LiveLines} from './live-lines.ts';
import {asciiFallback, type Screen, SPINNER, theme} from './theme.ts';

const HIDE_CURSOR = '\u001B[?25l';
const SHOW_CURSOR = '\u001B[?25h';
const FRAME_MS = 100;

/** A line that moves while something is waited for. */
export class Spinner {
  readonly #output: NodeJS.WritableStream;
  readonly #lines: LiveLines;
  readonly #timer: NodeJS.Timeout;
  #frame = 0;

  /** Shows it at once. */
  constructor(message: string, output: NodeJS.WritableStream, screen: Screen) {
    this.#output = output;
    this.#lines = new LiveLines(output);
    const paint = (): void => {
      const mark = theme(screen).cyan(SPINNER[this.#frame % SPINNER.length]);
      this.#frame += 1;
      this.#lines.draw(`${asciiFallback(`${mark}  ${message}`, screen)}${HIDE_CURSOR}\n`);
    };
    paint();
    this.#timer = setInterval(paint, FRAME_MS);
  }

  /** Erases it. */
  stop(): void {
    clearInterval(this.#timer);
    this.#lines.draw('');
    this.#output.write(SHOW_CURSOR);
  }
}
