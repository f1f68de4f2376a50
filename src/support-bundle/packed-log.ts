import {deflateRawSync, inflateRawSync} from 'node:zlib';
import {type Cut, Retained, type Tail} from './retain.ts';

const LARGEST_BLOCK = 64 * 1024;
/** Twice as fast as usual, for a tenth more room; in pieces that are joined, or each block would keep all of the room it was packed into. */
const FAST = {level: 1, chunkSize: 4096};

interface Block {
  bytes: number;
  packed: Buffer;
}

/** What has to stay in memory for long, packed block by block: logs take a tenth of their room so. First in, first out. */
export class PackedText {
  /** Of text. */
  bytes = 0;
  readonly #blocks: Block[] = [];
  readonly #blockSize: number;
  /** What is not packed yet. */
  #open: Buffer[] = [];
  #openBytes = 0;

  constructor(blockSize = LARGEST_BLOCK) {
    this.#blockSize = blockSize;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + this.#blockSize - this.#openBytes);
      at += part.length;
      this.bytes += part.length;
      // A copy: a small part would hold on to all that came with it.
      this.#open.push(Buffer.from(part));
      this.#openBytes += part.length;
      if (this.#openBytes === this.#blockSize) this.#pack();
    }
  }

  /** The oldest block, which is out then. */
  shift(): Buffer {
    if (this.#blocks.length === 0) this.#pack();
    const oldest = this.#blocks.shift();
    this.bytes -= oldest?.bytes ?? 0;
    return oldest === undefined ? Buffer.alloc(0) : inflateRawSync(oldest.packed);
  }

  *pieces(): Generator<Buffer> {
    for (const {packed} of this.#blocks) yield inflateRawSync(packed);
    yield* this.#open;
  }

  #pack(): void {
    if (this.#openBytes === 0) return;
    this.#blocks.push({bytes: this.#openBytes, packed: deflateRawSync(Buffer.concat(this.#open), FAST)});
    [this.#open, this.#openBytes] = [[], 0];
  }
}

/** The last bytes of what is pushed, up to a block less than the limit. */
export class PackedTail implements Tail {
  readonly #limit: number;
  readonly #text: PackedText;

  constructor(limit: number) {
    this.#limit = limit;
    this.#text = new PackedText(Math.min(LARGEST_BLOCK, Math.max(limit >> 3, 1)));
  }

  get bytes(): number {
    return this.#text.bytes;
  }

  push(chunk: Buffer): Buffer[] {
    this.#text.push(chunk);
    const old: Buffer[] = [];
    while (this.#text.bytes > this.#limit) old.push(this.#text.shift());
    return old;
  }

  pieces(): Iterable<Buffer> {
    return this.#text.pieces();
  }
}

/** Beginning and end of a log in so many bytes, which it takes only when it is read. */
export class PackedLog {
  readonly #head = new PackedText();
  readonly #retained: Retained;

  constructor(limit: number) {
    this.#retained = new Retained({limit, tail: (most) => new PackedTail(most)});
  }

  push(chunk: Buffer): void {
    for (const piece of this.#retained.push(chunk)) this.#head.push(piece);
  }

  /** Of the log that it holds. */
  get bytes(): number {
    return this.#head.bytes + this.#retained.held;
  }

  cut(): Cut | undefined {
    return this.#retained.cut();
  }

  *pieces(): Generator<Buffer> {
    yield* this.#head.pieces();
    yield* this.#retained.end();
  }
}
