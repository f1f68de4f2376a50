import {type ExpectedError, failed} from '../../ground/errors.ts';
import type {ArchiveEntry, ClosedArchive, OpenArchive} from '../../ground/system/system.ts';
import type {Leak, LeakFinder} from './redact/leak-check.ts';
import {contentOfPage, type PagedArchive, REPORT} from './report-page.ts';

/** What the final check needs, and what is written after it. */
interface CheckDeps {
  /** Searches a file for secrets. */
  find: LeakFinder;
  /** Another archive for the same file. */
  createArchive(): Promise<PagedArchive>;
  manifest(entries: readonly ArchiveEntry[]): string;
  /** The files of the program itself, which say what was withheld. */
  ownFiles(withheld: readonly string[]): Readonly<Record<string, string>>;
  /** The first screen of the page, from the files of the program. */
  firstScreen(ownFiles: Readonly<Record<string, string>>): string;
}

type Written = Pick<OpenArchive, 'entries' | 'read'>;

/** Every other file is in the manifest, with checksums that no secret can change. */
const MANIFEST = 'manifest.json';

/** What happens to a file with a secret: first the secret is masked, then the file is left out, then there is no bundle. */
const MEASURES = ['mask', 'leave out', 'refuse'] as const;

/**
 * Adds the files of the program to an archive, and closes it after the final check. Files in which it finds a secret are changed or left
 * out. Returns their names. @throws ExpectedError if a secret remains
 */
export async function closeChecked(
  archive: PagedArchive,
  deps: CheckDeps,
): Promise<ClosedArchive & {withheld: readonly string[]}> {
  const withheld = new Set<string>();
  const close = async (
    writing: PagedArchive,
    [measure, ...later]: readonly (typeof MEASURES)[number][],
  ): Promise<ClosedArchive> => {
    try {
      const ownFiles = deps.ownFiles([...withheld].toSorted());
      for (const [name, text] of Object.entries(ownFiles))
        await writing.add(name, await withoutLeaks(Buffer.from(text), deps.find));
      await writing.addPage(await withoutLeaks(Buffer.from(deps.firstScreen(ownFiles)), deps.find));
      return await writing.close({manifest: deps.manifest, check});
    } catch (error) {
      await writing.abort();
      throw error;
    }
    async function check(written: Written): Promise<ClosedArchive | undefined> {
      const own = new Set([MANIFEST, REPORT, ...Object.keys(deps.ownFiles([]))]);
      const leaks = await leaksIn(written, deps.find, own);
      if (leaks.size === 0) return undefined;
      if (measure === undefined || measure === 'refuse') throw remaining(leaks);
      const again = await deps.createArchive();
      for (const {name} of written.entries.filter((entry) => !own.has(entry.name))) {
        const found = leaks.get(name);
        if (found !== undefined) withheld.add(found.inName.length > 0 ? '(name withheld)' : name);
        if (found === undefined) await again.add(name, written.read(name));
        else if (measure === 'mask' && found.inName.length === 0)
          await again.add(name, masked(written.read(name), found.inContent));
      }
      return close(again, later);
    }
  };
  const closed = await close(archive, MEASURES);
  return {...closed, withheld: [...withheld].toSorted()};
}

type FileLeaks = Readonly<Record<'inName' | 'inContent', readonly Leak[]>>;

/** Leaks by file. The names of the program's own files are the same in every bundle. */
async function leaksIn(
  {entries, read}: Written,
  find: CheckDeps['find'],
  own: ReadonlySet<string>,
): Promise<Map<string, FileLeaks>> {
  const leaks = new Map<string, FileLeaks>();
  for (const {name} of entries) {
    const inName = own.has(name) ? [] : await find([Buffer.from(name)]);
    const inContent =
      name === MANIFEST
        ? []
        : await find(name === REPORT ? contentOfPage(read(name), own) : read(name));
    if (inName.length + inContent.length > 0) leaks.set(name, {inName, inContent});
  }
  return leaks;
}

/** A file with asterisks in place of what was found. */
async function* masked(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  leaks: readonly Leak[],
): AsyncGenerator<Buffer> {
  let base = 0;
  for await (const chunk of chunks) {
    for (const {at, length} of leaks) {
      const start = Math.max(0, at - base);
      const end = Math.min(chunk.length, at + length - base);
      if (start < end) chunk.fill('*', start, end);
    }
    base += chunk.length;
    yield chunk;
  }
}

async function withoutLeaks(bytes: Buffer, find: CheckDeps['find']): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of masked([bytes], await find([bytes]))) all.push(chunk);
  return Buffer.concat(all);
}

function remaining(leaks: ReadonlyMap<string, FileLeaks>): ExpectedError {
  const lines = [...leaks].flatMap(([name, {inName, inContent}]) => [
    ...inName.map(({kind, form}) => `name of a file: ${kind} (${form})`),
    ...inContent.map(
      ({kind, form, at}) =>
        `${inName.length > 0 ? '(name withheld)' : name}, byte ${at}: ${kind} (${form})`,
    ),
  ]);
  return failed(
    'SECRET_IN_BUNDLE',
    `A secret was found in the bundle. No bundle was written.\n${lines.toSorted().slice(0, 10).join('\n')}`,
    [
      'Report this with the lines above; they do not contain the secret',
      'Exclude the source of the secret: --container, --since',
    ],
  );
}

/** Names of files in the bundle without secrets. A placeholder in a name has only characters that every system accepts. */
export function fileNames(clean: (text: string) => string): (name: string) => string {
  const names = new Map<string, string>();
  const used = new Set<string>();
  return (name) => {
    const before = names.get(name);
    if (before !== undefined) return before;
    const cleaned = clean(name).replace(/\[redacted:([\w-]+):(\w+)\]/g, 'redacted-$1-$2');
    let unique = cleaned;
    for (let copy = 2; used.has(unique); copy += 1)
      unique = cleaned.replace(/(?=\.[^./]*$|$)/, `-${copy}`);
    used.add(unique);
    names.set(name, unique);
    return unique;
  };
}
