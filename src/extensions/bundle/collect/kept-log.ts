import {deflateRawSync, inflateRawSync} from 'node:zlib';
import {cutMark} from './retain.ts';

const BLOCK = 16 * 1024;

interface Block {
  bytes: number;
  packed: Buffer;
}

/** Start and end of a log that stays in memory for a long time, compressed to about a tenth. Chunks are whole lines. */
export class KeptLog {
  /** Size of the kept text. */
  bytes = 0;
  /** Size of the omitted text between the first blocks and the rest. */
  cut = 0;
  readonly #limit: number;
  readonly #blocks: Block[] = [];
  #firstBlocks = 0;
  /** Not compressed yet. */
  #open: Buffer[] = [];
  #openBytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    // A copy: a small chunk would keep its whole buffer in memory.
    this.#open.push(Buffer.from(chunk));
    this.#openBytes += chunk.length;
    this.bytes += chunk.length;
    if (this.#openBytes >= BLOCK) this.#pack();
  }

  *chunks(): Generator<Buffer> {
    for (const [index, {packed}] of this.#blocks.entries()) {
      if (this.cut > 0 && index === this.#firstBlocks) yield Buffer.from(cutMark(this.cut));
      yield inflateRawSync(packed);
    }
    if (this.cut > 0 && this.#blocks.length === this.#firstBlocks)
      yield Buffer.from(cutMark(this.cut));
    yield* this.#open;
  }

  #pack(): void {
    this.#blocks.push({
      bytes: this.#openBytes,
      packed: Buffer.from(deflateRawSync(Buffer.concat(this.#open), {level: 1})),
    });
    this.#open = [];
    this.#openBytes = 0;
    while (this.bytes > this.#limit && this.#blocks.length > 1) {
      if (this.cut === 0) this.#firstBlocks = Math.floor(this.#blocks.length / 3);
      const [{bytes}] = this.#blocks.splice(this.#firstBlocks, 1) as [Block];
      this.bytes -= bytes;
      this.cut += bytes;
    }
  }
}
