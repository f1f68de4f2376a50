import {spawn} from 'node:child_process';
import {createHash, randomBytes} from 'node:crypto';
import type {WriteStream} from 'node:fs';
import {open, rename, rm, stat} from 'node:fs/promises';
import {basename, dirname, join, resolve} from 'node:path';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {type Entry, openPromise, type ZipFile} from 'yauzl';
import {ZipFile as NewZip} from 'yazl';
import {ExpectedError, failed} from '../errors.ts';
import {fileFailure} from './node-files.ts';
import type {
  Archive,
  ArchiveEntry,
  Archives,
  ClosedArchive,
  CloseOptions,
  OpenArchive,
} from './system.ts';

/** Lists all other entries. */
const MANIFEST = 'manifest.json';

/** Bytes of a source that are read before it is written. */
const READ_AHEAD = 256 * 1024;
/** The default level 6 takes three times as long for logs that are a tenth smaller. A fixed time makes archives reproducible. */
const OPTIONS = {
  compressionLevel: 3,
  mode: 0o100600,
  mtime: new Date(1980, 0, 1),
  forceDosTimestamp: true,
};

export const zipArchives: Archives = {
  async create(path) {
    // The same directory, so that the rename is atomic.
    const partial = join(
      resolve(dirname(path)),
      `.${basename(path)}.${randomBytes(4).toString('hex')}.partial`,
    );
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
  readonly #zip = new NewZip();
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
    if (!isPlain(name) || this.#names.has(name))
      throw new Error(`Invalid or duplicate entry name: ${JSON.stringify(name)}`);
    this.#names.add(name);
    const entry = await this.#write(name, source);
    this.#entries.push(entry);
    return entry;
  }

  async close({manifest, check}: CloseOptions): Promise<ClosedArchive> {
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
    const iterator = (Buffer.isBuffer(source) ? Readable.from([source]) : source)[
      Symbol.asyncIterator
    ]();
    const closed = this.#written.then(() => Promise.reject(new Error('The archive is closed')));
    try {
      return await Promise.race([
        readHead(iterator).then((head) => this.#put(name, head, iterator)),
        closed,
      ]);
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
      this.#zip.addReadStreamLazy(name, OPTIONS, (give) =>
        give(null, Readable.from(content(), {objectMode: false})),
      );
    });
  }

  async #check(
    check: (archive: OpenArchive) => Promise<ClosedArchive | undefined>,
  ): Promise<ClosedArchive | undefined> {
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
const isPlain = (name: string): boolean =>
  !/[\p{Cc}\\]|^[a-z]:/iu.test(name) && name.split('/').every((part) => !/^\.{0,2}$/.test(part));

/** Waits for the end of standard input, a pipe from this program, which also ends if this program is killed. */
const WATCHDOG = 'while read -r _; do :; done; rm -f -- "$@"';

/** Deletes these files when this program ends for any reason, or on request. Not available on Windows. */
function cleanupOnExit(paths: readonly string[]): () => void {
  if (process.platform === 'win32') return () => undefined;
  // Runs in its own session, so that signals to the process group of the program do not stop it.
  const child = spawn('/bin/sh', ['-c', WATCHDOG, 'sh', ...paths], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without it, only a killed program leaves files behind.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  (child.stdin as typeof child.stdin & {unref(): void}).unref();
  return () => void child.stdin.end();
}

/** More than any bundle contains. */
const MAX_ENTRIES = 100_000;
const MAX_BYTES = 64 * 1024 ** 3;
/** Size of the local header before the name of an entry. */
const LOCAL_HEADER = 30;
const FIRST_BYTES = Buffer.from('PK\u0003\u0004');
/** Message of yauzl for a file that is not an archive or is truncated. */
const NO_END = /end of central directory record signature not found/i;
const FILE_TYPE = 0o170000;
const SYMBOLIC_LINK = 0o120000;

/** An entry that no bundle has. */
class InvalidEntry extends Error {}

/** Messages of yauzl in our words. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [NO_END, 'the file is truncated'],
  [
    /^(invalid relative path|absolute path|invalid characters)/i,
    'an entry has a path outside of the bundle',
  ],
  [
    /too many bytes|not enough bytes|unexpected end/i,
    'an entry does not have the size that the archive declares',
  ],
  [
    /encrypted|compression method|multi-disk|strong encryption/i,
    'the archive uses a feature that no bundle uses',
  ],
];

const reasonOf = ({message}: Error): string =>
  MESSAGES.find(([pattern]) => pattern.test(message))?.[1] ?? 'the archive is damaged';

/** Reads an archive without unpacking it to disk, and rejects malicious entries. */
async function openZip(path: string): Promise<OpenArchive> {
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(path, {autoClose: false, strictFileNames: true});
    return opened(path, zip, await readDirectory(zip));
  } catch (error) {
    zip?.close();
    throw failure(path, error, {
      isArchive: !NO_END.test((error as Error).message) || (await hasZipSignature(path)),
    });
  }
}

const opened = (path: string, zip: ZipFile, found: ReadonlyMap<string, Entry>): OpenArchive => ({
  entries: [...found.values()].map(({fileName, uncompressedSize}) => ({
    name: fileName,
    bytes: uncompressedSize,
  })),
  async *read(name) {
    const entry = found.get(name);
    if (entry === undefined) throw damagedArchive(path, `${name} is missing`);
    try {
      yield* await zip.openReadStreamPromise(entry);
    } catch (error) {
      throw failure(path, error);
    }
  },
  close: () => zip.close(),
});

async function readDirectory(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  const found = new Map<string, Entry>();
  if (zip.entryCount > MAX_ENTRIES) throw new InvalidEntry(`too many entries (${zip.entryCount})`);
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    const {fileName, externalFileAttributes, uncompressedSize} = entry;
    // yauzl rejects absolute names and names with "../..". Control characters would affect the terminal.
    if (/\p{Cc}/u.test(fileName))
      throw new InvalidEntry('an entry name contains control characters');
    if (found.has(fileName)) throw new InvalidEntry(`duplicate entry ${fileName}`);
    if (((externalFileAttributes >>> 16) & FILE_TYPE) === SYMBOLIC_LINK)
      throw new InvalidEntry(`${fileName} is a symbolic link`);
    bytes += uncompressedSize;
    if (bytes > MAX_BYTES) throw new InvalidEntry('the uncompressed size is too large');
    found.set(fileName, entry);
  }
  refuseOverlaps([...found.values()]);
  return found;
}

/** Overlapping entries would let a small archive unpack to any size. */
function refuseOverlaps(entries: readonly Entry[]): void {
  let end = 0;
  for (const entry of entries.toSorted(
    (one, other) => one.relativeOffsetOfLocalHeader - other.relativeOffsetOfLocalHeader,
  )) {
    if (entry.relativeOffsetOfLocalHeader < end)
      throw new InvalidEntry(`${entry.fileName} overlaps another entry`);
    end =
      entry.relativeOffsetOfLocalHeader +
      LOCAL_HEADER +
      entry.fileNameLength +
      entry.compressedSize;
  }
}

/** Distinguishes a truncated bundle from another file type. */
async function hasZipSignature(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const {buffer} = await file.read(Buffer.alloc(FIRST_BYTES.length), 0, FIRST_BYTES.length, 0);
    return buffer.equals(FIRST_BYTES);
  } finally {
    await file.close();
  }
}

function failure(path: string, error: unknown, {isArchive = true} = {}): unknown {
  const isOfDisk = (error as NodeJS.ErrnoException).syscall !== undefined;
  if (isOfDisk || error instanceof ExpectedError) return fileFailure('read', path, error);
  const why = isArchive ? reasonInArchive(error) : 'it is not a zip file';
  return damagedArchive(path, why, {isArchive, cause: error});
}

const reasonInArchive = (error: unknown): string =>
  error instanceof InvalidEntry ? error.message : reasonOf(error as Error);

export const damagedArchive = (
  path: string,
  why: string,
  {isArchive = true, cause}: {isArchive?: boolean; cause?: unknown} = {},
): ExpectedError =>
  failed(
    isArchive ? 'BUNDLE_DAMAGED' : 'UNREADABLE_FILE',
    `Cannot read ${path} as a support bundle: ${why}.`,
    ['Use a bundle written by collect-logs, and check that the copy is complete'],
    {cause},
  );
