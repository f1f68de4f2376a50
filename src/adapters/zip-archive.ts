import {createHash} from 'node:crypto';
import {Readable} from 'node:stream';
import {finished, pipeline} from 'node:stream/promises';
import type {ZipFile} from 'yazl';
import {type Archive, type Archives, type ClosedArchive, type Entry, MANIFEST, type OpenArchive} from '../ports/archive.ts';
import {type FileSink, openSink} from './file-sink.ts';
import {fileFailure} from './node-files.ts';
import {Reading} from './reading.ts';
import {turns} from './turns.ts';
import {openZip} from './zip-reader.ts';

/** What is no larger is read before it is written. */
const SMALL = 256 * 1024;
/** All of them find room in the reserve of a disk that is full. */
const SMALL_AT_ONCE = 6;
const PIECE = 64 * 1024;
/** Equal data gives equal bytes: the first day that zip knows, in any time zone, and no owner. */
const SAME = {mtime: new Date(1980, 0, 1), forceDosTimestamp: true, mode: 0o100600, compressionLevel: 6} as const;

export const zipArchives: Archives = {
  async create(path) {
    try {
      const [{default: yazl}, sink] = await Promise.all([import('yazl'), openSink(path)]);
      return new ZipArchive(path, new yazl.ZipFile(), sink);
    } catch (error) {
      throw fileFailure('write', path, error, '--out');
    }
  },
  open: openZip,
};

export class ZipArchive implements Archive {
  readonly #path: string;
  readonly #zip: ZipFile;
  readonly #sink: FileSink;
  readonly #entries: Entry[] = [];
  readonly #names = new Set([MANIFEST]);
  readonly #readings = new Set<Reading>();
  readonly #adding = new Set<Promise<Entry>>();
  /** All that was put in, on the disk. */
  readonly #written: Promise<void>;
  readonly #ofLarge = turns(1);
  readonly #ofSmall = turns(SMALL_AT_ONCE);
  readonly #over = new AbortController();
  /** Why nothing can be written any more. */
  #refusal: unknown;
  #isClosed = false;

  constructor(path: string, zip: ZipFile, sink: FileSink) {
    this.#path = path;
    this.#zip = zip;
    this.#sink = sink;
    const stop = (error: unknown): void => {
      this.#refusal ??= fileFailure('write', path, error, '--out');
      for (const reading of this.#readings) reading.cut();
    };
    sink.once('full', stop);
    this.#written = pipeline(zip.outputStream, sink);
    this.#written.catch(stop);
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
      for (const {name, text} of last) {
        this.#entries.push({name, ...(await this.#writeWhole(name, Buffer.from(text)))});
      }
      const entries = this.#entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
      await this.#writeWhole(MANIFEST, Buffer.from(manifest(entries)));
      sortDirectory(this.#zip);
      this.#zip.end();
      await this.#written;
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
    const head = await reading.upTo(SMALL);
    const takeTurn = reading.isOver ? this.#ofSmall : this.#ofLarge;
    const giveBack = await takeTurn(this.#over.signal);
    try {
      // While it waited the disk may have become full.
      this.#refuse();
      const {bytes, sha256} = await (reading.isOver ? this.#writeWhole(name, Buffer.concat(head)) : this.#write(name, reading, head));
      const entry: Entry = {name, bytes, sha256, ...(reading.isCut ? {isCut: true} : {})};
      this.#entries.push(entry);
      if (reading.error !== undefined) throw reading.error;
      if (reading.isCut && this.#refusal !== undefined) throw this.#refusal;
      return entry;
    } finally {
      giveBack?.();
    }
  }

  /** What is there already; the streams of #write would cost more than the work they do. Resolves as that does. */
  async #writeWhole(name: string, content: Buffer): Promise<{bytes: number; sha256: string}> {
    this.#zip.addBuffer(content, name, SAME);
    try {
      await Promise.race([isGiven(this.#zip), this.#written]);
    } catch (error) {
      throw this.#refusal ?? error;
    }
    return {bytes: content.length, sha256: createHash('sha256').update(content).digest('hex')};
  }

  /** Resolves when all of it is in the hands of the library, which writes one entry after the other. */
  async #write(name: string, reading: Reading, head: readonly Buffer[]): Promise<{bytes: number; sha256: string}> {
    const hash = createHash('sha256');
    let bytes = 0;
    async function* pieces(): AsyncGenerator<Buffer> {
      const first = head.values();
      for (;;) {
        const piece = first.next().value ?? (await reading.next());
        if (piece === undefined) return;
        hash.update(piece);
        bytes += piece.length;
        yield piece;
      }
    }
    const stream = Readable.from(pieces(), {objectMode: false});
    this.#zip.addReadStreamLazy(name, SAME, (give) => give(null, stream));
    try {
      await Promise.race([finished(stream), this.#written]);
    } catch (error) {
      stream.destroy();
      throw this.#refusal ?? error;
    }
    return {bytes, sha256: hash.digest('hex')};
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

/** What the library does not declare. */
interface Inside {
  entries: {utf8FileName: Buffer; doFileDataPump?: () => void; setFileDataPumpFunction(pump: () => void): void}[];
}

const entriesOf = (zip: ZipFile): Inside['entries'] => (zip as unknown as Inside).entries;

/** The library writes its directory in the order in which entries came, which depends on who answered first. */
const sortDirectory = (zip: ZipFile): void =>
  void entriesOf(zip).sort((one, other) => Buffer.compare(one.utf8FileName, other.utf8FileName));

/** The last entry, which the library packs and then writes at once, is written; it tells nobody, and keeps what it packed. */
const isGiven = (zip: ZipFile): Promise<void> =>
  new Promise((resolve) => {
    const entry = entriesOf(zip).at(-1) as Inside['entries'][number];
    const pumpWith = entry.setFileDataPumpFunction;
    entry.setFileDataPumpFunction = (pump) =>
      pumpWith.call(entry, () => {
        pump();
        delete entry.doFileDataPump;
        resolve();
      });
  });
