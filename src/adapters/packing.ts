import {createHash} from 'node:crypto';
import {pipeline} from 'node:stream';
import {createDeflateRaw, deflateRawSync} from 'node:zlib';
import {crc32} from './crc32.ts';
import {Reading} from './reading.ts';
import {turns} from './turns.ts';

/** What is no larger is packed at once and here: a stream, or a thread, would cost more than the work it does. Of others so much at a time. */
const PIECE = 256 * 1024;
/** Packed, so much of every other source waits for its turn; all of it finds room in the reserve of a disk that is full. */
const AHEAD = 512 * 1024;
/** Each takes a megabyte or two, and more gain nothing. */
const LARGE_AT_ONCE = 4;
/** Zlib's usual 6 takes three times as long, for logs that are a tenth smaller. */
const WISH = {level: 3, chunkSize: 64 * 1024};

/** Of a source as it was before it was packed. */
export interface Sums {
  bytes: number;
  crc32: number;
  sha256: string;
}

/** A source that is packed while others are written. */
export interface Packing {
  pieces(): AsyncIterable<Buffer>;
  /** Of all pieces that were taken. */
  sums(): Sums;
  /** Nobody will take the rest. */
  leave(): void;
}

export class Packer {
  readonly #takeTurn = turns(LARGE_AT_ONCE);

  /** Resolves when it is worth writing: all of the source was packed, or as much as may be held. */
  async pack(source: Reading, over: AbortSignal): Promise<Packing> {
    const head = await source.upTo(PIECE);
    const summing = new Summing();
    if (source.isOver) {
      const content = Buffer.concat(head);
      summing.add(content);
      return packing(summing, [deflateRawSync(content, {...WISH, chunkSize: roomFor(content)})]);
    }
    const giveBack = await this.#takeTurn(over);
    const rest = new Reading(packed(summed(Buffer.concat(head), source, summing)));
    return packing(summing, await rest.upTo(AHEAD), {rest, giveBack});
  }
}

/** Of what it is packed into, which lives as long as that waits: logs take less, and what takes more gets more rooms. */
const roomFor = ({length}: Buffer): number => Math.max(1024, length >> 2);

/** All pieces but the first lie in the same place: a buffer for each would be old, and hard to sweep up, before it is packed. */
async function* summed(head: Buffer, source: Reading, summing: Summing): AsyncGenerator<Buffer> {
  const room = Buffer.allocUnsafeSlow(PIECE);
  for (let piece = head; piece.length > 0; piece = await source.into(room)) {
    summing.add(piece);
    yield piece;
  }
}

/** A piece is more than the stream takes ahead: it asks for the next when that is packed. */
function packed(pieces: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const stream = createDeflateRaw(WISH);
  // What goes wrong is thrown to who reads.
  pipeline(pieces, stream, () => undefined);
  return stream;
}

const packing = (summing: Summing, ahead: readonly Buffer[], large?: {rest: Reading; giveBack: (() => void) | undefined}): Packing => ({
  async *pieces() {
    yield* ahead;
    for (let piece = await large?.rest.next(); piece !== undefined; piece = await large?.rest.next()) yield piece;
    if (large?.rest.error !== undefined) throw large.rest.error;
  },
  sums: () => summing.sums(),
  leave() {
    large?.rest.cut();
    large?.giveBack?.();
  },
});

class Summing {
  #bytes = 0;
  #crc32 = 0;
  readonly #sha256 = createHash('sha256');

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    this.#crc32 = crc32(piece, this.#crc32);
    this.#sha256.update(piece);
  }

  sums(): Sums {
    return {bytes: this.#bytes, crc32: this.#crc32, sha256: this.#sha256.digest('hex')};
  }
}
