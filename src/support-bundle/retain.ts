/** So much of the end is held in memory at most, for every file that is read at the moment. */
const LARGEST_TAIL = 4 * 1024 * 1024;
/** Half a line that is longer is no half line to be left out. */
const LONGEST_LINE = 16 * 1024;
const NEWLINE = 10;
const NONE = Buffer.alloc(0);

/** What was left out of the middle of a file. */
export interface Cut {
  bytes: number;
}

/** Holds the last bytes of what is pushed. */
export interface Tail {
  readonly bytes: number;
  /** Returns what there is no room for any more, the oldest first. */
  push(chunk: Buffer): Buffer[];
  /** What it holds. */
  pieces(): Iterable<Buffer>;
}

/** How a log is kept in the room it has. */
interface Room {
  limit: number;
  /** How much of its end is held at most, where that is less than usual. */
  longestEnd?: number;
  /** Asks for so many bytes more; they are the log's where the answer is yes. */
  grant?: (bytes: number) => boolean;
  /** Holds the end; in a ring where nothing is said. */
  tail?: ((limit: number) => Tail) | undefined;
}

/**
 * The beginning and the end of a stream in so many bytes, whole lines where there are lines, with a marker in the gap. A third is
 * for the beginning, and whatever room is granted: what happened last matters more.
 */
export async function* retain(chunks: AsyncIterable<Buffer>, {onCut, ...room}: Room & {onCut(cut: Cut): void}): AsyncGenerator<Buffer> {
  const retained = new Retained(room);
  for await (const chunk of chunks) yield* retained.push(chunk);
  const cut = retained.cut();
  if (cut) onCut(cut);
  yield* retained.end();
}

/** The same, for who pushes and asks later. */
export class Retained {
  /** Of the beginning that is left. */
  #room: number;
  #lost = 0;
  /** What of the beginning was held back, as its line has no end yet. */
  #open: Buffer = NONE;
  /** What was given out ends with a whole line. */
  #endsLine = false;
  readonly #tail: Tail;
  readonly #grant: (bytes: number) => boolean;

  constructor({limit, longestEnd = LARGEST_TAIL, grant = () => false, tail = ring}: Room) {
    const tailLimit = Math.min(Math.ceil((limit * 2) / 3), longestEnd, LARGEST_TAIL);
    this.#room = limit - tailLimit;
    this.#tail = tail(tailLimit);
    this.#grant = grant;
  }

  /** Returns what will not be left out any more. */
  push(chunk: Buffer): Buffer[] {
    const head = chunk.subarray(0, this.#room);
    this.#room -= head.length;
    const kept = head.length > 0 ? this.#wholeLines(head) : [];
    if (head.length === chunk.length) return kept;
    for (const old of this.#tail.push(chunk.subarray(head.length))) {
      if (this.#lost === 0 && this.#grant(old.length)) kept.push(...this.#wholeLines(old));
      else this.#lost += old.length;
    }
    return kept;
  }

  /** Bytes that were not given out, so far. */
  get held(): number {
    return this.#open.length + this.#tail.bytes;
  }

  /** Of all that was pushed; undefined when nothing is left out. */
  cut(): Cut | undefined {
    return this.#lost === 0 ? undefined : {bytes: this.#half + this.#lost + lineStart(this.#tail.pieces())};
  }

  /** The end of all that was pushed, behind a mark where something is left out, which has a line of its own. */
  *end(): Generator<Buffer> {
    const cut = this.cut();
    if (cut === undefined || this.#half === 0) yield this.#open;
    if (cut) yield Buffer.from(`${this.#endsLine ? '' : '\n'}[… ${cut.bytes} bytes left out here: --max-size …]\n`);
    // After a gap it begins with a whole line.
    let skipped = cut ? cut.bytes - this.#half - this.#lost : 0;
    for (const piece of this.#tail.pieces()) {
      if (skipped < piece.length) yield piece.subarray(skipped);
      skipped = Math.max(skipped - piece.length, 0);
    }
  }

  /** Bytes of a line that would end at the mark; where there is no whole one before it, they are better than nothing. */
  get #half(): number {
    return this.#endsLine ? this.#open.length : 0;
  }

  /** Holds back what ends no line. */
  #wholeLines(chunk: Buffer): Buffer[] {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    const whole = end > 0 ? [this.#open, chunk.subarray(0, end)] : [];
    // A copy: a small part would hold on to all that came with it.
    this.#open = Buffer.concat(end > 0 ? [chunk.subarray(end)] : [this.#open, chunk]);
    if (end > 0) this.#endsLine = true;
    if (this.#open.length > LONGEST_LINE) {
      whole.push(this.#open);
      this.#open = NONE;
      this.#endsLine = false;
    }
    return whole.filter(({length}) => length > 0);
  }
}

/** Where the second line begins; a line that is longer than all that is kept has to be cut. */
function lineStart(pieces: Iterable<Buffer>): number {
  let before = 0;
  for (const piece of pieces) {
    const end = piece.indexOf('\n') + 1;
    if (end > 0) return before + end;
    before += piece.length;
  }
  return 0;
}

const ring = (limit: number): Tail => new Ring(limit);

/** One buffer: as a queue of chunks they would grow old, and what is old is seldom swept up. */
class Ring implements Tail {
  readonly #limit: number;
  #ring: Buffer = Buffer.alloc(0);
  #start = 0;
  bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): Buffer[] {
    const excess = Math.max(this.bytes + chunk.length - this.#limit, 0);
    const old = this.#take(Math.min(excess, this.bytes));
    const past = chunk.subarray(0, excess - old.length);
    this.#put(chunk.subarray(past.length));
    return [old, past].filter(({length}) => length > 0);
  }

  pieces(): Buffer[] {
    return this.#between(this.#start, this.#start + this.bytes);
  }

  #between(start: number, end: number): Buffer[] {
    return [this.#ring.subarray(start, end), this.#ring.subarray(0, Math.max(end - this.#ring.length, 0))];
  }

  #take(bytes: number): Buffer {
    const end = this.#start + bytes;
    const taken = Buffer.concat(this.#between(this.#start, end));
    this.bytes -= bytes;
    this.#start = this.bytes === 0 ? 0 : end % this.#ring.length;
    return taken;
  }

  #put(bytes: Buffer): void {
    const size = this.bytes + bytes.length;
    if (size > this.#ring.length) {
      const held = this.#take(this.bytes);
      this.#ring = Buffer.allocUnsafeSlow(Math.min(Math.max(size, 2 * this.#ring.length), this.#limit));
      held.copy(this.#ring);
      this.#start = 0;
    }
    const at = (this.#start + size - bytes.length) % Math.max(this.#ring.length, 1);
    const wrapped = bytes.copy(this.#ring, at);
    bytes.copy(this.#ring, 0, wrapped);
    this.bytes = size;
  }
}
