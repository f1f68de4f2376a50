import {pipeline, Readable} from 'node:stream';
import {createInflateRaw, inflateRawSync} from 'node:zlib';
import type {Entry, RandomAccessReader, ZipFile} from 'yauzl';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {OpenArchive} from '../ports/archive.ts';
import {fileFailure} from './node-files.ts';
import {WindowedFile} from './windowed-file.ts';

/** Far above what a bundle of ours can be, far below what would keep somebody busy for days. */
const MOST_ENTRIES = 100_000;
const MOST_BYTES = 64 * 1024 ** 3;
/** Of what precedes the content of an entry. */
const LOCAL_HEADER = 30;
const DEFLATED = 8;
/** An entry that is no larger comes at once, unpacked where it is read: a stream costs more than the work it does. */
const SMALL = 64 * 1024;
/** Of others so little that what was looked at is swept up before it is much. */
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
  let file: WindowedFile | undefined;
  try {
    file = await WindowedFile.open(path);
    return await opened(path, file);
  } catch (error) {
    const isArchive = file === undefined || !NO_END.test((error as Error).message) || (await file.read(0, ENTRY.length)).equals(ENTRY);
    await file?.close();
    throw failure(path, error, {isArchive});
  }
}

async function opened(path: string, file: WindowedFile): Promise<OpenArchive> {
  const {default: yauzl} = await import('yauzl');
  const reader = readerOf(file, yauzl.RandomAccessReader);
  const zip = await yauzl.fromRandomAccessReaderPromise(reader, file.size, {autoClose: false, strictFileNames: true});
  const found = await readDirectory(zip);
  return {
    entries: [...found.values()].map(({fileName, relativeOffsetOfLocalHeader, uncompressedSize, compressedSize}) => ({
      name: fileName,
      at: relativeOffsetOfLocalHeader,
      bytes: uncompressedSize,
      packedBytes: compressedSize,
    })),
    async *read(name) {
      const entry = found.get(name);
      if (entry === undefined) throw damaged(path, `it holds no ${name}`);
      try {
        const isOurs = entry.compressionMethod === DEFLATED && !entry.isEncrypted();
        yield* isOurs ? unpacked(entry, zip, file) : await zip.openReadStreamPromise(entry);
      } catch (error) {
        throw failure(path, error);
      }
    },
    close: () => void file.close().catch(() => undefined),
  };
}

/** The library's own reader would go to the disk for each header. */
const readerOf = (file: WindowedFile, Base: typeof RandomAccessReader): RandomAccessReader =>
  new (class extends Base {
    override read(into: Buffer, offset: number, length: number, position: number, callback: (error: Error | null, bytes?: number) => void) {
      file.read(position, length).then((bytes) => callback(null, bytes.copy(into, offset)), callback);
    }

    override _readStreamForRange(start: number, end: number): Readable {
      return Readable.from(file.pieces(start, end - start), {objectMode: false});
    }
  })();

async function* unpacked(entry: Entry, zip: ZipFile, file: WindowedFile): AsyncGenerator<Buffer> {
  const {compressedSize, uncompressedSize: claimed} = entry;
  const {fileDataStart} = await zip.readLocalFileHeaderPromise(entry, {minimal: true});
  const isSmall = Math.max(compressedSize, claimed) <= SMALL;
  let bytes = 0;
  for await (const chunk of isSmall
    ? [inflated(await file.read(fileDataStart, compressedSize), claimed)]
    : inflating(file.pieces(fileDataStart, compressedSize))) {
    bytes += chunk.length;
    if (bytes > claimed) throw new Error(`too many bytes in an entry of ${claimed}`);
    yield chunk;
  }
  if (bytes < claimed) throw new Error(`too few bytes in an entry of ${claimed}`);
}

/** One byte more than was claimed is enough to know that it lied. */
function inflated(packed: Buffer, claimed: number): Buffer {
  const room = Math.max(claimed + 1, LEAST_CHUNK);
  try {
    return inflateRawSync(packed, {chunkSize: room, maxOutputLength: room});
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw new Error(`too many bytes in an entry of ${claimed}`);
    throw error;
  }
}

function inflating(packed: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const stream = createInflateRaw({chunkSize: CHUNK});
  // What goes wrong is thrown to who reads.
  pipeline(Readable.from(packed, {objectMode: false}), stream, () => undefined);
  return stream;
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
