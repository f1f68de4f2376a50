import {meant, TELLING} from '../../diagnose/agent-log.ts';
import {type CacheUse, cacheUseIn, sumOfCacheUse} from '../../diagnose/cache-use.ts';

/** What a log says of its agent, all lines that mean the same together. */
export interface Said {
  /** `READY`, or the code of a row in `diagnose/agent-log-rows.ts`. */
  meaning: string;
  /** So many lines say it. */
  count: number;
  /** The newest of them, 1-based. */
  line: number;
  /** Without format. */
  text: string;
  at: string | undefined;
}

const EVERY_TELLING = new RegExp(TELLING, 'gi');
const NEWLINE = 10;
/** Of a longer line only so much is looked at. */
const LONGEST = 16 * 1024;
const NONE = Buffer.alloc(0);

/** Reads a log on its way into the bundle, chunk by chunk: counts its lines and remembers what they say. */
export class LogWords {
  #lines = 0;
  /** The beginning of a line whose end is not there yet. */
  #open: Buffer = NONE;
  readonly #said = new Map<string, Said>();
  #cacheUse: CacheUse | undefined;

  push(chunk: Buffer): void {
    let from = 0;
    if (this.#open.length > 0) {
      from = chunk.indexOf(NEWLINE) + 1;
      const line = Buffer.concat([this.#open, chunk.subarray(0, from || chunk.length)]);
      this.#open = from === 0 ? line.subarray(0, LONGEST) : NONE;
      if (from === 0) return;
      this.#read(line);
    }
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    this.#read(chunk.subarray(from, end));
    this.#open = Buffer.from(chunk.subarray(end, end + LONGEST));
  }

  /** Of all that was pushed; a last line need not end. */
  end(): {lines: number; said: Said[]; cacheUse?: CacheUse} {
    if (this.#open.length > 0) this.#read(Buffer.concat([this.#open, Buffer.from('\n')]));
    this.#open = NONE;
    return {lines: this.#lines, said: [...this.#said.values()], ...(this.#cacheUse ? {cacheUse: this.#cacheUse} : {})};
  }

  /** Whole lines. */
  #read(bytes: Buffer): void {
    // As many characters as bytes, so that places mean the same in both.
    const text = bytes.toString('latin1');
    this.#cacheUse = sumOfCacheUse([this.#cacheUse, cacheUseIn(text)]);
    let counted = 0;
    const countTo = (place: number): void => {
      for (let at = text.indexOf('\n', counted); at !== -1 && at < place; at = text.indexOf('\n', counted)) {
        this.#lines += 1;
        counted = at + 1;
      }
    };
    EVERY_TELLING.lastIndex = 0;
    for (let found = EVERY_TELLING.exec(text); found !== null; found = EVERY_TELLING.exec(text)) {
      const start = text.lastIndexOf('\n', found.index) + 1;
      const end = text.indexOf('\n', found.index);
      countTo(start);
      this.#look(bytes.toString('utf8', start, Math.min(end, start + LONGEST)));
      EVERY_TELLING.lastIndex = end;
    }
    countTo(text.length);
  }

  #look(line: string): void {
    const found = meant(withoutPrefix(line));
    if (found === undefined) return;
    const count = (this.#said.get(found.meaning)?.count ?? 0) + 1;
    this.#said.set(found.meaning, {...found, count, line: this.#lines + 1});
  }
}

/** Docker and kubelets put a time before every line, the journal also machine and process; an agent that writes JSON has a time of its own. */
export const withoutPrefix = (line: string): string =>
  line.replace(/^(\d{4}-\d\d-\d\dT\S+ )(?:\S+ \S+?\[\d+\]: )?/, '$1').replace(/^\d{4}-\d\d-\d\dT\S+ (?=\{)/, '');
