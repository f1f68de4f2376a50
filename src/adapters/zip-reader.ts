import {open} from 'node:fs/promises';
import {type Entry, openPromise, type ZipFile} from 'yauzl';
import {ExitCode, ExpectedError} from '../ground/errors.ts';
import type {OpenArchive} from '../ports/archive.ts';
import {fileFailure} from './node-files.ts';

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
  [/^(invalid relative path|absolute path|invalid characters)/i, 'an entry has a path outside of the bundle'],
  [/too many bytes|not enough bytes|unexpected end/i, 'an entry does not have the size that the archive declares'],
  [/encrypted|compression method|multi-disk|strong encryption/i, 'the archive uses a feature that no bundle uses'],
];

const reasonOf = ({message}: Error): string => MESSAGES.find(([pattern]) => pattern.test(message))?.[1] ?? 'the archive is damaged';

/** Reads an archive without unpacking it to disk, and rejects malicious entries. */
export async function openZip(path: string): Promise<OpenArchive> {
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(path, {autoClose: false, strictFileNames: true});
    return opened(path, zip, await readDirectory(zip));
  } catch (error) {
    zip?.close();
    throw failure(path, error, {isArchive: !NO_END.test((error as Error).message) || (await hasZipSignature(path))});
  }
}

const opened = (path: string, zip: ZipFile, found: ReadonlyMap<string, Entry>): OpenArchive => ({
  entries: [...found.values()].map(({fileName, uncompressedSize}) => ({name: fileName, bytes: uncompressedSize})),
  async *read(name) {
    const entry = found.get(name);
    if (entry === undefined) throw damaged(path, `${name} is missing`);
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
    // yauzl rejects absolute names and names with "..". Control characters would affect the terminal.
    if (/\p{Cc}/u.test(fileName)) throw new InvalidEntry('an entry name contains control characters');
    if (found.has(fileName)) throw new InvalidEntry(`duplicate entry ${fileName}`);
    if (((externalFileAttributes >>> 16) & FILE_TYPE) === SYMBOLIC_LINK) throw new InvalidEntry(`${fileName} is a symbolic link`);
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
  for (const entry of entries.toSorted((one, other) => one.relativeOffsetOfLocalHeader - other.relativeOffsetOfLocalHeader)) {
    if (entry.relativeOffsetOfLocalHeader < end) throw new InvalidEntry(`${entry.fileName} overlaps another entry`);
    end = entry.relativeOffsetOfLocalHeader + LOCAL_HEADER + entry.fileNameLength + entry.compressedSize;
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
  return isOfDisk || error instanceof ExpectedError
    ? fileFailure('read', path, error)
    : damaged(path, !isArchive ? 'it is not a zip file' : error instanceof InvalidEntry ? error.message : reasonOf(error as Error), {
        isArchive,
        cause: error,
      });
}

const damaged = (path: string, why: string, {isArchive = true, cause}: {isArchive?: boolean; cause?: unknown} = {}): ExpectedError =>
  new ExpectedError(`Cannot read ${path} as a support bundle: ${why}.`, {
    code: 'UNREADABLE_FILE',
    exit: isArchive ? ExitCode.findings : ExitCode.usage,
    suggestions: ['Use a bundle written by collect-logs, and check that the copy is complete'],
    cause,
  });
