import {open} from 'node:fs/promises';
import {type Entry, openPromise, type ZipFile} from 'yauzl';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {OpenArchive} from '../ports/archive.ts';
import {fileFailure} from './node-files.ts';

/** More than any bundle holds, and still little enough to read. */
const MOST_ENTRIES = 100_000;
const MOST_BYTES = 64 * 1024 ** 3;
/** Bytes before the name of an entry in front of its content. */
const LOCAL_HEADER = 30;
const FIRST_BYTES = Buffer.from('PK\u0003\u0004');
/** What yauzl says of a file that is no archive, or has lost its end. */
const NO_END = /end of central directory record signature not found/i;
const FILE_TYPE = 0o170000;
const SYMBOLIC_LINK = 0o120000;

/** Reads an archive without unpacking it to disk, and refuses what could harm the reader. */
export async function openZip(path: string): Promise<OpenArchive> {
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(path, {autoClose: false, strictFileNames: true});
    return opened(path, zip, await readDirectory(zip));
  } catch (error) {
    zip?.close();
    throw failure(path, error, {isArchive: !NO_END.test((error as Error).message) || (await beginsAsArchive(path))});
  }
}

const opened = (path: string, zip: ZipFile, found: ReadonlyMap<string, Entry>): OpenArchive => ({
  entries: [...found.values()].map(({fileName, uncompressedSize}) => ({name: fileName, bytes: uncompressedSize})),
  async *read(name) {
    const entry = found.get(name);
    if (entry === undefined) throw damaged(path, `it holds no ${name}`);
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
  if (zip.entryCount > MOST_ENTRIES) throw new Error(`it holds ${zip.entryCount} entries`);
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    const {fileName, externalFileAttributes, uncompressedSize} = entry;
    // yauzl itself refuses absolute names and names with "..". Control characters would act on the terminal that shows the name.
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

/** Entries that share their content would let a small archive unpack to any size. */
function refuseOverlaps(entries: readonly Entry[]): void {
  let end = 0;
  for (const entry of entries.toSorted((one, other) => one.relativeOffsetOfLocalHeader - other.relativeOffsetOfLocalHeader)) {
    if (entry.relativeOffsetOfLocalHeader < end) throw new Error(`${entry.fileName} lies in another entry`);
    end = entry.relativeOffsetOfLocalHeader + LOCAL_HEADER + entry.fileNameLength + entry.compressedSize;
  }
}

/** Tells a bundle of which the end is missing from some other file. */
async function beginsAsArchive(path: string): Promise<boolean> {
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
