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
 * for the beginning, and whatever room is granted: what happened last matters more. The chunks are kept as they are given.
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
  const {end, cut} = tail.end(lost > 0 || (tail.excess > 0 && !grant(tail.excess)));
  lost += cut;
  if (lost > 0) {
    onCut({bytes: lost});
    yield Buffer.from(`\n[… ${lost} bytes left out here: --max-size …]\n`);
  }
  if (end.length > 0) yield end;
}

const EMPTY = Buffer.alloc(0);

/** The last bytes of what is pushed. */
class Tail {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns what there is no room for any more, the oldest first. */
  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const old: Buffer[] = [];
    for (let first = this.#chunks[0]; first !== undefined && this.#size - first.length >= this.#limit; first = this.#chunks[0]) {
      this.#chunks.shift();
      this.#size -= first.length;
      old.push(first);
    }
    return old;
  }

  /** What it holds above its limit. */
  get excess(): number {
    return Math.max(this.#size - this.#limit, 0);
  }

  /** After a gap it keeps its limit and begins with a whole line. */
  end(isAfterGap: boolean): {end: Buffer; cut: number} {
    const all = Buffer.concat(this.#chunks);
    if (!isAfterGap) return {end: all, cut: 0};
    const from = Math.max(all.length - this.#limit, 0);
    const line = all.indexOf('\n', from) + 1;
    // A line that is longer than all that is kept is cut.
    const start = line === 0 ? from : line;
    return {end: all.subarray(start), cut: start};
  }
}
