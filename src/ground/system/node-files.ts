import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {type FileHandle, lstat, mkdir, open, readdir, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {commandLine} from '../command-line.ts';
import {ExpectedError, failed} from '../errors.ts';
import {readAtMost} from '../line-streams.ts';
import type {Charts, FileOptions, Files, PlaceFlag} from './system.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'is a directory',
  ENOTDIR: 'not a directory',
  EROFS: 'read-only file system',
  ENOSPC: 'no space left on device',
  EDQUOT: 'disk quota exceeded',
  EFBIG: 'file too large',
};

/** Next step besides using another path. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'Free disk space',
  EDQUOT: 'Free disk space',
  EFBIG: 'Raise the file size limit (ulimit -f)',
};

/** Describes errors of the operating system; all other errors are bugs and are returned unchanged. */
export const fileFailure = (
  verb: 'read' | 'write',
  path: string,
  cause: unknown,
  flag?: PlaceFlag,
): unknown => {
  const {code, message} = cause as NodeJS.ErrnoException;
  if (code === undefined || cause instanceof ExpectedError) return cause;
  return failed(
    verb === 'read' ? 'UNREADABLE_FILE' : 'UNWRITABLE_FILE',
    `Cannot ${verb} ${path}: ${REASONS[code] ?? message}.`,
    [verb === 'read' ? readAdvice(code) : writeAdvice(code, path, flag)],
    {cause},
  );
};

const readAdvice = (code: string): string =>
  code === 'EISDIR' ? 'Specify a file of this directory' : 'Check the path and its permissions';

function writeAdvice(code: string, path: string, flag: PlaceFlag | undefined): string {
  const advice =
    code === 'ENOENT' && dirname(path) !== '.'
      ? `Create the directory: mkdir -p ${dirname(path)}`
      : ADVICE[code];
  return `${advice === undefined ? 'Use' : `${advice}, or use`} another path${flag === undefined ? '' : ` with ${flag}`}`;
}

/** Answers, tokens and certificates are small; a larger file is a mistake. */
const MAX_FILE_BYTES = 2 * 1024 * 1024;

/** Reading a small file is faster than setting up a stream. */
async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const {bytesRead, buffer} = await file.read();
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Tools print plans of many resources. */
const MAX_STDIN_BYTES = 64 * 1024 * 1024;

async function readSmall(
  stream: AsyncIterable<Buffer | string>,
  name: string,
  most = MAX_FILE_BYTES,
): Promise<Buffer> {
  const content = await readAtMost(most, stream);
  if (content !== undefined) return content;
  throw failed('UNREADABLE_FILE', `Cannot read ${name}: larger than ${most / 1024 / 1024} MiB.`, [
    'Check the path',
  ]);
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Whoever made the link selected another file for the secrets. */
const linkFailure = (path: string, flag: PlaceFlag | undefined): ExpectedError =>
  failed('UNWRITABLE_FILE', `Cannot write ${path}: a symbolic link to another file.`, [
    `Remove the link, or use another path${flag === undefined ? '' : ` with ${flag}`}`,
  ]);

/** With missing parents, for the owner only. Node.js never returns from a recursive mkdir below /proc. */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, {mode: 0o700});
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeDirectory(dirname(path));
    await mkdir(path, {mode: 0o700});
  }
}

/** The files of this machine. */
export class NodeFiles implements Files {
  /**
   * Files that are being read. Pipes, such as `-f <(command)` of a shell, and standard input stay: they can be read only once, but checks
   * and work read the same file, also at the same time.
   */
  readonly #reads = new Map<string, Promise<Buffer>>();

  async read(path: string): Promise<Buffer> {
    const content = this.#reads.get(path) ?? this.#readFile(path);
    this.#reads.set(path, content);
    try {
      return await content;
    } catch (error) {
      throw fileFailure('read', path, error);
    }
  }

  async #readFile(path: string): Promise<Buffer> {
    let isStream = false;
    try {
      const file = await open(path);
      isStream = !(await file.stat()).isFile();
      return await readSmall(chunksOf(file), path).finally(() => file.close());
    } finally {
      if (!isStream) this.#reads.delete(path);
    }
  }

  readStdin(): Promise<Buffer> {
    const content =
      this.#reads.get('-') ?? readSmall(process.stdin, 'standard input', MAX_STDIN_BYTES);
    this.#reads.set('-', content);
    return content;
  }

  async kindOf(path: string, flag?: PlaceFlag): ReturnType<Files['kindOf']> {
    try {
      const found = await stat(path);
      if (found.isDirectory()) return 'directory';
      return found.isFile() ? 'file' : 'stream';
    } catch (error) {
      const {code} = error as NodeJS.ErrnoException;
      // Below a file, such as HOME=/dev/null, there is nothing.
      if (code === 'ENOTDIR') return 'nothing';
      if (code === 'ENOENT') return (await isLink(path)) ? 'broken-link' : 'nothing';
      throw fileFailure('write', path, error, flag);
    }
  }

  async write(
    path: string,
    text: string,
    {isPrivate, makesDirectory = false, flag}: FileOptions,
  ): Promise<void> {
    try {
      if (makesDirectory) await makeDirectory(dirname(path));
      // Renaming over /dev/stdout would replace the device.
      if ((await this.kindOf(path, flag)) === 'stream') await writeFile(path, text);
      else {
        if (isPrivate && (await isLink(path))) throw linkFailure(path, flag);
        const {default: writeFileAtomic} = await import('write-file-atomic');
        await writeFileAtomic(path, text, isPrivate ? {mode: 0o600} : {});
      }
    } catch (error) {
      throw fileFailure('write', path, error, flag);
    }
  }

  async list(path: string): Promise<string[]> {
    try {
      const entries = await readdir(path, {withFileTypes: true});
      return entries.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`);
    } catch {
      return [];
    }
  }

  async remove(path: string): Promise<void> {
    try {
      await rm(path, {force: true});
    } catch (error) {
      throw fileFailure('write', path, error);
    }
  }
}

const NAMES = {chart: 'Chart.yaml', values: 'values.yaml', schema: 'values.schema.json'} as const;

/** Reads charts from directories and from archives as `helm pull` makes them. */
export const nodeCharts = (files: Files): Charts => ({
  async read(source) {
    if (/^[a-z]+:\/\//i.test(source)) {
      throw noChart(source, 'is not a local file or directory', [
        `Download the chart, then use the .tgz file: ${commandLine({tool: 'helm', args: ['pull', source]})}`,
      ]);
    }
    const texts =
      (await files.kindOf(source)) === 'directory'
        ? await inDirectory(source, files)
        : await inArchive(await files.read(source), source);
    const {chart, values, schema, templates} = texts;
    if (chart === undefined || values === undefined) {
      throw noChart(
        source,
        `does not contain ${chart === undefined ? NAMES.chart : NAMES.values}`,
        ['Use a chart directory, or a .tgz file from helm pull'],
      );
    }
    return {chart, values, templates, ...(schema === undefined ? {} : {schema})};
  },
  async download(pull) {
    const directory = temporaryDirectory();
    process.once('exit', () => rmSync(directory, {recursive: true, force: true}));
    await pull(directory);
    return join(
      directory,
      (await files.list(directory)).find((name) => name.endsWith('.tgz')) ?? '',
    );
  },
});

/** @throws ExpectedError, for example on a read-only disk */
function temporaryDirectory(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'scalr-agent-chart-'));
  } catch (error) {
    const failure = fileFailure('write', tmpdir(), error);
    if (!(failure instanceof ExpectedError)) throw failure;
    throw failure.with(`${failure.message} The chart is downloaded to this directory.`, [
      'Set TMPDIR to a directory that you can write to',
    ]);
  }
}

interface Texts {
  chart?: string;
  values?: string;
  schema?: string;
  templates: string;
}

async function inDirectory(source: string, files: Files): Promise<Texts> {
  const found: Texts = {templates: ''};
  const pathOf = (name: string): string => `${source.replace(/\/+$/, '')}/${name}`;
  const textOf = async (name: string): Promise<string> =>
    (await files.read(pathOf(name))).toString('utf8');
  for (const [key, name] of Object.entries(NAMES) as [keyof typeof NAMES, string][])
    if ((await files.kindOf(pathOf(name))) === 'file') found[key] = await textOf(name);
  for (const name of await files.list(pathOf('templates')))
    if (isTemplate(name)) found.templates += await textOf(`templates/${name}`);
  return found;
}

async function inArchive(content: Buffer, source: string): Promise<Texts> {
  try {
    const {gunzipSync} = await import('node:zlib');
    const {parseTar} = await import('nanotar');
    const entries = parseTar(gunzipSync(content));
    const textOf = (name: string): string | undefined =>
      entries.find((each) => each.name.split('/').slice(1).join('/') === name)?.text;
    const templates = entries
      .flatMap(({name, text}) =>
        /^[^/]+\/templates\//.test(name) && isTemplate(name) ? [text] : [],
      )
      .join('');
    return {
      ...Object.fromEntries(Object.entries(NAMES).map(([key, name]) => [key, textOf(name)])),
      templates,
    };
  } catch (error) {
    throw noChart(
      source,
      'is not a chart archive',
      ['Use a chart directory, or a .tgz file from helm pull'],
      error,
    );
  }
}

const isTemplate = (name: string): boolean => /\.(ya?ml|tpl|txt)$/.test(name);

const noChart = (
  source: string,
  why: string,
  suggestions: string[],
  cause?: unknown,
): ExpectedError => failed('INVALID_CHART_SOURCE', `${source} ${why}.`, suggestions, {cause});

/** The empty page of the package in this directory. @throws Error if it is missing */
export async function readPageTemplate(root: string): Promise<string> {
  const {brotliDecompressSync} = await import('node:zlib');
  return brotliDecompressSync(readFileSync(join(root, 'dist/report.html.br'))).toString('utf8');
}
