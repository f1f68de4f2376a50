import type {Writable} from 'node:stream';
import {finished} from 'node:stream/promises';
import type {Packing, Sums} from './packing.ts';
import {dataDescriptor, directory, localHeader, type ZipEntry} from './zip-records.ts';

/** An entry that is smaller is written at once. */
const BATCH = 64 * 1024;

/**
 * Puts packed entries one behind the other. The libraries there are either pack one entry after the other, so that many sources wait
 * for one that is slow, or stop at 4 GiB.
 */
export class ZipWriter {
  /** All that was put in is on the disk, and the archive has ended. */
  readonly written: Promise<void>;
  readonly #sink: Writable;
  readonly #entries: ZipEntry[] = [];
  #bytes = 0;

  constructor(sink: Writable) {
    this.#sink = sink;
    this.written = finished(sink);
  }

  /** One at a time. Resolves when all of it is on its way to the disk. */
  async add(name: string, packing: Packing): Promise<Sums> {
    const at = this.#bytes;
    let packedBytes = 0;
    let ready = [localHeader(name)];
    for await (const piece of packing.pieces()) {
      packedBytes += piece.length;
      ready.push(piece);
      if (packedBytes < BATCH) continue;
      await this.#put(ready);
      ready = [];
    }
    const sums = packing.sums();
    await this.#put([...ready, dataDescriptor({...sums, packedBytes})]);
    this.#entries.push({name, at, packedBytes, ...sums});
    return sums;
  }

  /** The directory is sorted; the entries lie in the order in which they came. */
  async end(): Promise<void> {
    const sorted = this.#entries.toSorted((one, other) => Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)));
    this.#sink.end(directory(sorted, this.#bytes));
    await this.written;
  }

  #put(pieces: readonly Buffer[]): Promise<void> {
    const bytes = Buffer.concat(pieces);
    this.#bytes += bytes.length;
    return new Promise((resolve, reject) => {
      // After the first error all that a stream says is that it is gone.
      const hasRoom = this.#sink.write(bytes, (error) => (error ? reject(this.#sink.errored ?? error) : resolve()));
      if (hasRoom) resolve();
    });
  }
}
