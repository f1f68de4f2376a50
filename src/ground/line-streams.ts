export const NEWLINE = 10;

/** Longer lines of a log can be cut, and only their start is searched. */
export const MAX_LINE_BYTES = 16 * 1024;

/** Holds the incomplete line at the end of a stream. */
export class LineBuffer {
  #open: Buffer = Buffer.alloc(0);
  readonly #maxBytes: number;

  constructor(maxBytes = MAX_HELD_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** The whole lines so far, or a part of a line that is too long. */
  push(chunk: Buffer): Buffer {
    const all = this.#open.length > 0 ? Buffer.concat([this.#open, chunk]) : chunk;
    const end = all.lastIndexOf(NEWLINE) + 1;
    const whole = end === 0 && all.length > this.#maxBytes ? all.length : end;
    this.#open = all.subarray(whole);
    return all.subarray(0, whole);
  }

  /** Removes the incomplete line. */
  rest(): Buffer {
    const rest = this.#open;
    this.#open = rest.subarray(rest.length);
    return rest;
  }
}

/** Chunks that end at a line end, except within a line longer than `maxBytes`. */
export async function* wholeLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes?: number,
): AsyncGenerator<Buffer> {
  const buffer = new LineBuffer(maxBytes);
  for await (const chunk of chunks) {
    const lines = buffer.push(chunk);
    if (lines.length > 0) yield lines;
  }
  const rest = buffer.rest();
  if (rest.length > 0) yield rest;
}

/** All bytes of a stream; undefined if there are more than `maxBytes`. */
export async function readAtMost(
  maxBytes: number,
  chunks: AsyncIterable<Buffer | string>,
): Promise<Buffer | undefined> {
  const read: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    read.push(Buffer.from(chunk));
  }
  return Buffer.concat(read);
}

/** Longer lines are passed on in parts. */
const MAX_HELD_BYTES = 1024 * 1024;
