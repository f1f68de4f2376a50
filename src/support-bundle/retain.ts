/** So much of the end is held in memory at most, for every file that is read at the moment. */
const LARGEST_TAIL = 4 * 1024 * 1024;

/** What was left out of the middle of a file. */
export interface Cut {
  bytes: number;
}

/** How a log is kept in the room it has. */
interface Room {
  limit: number;
  /** How much of its end is held at most, where that is less than usual. */
  longestEnd?: number;
  /** Asks for so many bytes more; they are the log's where the answer is yes. */
  grant?(bytes: number): boolean;
  onCut(cut: Cut): void;
}

/**
 * The beginning and the end of a stream in so many bytes, whole lines where there are lines, with a marker in the gap. A third is
 * for the beginning, and whatever room is granted: what happened last matters more.
 */
export async function* retain(
  chunks: AsyncIterable<Buffer>,
  {limit, longestEnd = LARGEST_TAIL, grant = () => false, onCut}: Room,
): AsyncGenerator<Buffer> {
  const tailLimit = Math.min(Math.ceil((limit * 2) / 3), longestEnd, LARGEST_TAIL);
  let room = limit - tailLimit;
  let lost = 0;
  const tail = new Tail(tailLimit);
  for await (const chunk of chunks) {
    const head = room > 0 ? chunk.subarray(0, room) : EMPTY;
    room -= head.length;
    if (head.length > 0) yield head;
    if (head.length === chunk.length) continue;
    for (const old of tail.push(chunk.subarray(head.length))) {
      if (lost === 0 && grant(old.length)) yield old;
      else lost += old.length;
    }
  }
  const {end, cut} = tail.end(lost > 0);
  lost += cut;
  if (lost > 0) {
    onCut({bytes: lost});
    yield Buffer.from(`\n[… ${lost} bytes left out here: --max-size …]\n`);
  }
  if (end.length > 0) yield end;
}

const EMPTY = Buffer.alloc(0);

/** The last bytes of what is pushed, in one ring: as a queue of chunks they would grow old, and what is old is seldom swept up. */
class Tail {
  readonly #limit: number;
  #ring: Buffer = EMPTY;
  #start = 0;
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns what there is no room for any more, the oldest first. */
  push(chunk: Buffer): Buffer[] {
    const excess = Math.max(this.#size + chunk.length - this.#limit, 0);
    const old = this.#take(Math.min(excess, this.#size));
    const past = chunk.subarray(0, excess - old.length);
    this.#put(chunk.subarray(past.length));
    return [old, past].filter(({length}) => length > 0);
  }

  /** After a gap it begins with a whole line. */
  end(isAfterGap: boolean): {end: Buffer; cut: number} {
    const all = this.#take(this.#size);
    // A line that is longer than all that is kept is cut.
    const cut = isAfterGap ? all.indexOf('\n') + 1 : 0;
    return {end: all.subarray(cut), cut};
  }

  #take(bytes: number): Buffer {
    const end = this.#start + bytes;
    const taken = Buffer.concat([this.#ring.subarray(this.#start, end), this.#ring.subarray(0, Math.max(end - this.#ring.length, 0))]);
    this.#size -= bytes;
    this.#start = this.#size === 0 ? 0 : end % this.#ring.length;
    return taken;
  }

  #put(bytes: Buffer): void {
    const size = this.#size + bytes.length;
    if (size > this.#ring.length) {
      const held = this.#take(this.#size);
      this.#ring = Buffer.allocUnsafeSlow(Math.min(Math.max(size, 2 * this.#ring.length), this.#limit));
      held.copy(this.#ring);
      this.#start = 0;
    }
    const at = (this.#start + size - bytes.length) % Math.max(this.#ring.length, 1);
    const wrapped = bytes.copy(this.#ring, at);
    bytes.copy(this.#ring, 0, wrapped);
    this.#size = size;
  }
}
