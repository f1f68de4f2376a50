import {constants} from 'node:os';
import {Readable} from 'node:stream';

// Terminals mark pasted text when asked to: https://invisible-island.net/xterm/ctlseqs/ctlseqs.html#h2-Bracketed-Paste-Mode
const ESC = '\u001B';
const PASTE_ON = `${ESC}[?2004h`;
const PASTE_OFF = `${ESC}[?2004l`;
const ERASE_BELOW = `${ESC}[J`;
const SHOW_CURSOR = `${ESC}[?25h`;
const START = `${ESC}[200~`;
const END = `${ESC}[201~`;
const LONE_ESC = new RegExp(`(${ESC}(?=${ESC}|$))`);
const CTRL_C = '\u0003';
const CTRL_Z = '\u001a';
/** Several characters at once are a paste in a terminal that marks none. */
const PRINTABLE = /^[ -~]{2,}$/;
/** All other keys would move a list to its first row. */
const NOT_FOR_LISTS = new RegExp(
  `${ESC}(?![[O][AB])(?:\\[[\\d;]*[A-Za-z~]|O?.)|[\\x00-\\x02\\x05-\\x07\\x09\\x0b\\x0c\\x0e-\\x1a\\x1c-\\x1f]`,
  'g',
);
/** Windows has no signal that stops a process until it is continued. */
const CAN_STOP = 'SIGTSTP' in constants.signals;

/** A terminal sends the rest of an escape sequence at once; after this time, Esc was the key. Node.js waits 500 ms. */
const ESCAPE_MS = 50;
/** Milliseconds before a person can have read a new question. */
const UNREAD_MS = 500;
/** Milliseconds without input after which a paste without marks has arrived completely. */
const SILENCE_MS = 100;

interface Terminal {
  input: NodeJS.ReadableStream & {isTTY?: boolean; setRawMode?(mode: boolean): unknown};
  output: NodeJS.WritableStream;
  /** Ctrl-C while no question is open. */
  interrupt?(): void;
  /** It knows no escape sequences. */
  isPlain?: boolean;
  /** Ctrl-Z can stop the process. Default: where the system has the signal. */
  canStop?: boolean;
}

/**
 * The keys of a terminal as prompts read them. The terminal echoes nothing while it is held, so that keys between two questions leave
 * no mark, and they are dropped. Esc is a key at once, and pasted text is one key, without line breaks: none of them is an Enter.
 */
export class TerminalInput extends Readable {
  readonly isTTY = true;
  /** A list is open: it takes text, arrows up and down, Enter, Backspace and Ctrl-D. */
  isForList = false;
  readonly #terminal: Terminal;
  #holders = 0;
  #rest = '';
  #pasted: string | undefined;
  #escape: NodeJS.Timeout | undefined;
  #isDraining = false;
  #unreadUntil = 0;
  #hear: (() => void) | undefined;

  constructor(terminal: Terminal) {
    super();
    this.#terminal = terminal;
  }

  /** Takes the terminal until `release` was called as often. */
  hold(): void {
    this.#holders += 1;
    if (this.#holders > 1) return;
    const {input, output, isPlain} = this.#terminal;
    if (input.isTTY && !isPlain) output.write(PASTE_ON);
    input.setRawMode?.(true);
    if (isPlain) process.on('SIGCONT', this.#onContinue);
    input.on('data', this.#onData).on('end', this.#onEnd).resume();
  }

  release(): void {
    if (this.#holders === 1) this.#letGo();
    this.#holders = Math.max(0, this.#holders - 1);
  }

  #letGo(): void {
    const {input, output, isPlain} = this.#terminal;
    clearTimeout(this.#escape);
    this.#rest = '';
    process.off('SIGCONT', this.#onContinue);
    input.off('data', this.#onData).off('end', this.#onEnd).pause();
    input.setRawMode?.(false);
    if (input.isTTY && !isPlain) output.write(PASTE_OFF);
  }

  /** Drops what arrives until none arrives for a while: the rest of a paste may be secret, and must not reach the next question. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await new Promise<void>((resolve) => {
      let timer = setTimeout(resolve, SILENCE_MS);
      this.#hear = () => {
        clearTimeout(timer);
        timer = setTimeout(resolve, SILENCE_MS);
      };
    });
    this.#isDraining = false;
    this.#hear = undefined;
  }

  /** Drops Enter until a person can have read the question, while the key is held down, and until another key is pressed. */
  ignoreHastyEnter(): void {
    this.#unreadUntil = performance.now() + UNREAD_MS;
  }

  /** Readline leaves raw mode at the end of each prompt, after it paused the input, and before the process is stopped with Ctrl-Z. */
  setRawMode(mode: boolean): this {
    if (mode || !this.isPaused()) this.#terminal.input.setRawMode?.(mode);
    return this;
  }

  override _read(): void {
    // The terminal sends keys when they are pressed.
  }

  readonly #onEnd = (): void => void this.push(null);

  readonly #onData = (chunk: Buffer | string): void => {
    clearTimeout(this.#escape);
    let text = this.#rest + chunk.toString('latin1' as BufferEncoding);
    // A mark can arrive in two chunks.
    const cut = text.lastIndexOf(ESC);
    const end = cut < 0 ? '' : text.slice(cut);
    const isCut =
      end === ESC ||
      (end.length > 2 && [START, END].some((mark) => mark !== end && mark.startsWith(end)));
    this.#rest = isCut ? end : '';
    text = isCut ? text.slice(0, cut) : text;
    if (this.#rest === ESC) this.#escape = setTimeout(this.#onSilence, ESCAPE_MS);
    while (text !== '') {
      const mark = this.#pasted === undefined ? START : END;
      const at = text.indexOf(mark);
      const part = at < 0 ? text : text.slice(0, at);
      if (this.#pasted === undefined) this.#keys(part);
      else this.#pasted += part;
      if (at < 0) break;
      if (this.#pasted === undefined) this.#pasted = '';
      else this.#paste();
      text = text.slice(at + mark.length);
    }
  };

  readonly #onSilence = (): void => {
    this.#rest = '';
    this.#escapeKey();
  };

  /** A question is open. */
  get #isOpen(): boolean {
    return this.readableFlowing === true && !this.#isDraining;
  }

  #escapeKey(): void {
    if (this.#isOpen) this.emit('escape');
  }

  #keys(text: string): void {
    this.#hear?.();
    // Esc pressed twice is not Alt with Esc.
    for (const part of text.split(LONE_ESC)) {
      if (part === ESC) this.#escapeKey();
      else if (part.includes(CTRL_Z)) this.#stopOrIgnore(part);
      else if (PRINTABLE.test(part) && this.#isOpen && !this.#terminal.isPlain) this.#text(part);
      else if (part !== '' && this.#isOpen) this.#push(part);
      else if (part.includes(CTRL_C)) this.#terminal.interrupt?.();
    }
  }

  #push(keys: string): void {
    const known = this.isForList ? keys.replaceAll(NOT_FOR_LISTS, '') : keys;
    if (known === '' || this.#isHasty(known)) return;
    this.push(Buffer.from(known, 'latin1'));
  }

  #isHasty(keys: string): boolean {
    if (performance.now() > this.#unreadUntil) return false;
    const isEnter = /^[\r\n]+$/.test(keys);
    this.#unreadUntil = isEnter ? performance.now() + UNREAD_MS : 0;
    return isEnter;
  }

  #stopOrIgnore(keys: string): void {
    const {canStop = CAN_STOP} = this.#terminal;
    if (canStop) this.#stop();
    else this.#keys(keys.replaceAll(CTRL_Z, ''));
  }

  #stop(): void {
    const {input, output, isPlain} = this.#terminal;
    // The shell writes below the question, which is drawn again later.
    if (!isPlain) output.write(`${ERASE_BELOW}${SHOW_CURSOR}`);
    output.write('\n');
    if (this.#isOpen) input.setRawMode?.(false);
    else {
      // Work may continue in the background, where neither reading nor a change of the mode is allowed.
      this.#holders = 0;
      this.#letGo();
    }
    // All programs in the foreground, as a terminal does it.
    process.kill(0, 'SIGTSTP');
  }

  /** The shell has set its own mode; Node.js does not repeat one that it has set itself. */
  readonly #onContinue = (): void => {
    this.#terminal.input.setRawMode?.(false);
    this.#terminal.input.setRawMode?.(true);
    this.emit('continue');
  };

  #paste(): void {
    const text = Buffer.from(this.#pasted ?? '', 'latin1').toString('utf8');
    this.#pasted = undefined;
    this.#hear?.();
    const line = text.replaceAll(/[\r\n]+\s*/g, '').replaceAll(/\p{Cc}/gu, ' ');
    if (this.#isOpen && line !== '') this.#text(line);
  }

  /** Many characters as one key, so that a prompt is painted once. */
  #text(text: string): void {
    this.emit('keypress', text, {sequence: text, ctrl: false, meta: false, shift: false});
  }
}
