import {open} from 'node:fs/promises';
import type {Readable} from 'node:stream';
import {createInflateRaw} from 'node:zlib';
import type {Entry, ZipFile} from 'yauzl';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {OpenArchive} from '../ports/archive.ts';
import {fileFailure} from './node-files.ts';

/** Far above what a bundle of ours can be, far below what would keep somebody busy for days. */
const MOST_ENTRIES = 100_000;
const MOST_BYTES = 64 * 1024 ** 3;
/** Of what precedes the content of an entry. */
const LOCAL_HEADER = 30;
const DEFLATED = 8;
/** An entry that is no larger comes at once; of others so little that what was looked at is swept up before it is much. */
const SMALL = 64 * 1024;
const CHUNK = 64 * 1024;
/** Of zlib. */
const LEAST_CHUNK = 64;
const ENTRY = Buffer.from('PK\u0003\u0004');
/** As the library says it of what is no archive, or lost its end. */
const NO_END = /end of central directory record signature not found/i;
const FILE_TYPE = 0o170000;
const SYMBOLIC_LINK = 0o120000;

/** Reads an archive without unpacking it anywhere. */
export async function openZip(path: string): Promise<OpenArchive> {
  const {default: yauzl} = await import('yauzl');
  try {
    const zip = await yauzl.openPromise(path, {autoClose: false, strictFileNames: true});
    try {
      return opened(path, zip, await readDirectory(zip));
    } catch (error) {
      zip.close();
      throw error;
    }
  } catch (error) {
    throw failure(path, error, {isArchive: !NO_END.test((error as Error).message) || (await beginsAsArchive(path))});
  }
}

/** An archive without its end is found out by its beginning. */
async function beginsAsArchive(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const {buffer, bytesRead} = await file.read(Buffer.alloc(ENTRY.length), 0, ENTRY.length, 0);
    return bytesRead === ENTRY.length && buffer.equals(ENTRY);
  } finally {
    await file.close();
  }
}

const opened = (path: string, zip: ZipFile, found: ReadonlyMap<string, Entry>): OpenArchive => ({
  entries: [...found.values()].map(({fileName, uncompressedSize, compressedSize}) => ({
    name: fileName,
    bytes: uncompressedSize,
    packedBytes: compressedSize,
  })),
  async *read(name) {
    const entry = found.get(name);
    if (entry === undefined) throw damaged(path, `it holds no ${name}`);
    let source: Readable | undefined;
    try {
      const isOurs = entry.compressionMethod === DEFLATED && !entry.isEncrypted();
      source = await zip.openReadStreamPromise(entry, isOurs ? {decodeFileData: false} : {});
      yield* isOurs ? unpacked(source, entry) : (source as AsyncIterable<Buffer>);
    } catch (error) {
      throw failure(path, error);
    } finally {
      source?.destroy();
    }
  },
  close: () => zip.close(),
});

/** The library's own way would take a small entry in pieces too. */
async function* unpacked(source: Readable, {uncompressedSize}: Entry): AsyncGenerator<Buffer> {
  const inflating = createInflateRaw({chunkSize: uncompressedSize < SMALL ? Math.max(uncompressedSize + 1, LEAST_CHUNK) : CHUNK});
  source.once('error', (error) => inflating.destroy(error));
  let bytes = 0;
  for await (const chunk of source.pipe(inflating)) {
    bytes += chunk.length;
    if (bytes > uncompressedSize) throw new Error(`too many bytes in an entry of ${uncompressedSize}`);
    yield chunk;
  }
  if (bytes < uncompressedSize) throw new Error(`too few bytes in an entry of ${uncompressedSize}`);
}

async function readDirectory(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  const found = new Map<string, Entry>();
  if (zip.entryCount > MOST_ENTRIES) throw new Error(`it holds ${zip.entryCount} entries`);
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    const {fileName, externalFileAttributes, uncompressedSize} = entry;
    // yauzl itself refuses absolute names and those that climb.
    // They would act on the terminal that shows the name.
    if (/\p{Cc}/u.test(fileName)) throw new Error('a name in it holds control characters');
    if (found.has(fileName)) throw new Error(`it holds ${fileName} twice`);
    if (((externalFileAttributes >>> 16) & FILE_TYPE) === SYMBOLIC_LINK) throw new Error(`${fileName} is a link`);
    bytes += uncompressedSize;
    if (bytes > MOST_BYTES) throw new Error('its content would be larger than any bundle');
    found.set(fileName, entry);
  }
  refuseOverlaps([...found.values()]);
  return found;
}

/** Entries that share their content make a small archive endless. */
function refuseOverlaps(entries: readonly Entry[]): void {
  let end = 0;
  for (const entry of entries.toSorted((one, other) => one.relativeOffsetOfLocalHeader - other.relativeOffsetOfLocalHeader)) {
    if (entry.relativeOffsetOfLocalHeader < end) throw new Error(`${entry.fileName} lies in another entry`);
    end = entry.relativeOffsetOfLocalHeader + LOCAL_HEADER + entry.fileNameLength + entry.compressedSize;
  }
}

function failure(path: string, error: unknown, {isArchive = true} = {}): unknown {
  const isOfDisk = (error as NodeJS.ErrnoException).syscall !== undefined;
  return isOfDisk || error instanceof ExpectedError
    ? fileFailure('read', path, error)
    : damaged(path, (error as Error).message, {isArchive, cause: error});
}

const damaged = (path: string, why: string, {isArchive = true, cause}: {isArchive?: boolean; cause?: unknown} = {}): ExpectedError =>
  new ExpectedError(`Cannot read ${path} as a bundle: ${why.replace(/\.$/, '')}.`, {
    code: 'UNREADABLE_FILE',
    exit: isArchive ? ExitCode.findings : ExitCode.usage,
    suggestions: ['Name a bundle that collect-logs wrote, and check that all of it was copied'],
    cause,
  });
