import {spawn} from 'node:child_process';
import {createHash, randomBytes} from 'node:crypto';
import type {WriteStream} from 'node:fs';
import {open, rename, rm, stat} from 'node:fs/promises';
import {basename, dirname, join, resolve} from 'node:path';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {ZipFile} from 'yazl';
import type {Archive, ArchiveEntry, Archives, ClosedArchive, OpenArchive} from '../ports/archive.ts';
import {fileFailure} from './node-files.ts';
import {openZip} from './zip-reader.ts';

/** Lists all other entries. */
const MANIFEST = 'manifest.json';

/** Bytes of a source that are read before it is written. */
const READ_AHEAD = 256 * 1024;
/** The default level 6 takes three times as long for logs that are a tenth smaller. A fixed time makes archives reproducible. */
const OPTIONS = {compressionLevel: 3, mode: 0o100600, mtime: new Date(1980, 0, 1), forceDosTimestamp: true};

export const zipArchives: Archives = {
  async create(path) {
    // The same directory, so that the rename is atomic.
    const partial = join(resolve(dirname(path)), `.${basename(path)}.${randomBytes(4).toString('hex')}.partial`);
    try {
      const handle = await open(partial, 'wx', 0o600);
      return new ZipArchive(path, partial, handle.createWriteStream({flush: true}));
    } catch (error) {
      throw fileFailure('write', path, error, '--out');
    }
  },
  open: openZip,
};

class ZipArchive implements Archive {
  readonly #path: string;
  readonly #partial: string;
  readonly #file: WriteStream;
  readonly #zip = new ZipFile();
  /** Rejects if writing fails. */
  readonly #written: Promise<void>;
  readonly #forget: () => void;
  readonly #entries: ArchiveEntry[] = [];
  readonly #names = new Set([MANIFEST]);

  constructor(path: string, partial: string, file: WriteStream) {
    this.#path = path;
    this.#partial = partial;
    this.#file = file;
    this.#forget = cleanupOnExit([partial]);
    this.#written = pipeline(this.#zip.outputStream, file);
    this.#written.catch(() => undefined);
  }

  async add(name: string, source: AsyncIterable<Buffer> | Buffer): Promise<ArchiveEntry> {
    if (!isPlain(name) || this.#names.has(name)) throw new Error(`Invalid or duplicate entry name: ${JSON.stringify(name)}`);
    this.#names.add(name);
    const entry = await this.#write(name, source);
    this.#entries.push(entry);
    return entry;
  }

  async close({manifest, check}: Parameters<Archive['close']>[0]): Promise<ClosedArchive> {
    try {
      const entries = this.#entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
      await this.#write(MANIFEST, Buffer.from(manifest(entries)));
      this.#zip.end();
      await this.#written;
      const instead = check && (await this.#check(check));
      if (instead) {
        await this.abort();
        return instead;
      }
      const {size} = await stat(this.#partial);
      await rename(this.#partial, this.#path);
      this.#forget();
      return {bytes: size, entries};
    } catch (error) {
      await this.abort();
      throw fileFailure('write', this.#path, error, '--out');
    }
  }

  async abort(): Promise<void> {
    (this.#zip.outputStream as Readable).destroy(new Error('The archive was discarded'));
    if (!this.#file.closed) await new Promise<void>((resolve) => this.#file.once('close', resolve));
    await rm(this.#partial, {force: true});
    this.#forget();
  }

  async #write(name: string, source: AsyncIterable<Buffer> | Buffer): Promise<ArchiveEntry> {
    const iterator = (Buffer.isBuffer(source) ? Readable.from([source]) : source)[Symbol.asyncIterator]();
    const closed = this.#written.then(() => Promise.reject(new Error('The archive is closed')));
    try {
      return await Promise.race([readHead(iterator).then((head) => this.#put(name, head, iterator)), closed]);
    } catch (error) {
      // Stops the source at its next chunk.
      iterator.return?.()?.catch(() => undefined);
      throw fileFailure('write', this.#path, error, '--out');
    }
  }

  /** Resolves after the whole source was read. */
  #put(name: string, head: Buffer[], rest: AsyncIterator<Buffer>): Promise<ArchiveEntry> {
    return new Promise((done, fail) => {
      const hash = createHash('sha256');
      let bytes = 0;
      const next = async (): Promise<Buffer | undefined> => {
        const held = head.shift();
        if (held !== undefined) return held;
        const {done: isOver, value} = await rest.next();
        return isOver ? undefined : value;
      };
      async function* content(): AsyncGenerator<Buffer> {
        try {
          for (let chunk = await next(); chunk !== undefined; chunk = await next()) {
            hash.update(chunk);
            bytes += chunk.length;
            yield chunk;
          }
          done({name, bytes, sha256: hash.digest('hex')});
        } catch (error) {
          fail(error);
        }
      }
      this.#zip.addReadStreamLazy(name, OPTIONS, (give) => give(null, Readable.from(content(), {objectMode: false})));
    });
  }

  async #check(check: (archive: OpenArchive) => Promise<ClosedArchive | undefined>): Promise<ClosedArchive | undefined> {
    const archive = await openZip(this.#partial);
    try {
      return await check(archive);
    } finally {
      archive.close();
    }
  }
}

/** The first chunks of a source, up to its end or READ_AHEAD. */
async function readHead(source: AsyncIterator<Buffer>): Promise<Buffer[]> {
  const head: Buffer[] = [];
  for (let bytes = 0; bytes < READ_AHEAD; bytes += head.at(-1)?.length ?? 0) {
    const {done, value} = await source.next();
    if (done) break;
    head.push(value);
  }
  return head;
}

/** A relative path that is safe to unpack and to print on any system. */
const isPlain = (name: string): boolean => !/[\p{Cc}\\]|^[a-z]:/iu.test(name) && name.split('/').every((part) => !/^\.{0,2}$/.test(part));

/** Waits for the end of standard input, a pipe from this program, which also ends if this program is killed. */
const WATCHDOG = 'while read -r _; do :; done; rm -f -- "$@"';

/** Deletes these files when this program ends for any reason, or on request. Not available on Windows. */
export function cleanupOnExit(paths: readonly string[]): () => void {
  if (process.platform === 'win32') return () => undefined;
  // Runs in its own session, so that signals to the process group of the program do not stop it.
  const child = spawn('/bin/sh', ['-c', WATCHDOG, 'sh', ...paths], {cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore']});
  // Without it, only a killed program leaves files behind.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  (child.stdin as typeof child.stdin & {unref(): void}).unref();
  return () => void child.stdin.end();
}
