import {Transform, type TransformCallback} from 'node:stream';

// Terminals mark pasted text when asked to: https://invisible-island.net/xterm/ctlseqs/ctlseqs.html#h2-Bracketed-Paste-Mode
const ESCAPE = '\u001B[';
const [PASTE_ON, PASTE_OFF] = [`${ESCAPE}?2004h`, `${ESCAPE}?2004l`];
const [START, END] = [`${ESCAPE}200~`, `${ESCAPE}201~`];

/** Milliseconds without input after which a paste has arrived completely. */
const SILENCE_MS = 100;

interface Terminal {
  input: NodeJS.ReadableStream & {isTTY?: boolean; setRawMode?(mode: boolean): unknown};
  output: NodeJS.WritableStream;
}

/** Input without the line breaks of pasted text, so that a token wrapped over several lines stays one line. */
class JoinedPaste extends Transform {
  readonly isTTY = true;
  readonly #input: Terminal['input'];
  #isPasting = false;
  #rest = '';

  constructor(input: Terminal['input']) {
    super();
    this.#input = input;
  }

  setRawMode(mode: boolean): this {
    this.#input.setRawMode?.(mode);
    return this;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let text = this.#rest + chunk.toString('latin1');
    // A mark can arrive in two chunks. Esc alone is a key.
    const cut = text.lastIndexOf(ESCAPE);
    const isCut = cut >= 0 && [START, END].some((mark) => mark !== text.slice(cut) && mark.startsWith(text.slice(cut)));
    this.#rest = isCut ? text.slice(cut) : '';
    text = isCut ? text.slice(0, cut) : text;
    for (let mark = this.#isPasting ? END : START; text !== ''; mark = this.#isPasting ? END : START) {
      const at = text.indexOf(mark);
      const part = at < 0 ? text : text.slice(0, at);
      this.push(Buffer.from(this.#isPasting ? part.replaceAll(/\s+/g, '') : part, 'latin1'));
      if (at < 0) break;
      this.#isPasting = !this.#isPasting;
      text = text.slice(at + mark.length);
    }
    done();
  }
}

/** Runs a prompt that receives pasted text as one line. What arrives right after the answer belongs to the paste, and is dropped unseen. */
export async function withPastedLine<T>({input, output}: Terminal, prompt: (input: NodeJS.ReadableStream) => Promise<T>): Promise<T> {
  if (!input.isTTY) return prompt(input);
  const joined = new JoinedPaste(input);
  // Ctrl-D and the end of a prompt pause its input.
  joined.on('pause', () => input.pause()).on('resume', () => input.resume());
  output.write(PASTE_ON);
  input.pipe(joined);
  try {
    return await prompt(joined);
  } finally {
    input.unpipe(joined);
    await drain(input);
    output.write(PASTE_OFF);
  }
}

/** Discards input until none arrives for a while. */
function drain(input: Terminal['input']): Promise<void> {
  return new Promise((resolve) => {
    input.setRawMode?.(true);
    const end = (): void => {
      input.off('data', restart);
      input.pause();
      input.setRawMode?.(false);
      resolve();
    };
    let timer = setTimeout(end, SILENCE_MS);
    const restart = (): void => {
      clearTimeout(timer);
      timer = setTimeout(end, SILENCE_MS);
    };
    input.on('data', restart);
    input.resume();
  });
}
