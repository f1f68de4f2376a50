/** So much of the end is held in memory at most, for every file that is read at the moment. */
const LARGEST_TAIL = 4 * 1024 * 1024;

/** What was left out of the middle of a file. */
export interface Cut {
  bytes: number;
}

/**
 * The beginning and the end of a stream in so many bytes, whole lines where there are lines, with a marker in the gap. A third is
 * for the beginning: what happened last matters more.
 */
export async function* retain(chunks: AsyncIterable<Buffer>, limit: number, onCut: (cut: Cut) => void): AsyncGenerator<Buffer> {
  const tailLimit = Math.min(Math.ceil((limit * 2) / 3), LARGEST_TAIL);
  let room = limit - tailLimit;
  const tail = new Tail(tailLimit);
  for await (const chunk of chunks) {
    const head = room > 0 ? chunk.subarray(0, room) : EMPTY;
    room -= head.length;
    if (head.length > 0) yield head;
    if (head.length < chunk.length) tail.push(chunk.subarray(head.length));
  }
  const {end, lost} = tail.end();
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
  #lost = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(Buffer.from(chunk));
    this.#size += chunk.length;
    for (let first = this.#chunks[0]; first !== undefined && this.#size - first.length >= this.#limit; first = this.#chunks[0]) {
      this.#chunks.shift();
      this.#size -= first.length;
      this.#lost += first.length;
    }
  }

  end(): {end: Buffer; lost: number} {
    const all = Buffer.concat(this.#chunks);
    if (this.#lost === 0 && all.length <= this.#limit) return {end: all, lost: 0};
    const from = Math.max(all.length - this.#limit, 0);
    const line = all.indexOf('\n', from) + 1;
    // A line that is longer than all that is kept is cut.
    const start = line === 0 ? from : line;
    return {end: all.subarray(start), lost: this.#lost + start};
  }
}
