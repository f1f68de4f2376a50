import {setTimeout as sleep} from 'node:timers/promises';
import {type IPty, spawn} from '@lydell/node-pty';
import xterm, {type IBufferLine} from '@xterm/headless';
import {type Run, runsOf} from './runs.ts';

/** What the terminal holds for a while: everything written so far, and the first line of it that the screen shows. */
export interface Frame {
  lines: readonly (readonly Run[])[];
  top: number;
  seconds: number;
}

/** Output that pauses for so long is complete. */
const QUIET_MS = 150;

/** What is appended comes line by line, as the film must not depend on how much of it came at once; a question comes whole. */
const SECONDS_PER_LINE = 0.12;

const readingTime = (lines: number): number => Math.min(0.2 + 0.04 * lines, 0.6);
/** Of a wait, only a spinner is new. */
const waitingTime = (lines: number): number => (lines === 1 ? 0.1 : readingTime(lines));

/** A terminal that is filmed. Time is not measured: how long a frame stands follows from what is new in it. */
export class Film {
  readonly frames: Frame[] = [];
  readonly #screen: InstanceType<typeof xterm.Terminal>;
  readonly #pty: IPty;
  #changed = Date.now();

  constructor(
    program: string,
    {
      rows,
      columns: cols,
      ...place
    }: {rows: number; columns: number; cwd: string; env: Readonly<Record<string, string>>},
  ) {
    this.#screen = new xterm.Terminal({rows, cols, scrollback: 10_000, allowProposedApi: true});
    this.#pty = spawn(program, [], {rows, cols, ...place});
    this.#pty.onData((text) => {
      this.#changed = Date.now();
      this.#screen.write(text);
    });
  }

  /** The lines on the screen. */
  get screen(): string[] {
    const {baseY} = this.#screen.buffer.active;
    return Array.from(
      {length: this.#screen.rows},
      (_, row) =>
        this.#line(baseY + row)
          ?.translateToString()
          .trimEnd() ?? '',
    );
  }

  /** Films until the screen shows it. */
  async until<T>(find: (screen: readonly string[]) => T | undefined): Promise<T> {
    for (const end = Date.now() + 60_000; Date.now() < end; ) {
      await this.#quiet();
      this.#shoot(waitingTime);
      const found = find(this.screen);
      if (found !== undefined) return found;
      await sleep(QUIET_MS);
    }
    throw new Error(`Not seen for a minute:\n${this.screen.join('\n')}`);
  }

  /** Films every letter. */
  async type(text: string): Promise<void> {
    for (const letter of text) await this.press(letter, 0.07);
  }

  /** One key, or what was pasted. */
  async press(key: string, seconds?: number): Promise<void> {
    this.#changed = Date.now();
    this.#pty.write(key);
    await this.#quiet();
    this.#shoot((news) => seconds ?? readingTime(news));
  }

  /** The film begins with what the screen shows now. */
  begin(): void {
    this.frames.splice(0, this.frames.length - 1);
  }

  /** The last picture stands for so long. */
  hold(seconds: number): void {
    const last = this.frames.pop();
    if (last) this.frames.push({...last, seconds});
  }

  end(seconds: number): void {
    this.#pty.kill();
    this.hold(seconds);
  }

  async #quiet(): Promise<void> {
    for (let left = QUIET_MS; left > 0; left = this.#changed + QUIET_MS - Date.now())
      await sleep(left);
    await new Promise<void>((resolve) => this.#screen.write('', resolve));
  }

  #shoot(secondsFor: (news: number) => number): void {
    const {baseY, length} = this.#screen.buffer.active;
    const lines = Array.from({length}, (_, y) => runsOf(this.#line(y)));
    const {lines: before, top} = this.frames.at(-1) ?? {lines: [], top: 0};
    const isNew = (line: readonly Run[], y: number): boolean =>
      JSON.stringify(line) !== JSON.stringify(before[y] ?? []);
    const first = lines.findIndex(isNew);
    if (first < 0) return;
    const question = lines.findIndex(
      (line, y) => y >= first && ['?', '◆'].includes(line[0]?.text ?? ''),
    );
    const isAppended = before.slice(first).every((line) => line.length === 0);
    const end = isAppended ? (question < 0 ? length : question) : first;
    for (let y = first; y < end; y++) {
      if (lines[y]?.length === 0) continue;
      const shown = Math.min(Math.max(top, y + 2 - this.#screen.rows), baseY);
      this.frames.push({lines: lines.slice(0, y + 1), top: shown, seconds: SECONDS_PER_LINE});
    }
    if (end === length) return;
    const news = lines.filter((line, y) => y >= end && line.length > 0 && isNew(line, y)).length;
    this.frames.push({lines, top: baseY, seconds: secondsFor(news)});
  }

  #line = (y: number): IBufferLine | undefined => this.#screen.buffer.active.getLine(y);
}
