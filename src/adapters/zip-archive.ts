import {type Archive, type Archives, type ClosedArchive, type Entry, MANIFEST, type OpenArchive} from '../ports/archive.ts';
import {type FileSink, openSink} from './file-sink.ts';
import {fileFailure} from './node-files.ts';
import {Packer, type Packing} from './packing.ts';
import {Reading} from './reading.ts';
import {turns} from './turns.ts';
import {openZip} from './zip-reader.ts';
import {ZipWriter} from './zip-writer.ts';

const PIECE = 64 * 1024;

export const zipArchives: Archives = {
  async create(path) {
    try {
      return new ZipArchive(path, await openSink(path));
    } catch (error) {
      throw fileFailure('write', path, error, '--out');
    }
  },
  open: openZip,
};

export class ZipArchive implements Archive {
  readonly #path: string;
  readonly #zip: ZipWriter;
  readonly #sink: FileSink;
  readonly #entries: Entry[] = [];
  readonly #names = new Set([MANIFEST]);
  readonly #readings = new Set<Reading>();
  readonly #adding = new Set<Promise<Entry>>();
  readonly #packer = new Packer();
  readonly #takeTurn = turns(1);
  readonly #over = new AbortController();
  /** Why nothing can be written any more. */
  #refusal: unknown;
  #isClosed = false;

  constructor(path: string, sink: FileSink) {
    this.#path = path;
    this.#zip = new ZipWriter(sink);
    this.#sink = sink;
    const stop = (error: unknown): void => {
      this.#refusal ??= fileFailure('write', path, error, '--out');
      for (const reading of this.#readings) reading.cut();
    };
    sink.once('full', stop);
    this.#zip.written.catch(stop);
  }

  async add(name: string, source: AsyncIterable<Buffer> | Buffer): Promise<Entry> {
    if (!isPlain(name) || this.#names.has(name)) throw new Error(`No entry can be called ${JSON.stringify(name)}, or it is there already`);
    this.#refuse();
    this.#names.add(name);
    const reading = new Reading(piecesOf(source));
    this.#readings.add(reading);
    const adding = this.#add(name, reading);
    this.#adding.add(adding);
    try {
      return await adding;
    } finally {
      reading.cut();
      this.#readings.delete(reading);
      this.#adding.delete(adding);
    }
  }

  async close({last = [], manifest, check}: Parameters<Archive['close']>[0]): Promise<ClosedArchive> {
    try {
      for (const reading of this.#readings) reading.cut();
      await Promise.allSettled(this.#adding);
      this.#isClosed = true;
      for (const {name, text} of last) await this.#addLast(name, text);
      const entries = this.#entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
      await this.#addLast(MANIFEST, manifest(entries));
      await this.#zip.end();
      if (check) await this.#check(check);
      await this.#sink.rename(this.#path);
      return {bytes: this.#sink.bytes, entries};
    } catch (error) {
      await this.abort();
      throw fileFailure('write', this.#path, error, '--out');
    }
  }

  async abort(): Promise<void> {
    this.#refusal ??= new Error('The archive was given up');
    this.#over.abort();
    for (const reading of this.#readings) reading.cut();
    await this.#sink.remove();
  }

  async #add(name: string, reading: Reading): Promise<Entry> {
    const packing = await this.#packer.pack(reading, this.#over.signal);
    const giveBack = await this.#takeTurn(this.#over.signal);
    try {
      // While it waited the disk may have become full.
      this.#refuse();
      const entry = await this.#write(name, reading, packing);
      if (reading.error !== undefined) throw reading.error;
      if (reading.isCut && this.#refusal !== undefined) throw this.#refusal;
      return entry;
    } finally {
      packing.leave();
      giveBack?.();
    }
  }

  /** Also when the disk is full. */
  async #addLast(name: string, text: string): Promise<void> {
    const reading = new Reading(piecesOf(Buffer.from(text)));
    const packing = await this.#packer.pack(reading, this.#over.signal);
    await this.#write(name, reading, packing);
    packing.leave();
  }

  async #write(name: string, reading: Reading, packing: Packing): Promise<Entry> {
    try {
      const {bytes, sha256} = await this.#zip.add(name, packing);
      const entry: Entry = {name, bytes, sha256, ...(reading.isCut ? {isCut: true} : {})};
      this.#entries.push(entry);
      return entry;
    } catch (error) {
      throw this.#refusal ?? fileFailure('write', this.#path, error, '--out');
    }
  }

  #refuse(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#isClosed) throw new Error('The archive is closed');
  }

  async #check(check: (archive: OpenArchive) => Promise<void>): Promise<void> {
    const archive = await openZip(this.#sink.path);
    try {
      await check(archive);
    } finally {
      archive.close();
    }
  }
}

/** Small enough that what is under way when the disk is full finds room in the reserve. */
async function* piecesOf(source: AsyncIterable<Buffer> | Buffer): AsyncGenerator<Buffer> {
  for await (const chunk of Buffer.isBuffer(source) ? [source] : source) {
    for (let at = 0; at < chunk.length; at += PIECE) yield chunk.subarray(at, at + PIECE);
  }
}

/** A path that stays where it is unpacked, on any system, and can be shown. */
const isPlain = (name: string): boolean => !/[\p{Cc}\\]|^[a-z]:/iu.test(name) && name.split('/').every((part) => !/^\.{0,2}$/.test(part));
