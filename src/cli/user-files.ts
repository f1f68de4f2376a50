import {dirname, join, resolve} from 'node:path';
import {answersText} from '../answers/answers-file.ts';
import type {EarlierExport} from '../extensions/machine/agent.ts';
import {ENV_FILE} from '../extensions/machine/files.ts';
import {ExitCode, ExpectedError, failed} from '../ground/errors.ts';
import {Secret} from '../ground/secret.ts';
import type {Files, PlaceFlag} from '../ground/system/system.ts';
import type {Settings} from '../settings/settings.ts';
import type {Rewrite} from '../values/validate/apply-fixes.ts';

/** Asks a yes/no question; absent if prompts are disabled. */
type Confirm = ((question: string) => Promise<boolean>) | undefined;

/** Limit of open files. */
const OPEN_FILES = 16;

/** Reads every file; reads standard input (-) only once. @throws ExpectedError that lists every unreadable file */
export async function readTexts(
  names: readonly string[],
  files: Pick<Files, 'read' | 'readStdin'>,
): Promise<{file: string; text: string}[]> {
  const once = [...new Set(names)];
  const read = new Map<string, string | ExpectedError>();
  const readOne = async (name: string): Promise<void> => {
    try {
      read.set(
        name,
        (name === '-' ? await files.readStdin() : await files.read(name)).toString('utf8'),
      );
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      read.set(name, error);
    }
  };
  for (let start = 0; start < once.length; start += OPEN_FILES)
    await Promise.all(once.slice(start, start + OPEN_FILES).map(readOne));
  const failures = once
    .map((name) => read.get(name))
    .filter((each) => each instanceof ExpectedError);
  const [first, ...others] = failures;
  if (first && others.length === 0) throw first;
  if (first) {
    throw new ExpectedError(failures.map(({message}) => message).join('\n'), {
      ...first,
      suggestions: [...new Set(failures.flatMap(({suggestions}) => suggestions))],
    });
  }
  return names.map((file) => ({file, text: read.get(file) as string}));
}

/** A file to write. */
interface NewFile {
  path: string;
  text: string;
  /** Readable only by its owner. */
  isPrivate: boolean;
  /** The flag that names the file, if it is not the one of the others. */
  flag?: PlaceFlag;
}

interface FoundFile extends NewFile {
  /** The file of this name has the same text, or another one. */
  found?: 'same' | 'other';
}

interface ConfirmOptions {
  isDryRun: boolean;
  /** Confirmed in advance (--yes). */
  isAccepted: boolean;
  confirm?: Confirm;
}

/** What a flag names: a file, a directory for files that are asked about one by one, or one for files that belong together. */
const RESULT = {flag: '--out', names: 'name'} as const;
const SAVED = {flag: '--save', names: 'directory'} as const;
const EXPORT = {flag: '--out', names: 'directory'} as const;

/** Finds the files that exist, and asks before they are replaced; nothing is asked in a dry run. @throws ExpectedError */
async function confirmAll(
  given: readonly NewFile[],
  files: Files,
  place: typeof RESULT | typeof SAVED | typeof EXPORT,
  {isDryRun, isAccepted, confirm}: ConfirmOptions,
): Promise<FoundFile[]> {
  const {names} = place;
  const areTogether = place === EXPORT;
  const find = async (file: NewFile): Promise<FoundFile> => {
    const {flag = place.flag} = file;
    const other = `another ${names} with ${flag}`;
    const kind = await files.kindOf(file.path, flag);
    if (kind === 'directory') {
      const remedy =
        place === RESULT
          ? `Set a file name: ${flag} ${file.path.replace(/\/$/, '')}/values.yaml`
          : `Use ${other}`;
      throw refusal(`${file.path} is a directory.`, remedy);
    }
    if (kind === 'broken-link')
      throw refusal(
        `${file.path} is a broken symbolic link.`,
        areTogether ? `Use ${other}` : `Remove the link, or use ${other}`,
      );
    if (kind !== 'file') return file;
    return {
      ...file,
      found: (await files.read(file.path)).toString('utf8') === file.text ? 'same' : 'other',
    };
  };
  const all = await Promise.all(given.map(find));
  if (isDryRun) return all;
  const taken = isAccepted ? [] : all.filter(({found}) => found === 'other');
  for (const together of areTogether && taken.length > 0 ? [taken] : taken.map((each) => [each])) {
    const paths = together.map(({path}) => path);
    const {flag = place.flag} = together[0] as FoundFile;
    const other = `another ${names} with ${flag}`;
    const [exists, them] = paths.length === 1 ? ['exists', 'it'] : ['exist', 'them'];
    const refused = (message: string): ExpectedError =>
      new ExpectedError(message, {
        code: 'FILE_EXISTS',
        suggestions: [`Replace ${them} with --yes`, `Use ${other}`],
        options: [
          {add: '--yes', when: `Replace ${them}`},
          {add: `${flag} ${names === 'name' ? 'FILE' : 'DIRECTORY'}`, when: 'Write somewhere else'},
        ],
      });
    const named = `${paths.join(', ')} already ${exists}.`;
    if (!confirm) throw refused(areTogether ? `${named} Nothing was written.` : named);
    if (await confirm(`${named} Replace ${them}?`)) continue;
    throw failed('CANCELED', 'Canceled. Nothing was changed.');
  }
  return all;
}

/** Writes files, and asks first where they replace others: all or none. @throws ExpectedError */
async function writeAll(
  given: readonly NewFile[],
  files: Files,
  place: typeof RESULT | typeof SAVED | typeof EXPORT,
  options: ConfirmOptions,
): Promise<FoundFile[]> {
  const all = await confirmAll(given, files, place, options);
  if (options.isDryRun) return all;
  const {names} = place;
  for (const {path, text, isPrivate, found, flag = place.flag} of all) {
    const makesDirectory = names === 'directory' && dirname(path) !== '.';
    if (found !== 'same' || isPrivate)
      await files.write(path, text, {isPrivate, makesDirectory, flag});
  }
  return all;
}

const refusal = (message: string, suggestion: string): ExpectedError =>
  failed('UNWRITABLE_FILE', message, [suggestion], {exit: ExitCode.usage});

const sizeOf = ({text, isPrivate}: NewFile): string =>
  `${Buffer.byteLength(text)} bytes${isPrivate ? ', readable only by its owner' : ''}`;

/** What was done with a file, as a sentence. */
function resultOf(file: FoundFile, isDryRun: boolean, done: string): string {
  if (file.found === 'same') return `${file.path} is up to date.`;
  return isDryRun
    ? `Would ${file.found ? 'replace' : 'write'} ${file.path} (${sizeOf(file)}).`
    : done;
}

const STANDARD_OUTPUT = ['-', '/dev/stdout', '/dev/fd/1'];

type ResultOptions = Omit<NewFile, 'path' | 'flag'> & ConfirmOptions & {path: string | undefined};

/** Whether the result goes to a file. @throws ExpectedError for an empty name */
function isFile(path: string): boolean {
  if (path === '') throw refusal('--out is empty.', 'Set a file name: --out values.yaml');
  return !STANDARD_OUTPUT.includes(path);
}

/** Checks the file of --out before its text exists, and asks before it is replaced. @throws ExpectedError */
export async function confirmResult(
  {path = '-', isPrivate, ...options}: Omit<ResultOptions, 'text'>,
  files: Files,
): Promise<void> {
  if (isFile(path)) await confirmAll([{path, text: '', isPrivate}], files, RESULT, options);
}

/** Writes a result to the file of --out, and says so; undefined for standard output. @throws ExpectedError */
export async function writeResult(
  result: ResultOptions,
  files: Files,
): Promise<{path: string; done: string} | undefined> {
  const {isWritten, done} = await writeWith([], result, files);
  return isWritten ? {path: result.path as string, done: done.join('')} : undefined;
}

/** Writes a result and the files that it refers to: all or none. Returns what was done with them as sentences. @throws ExpectedError */
export async function writeWith(
  beside: readonly NewFile[],
  {path = '-', text, isPrivate, ...options}: ResultOptions,
  files: Files,
): Promise<{isWritten: boolean; done: string[]}> {
  const isWritten = isFile(path);
  const all = await writeAll(
    [...beside, ...(isWritten ? [{path, text, isPrivate}] : [])],
    files,
    RESULT,
    options,
  );
  return {
    isWritten,
    done: all.map((each) => resultOf(each, options.isDryRun, `Wrote ${each.path}.`)),
  };
}

/** Writes files below a directory, after one confirmation if some of them exist. Returns the results as sentences. @throws ExpectedError */
export async function writeFiles(
  texts: readonly NewFile[],
  files: Files,
  {directory, ...options}: ConfirmOptions & {directory: string},
): Promise<string[]> {
  const all = texts.map((each) => ({...each, path: join(directory, each.path)}));
  const written = await writeAll(all, files, EXPORT, options);
  return written.map((each) =>
    resultOf(each, options.isDryRun, `Wrote ${each.path} (${sizeOf(each)}).`),
  );
}

/** A path as a shell reads it: ~ is the home directory, quotes and backslashes are removed. */
export function typedPath(
  text: string,
  {HOME: home}: Readonly<Record<string, string | undefined>>,
): string {
  const plain = /^(["'])(.*)\1$/.exec(text)?.[2] ?? text.replaceAll(/\\(?=[ '"\\~])/g, '');
  return home === undefined ? plain : plain.replace(/^~(?=\/|$)/, home);
}

/** Paths that start with the typed text. */
export async function completePath(
  text: string,
  files: Pick<Files, 'list'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const start = text.slice(0, text.lastIndexOf('/') + 1);
  const names = await files.list(typedPath(start, env) || '.');
  return names.map((name) => `${start}${name}`).filter((path) => path.startsWith(text));
}

interface SaveOptions {
  /** Nothing is saved without a directory. */
  directory: string | undefined;
  settings: Settings;
  /** Kubeconfig context of the settings, for a comment. */
  context?: string | undefined;
  /** Besides answers.yaml. */
  texts: readonly {path: string; text: string}[];
  isAccepted: boolean;
  confirm: Confirm;
}

/** Writes answers.yaml and the texts to a directory, readable only by their owner, all or none. Returns their paths. @throws ExpectedError */
export async function saveFiles(
  {directory, settings, context, texts, isAccepted, confirm}: SaveOptions,
  files: Files,
): Promise<string[]> {
  if (directory === undefined) return [];
  const answers = {path: 'answers.yaml', text: answersText(withAbsolutePaths(settings), context)};
  const all = [answers, ...texts].map(({path, text}) => ({
    path: join(directory, path),
    text,
    isPrivate: true,
  }));
  await writeAll(all, files, SAVED, {isDryRun: false, isAccepted, confirm});
  return all.map(({path}) => path);
}

/** The answers file may be used from any directory. */
export const withAbsolutePaths = (settings: Settings): Settings =>
  settings
    .entries()
    .reduce(
      (all, {setting, answer}) =>
        setting.kind.isFile && answer.given !== undefined && answer.given !== '-'
          ? all.with(setting, {...answer, given: resolve(answer.given)})
          : all,
      settings,
    );

/** Path of the diagnostics file of a failed release. */
export const diagnosticsPath = (
  directory: string | undefined,
  release: string,
  now: Date,
): string =>
  join(
    directory ?? '',
    `${release}-diagnostics-${now.toISOString().replace(/\.\d+|[:-]/g, '')}.json`,
  );

/** Rewrites existing files after one confirmation; `changes` is their number in all files. Returns the result as a sentence. @throws ExpectedError */
export async function rewriteFiles(
  rewrites: readonly Rewrite[],
  files: Files,
  {changes: number, isDryRun, isAccepted, confirm}: ConfirmOptions & {changes: number},
): Promise<{isWritten: boolean; text: string}> {
  const names = rewrites.map(({path}) => path).join(' and ');
  const changes = number === 1 ? 'this change' : `these ${number} changes`;
  if (isDryRun) return {isWritten: false, text: `Would write ${changes} to ${names}.`};
  if (!isAccepted) {
    if (!confirm)
      return {
        isWritten: false,
        text: `Nothing was changed. Add --yes to write ${changes} to ${names}.`,
      };
    if (!(await confirm(`Write ${changes} to ${names}?`)))
      return {isWritten: false, text: 'Nothing was changed.'};
  }
  for (const {path, before} of rewrites) {
    if ((await files.read(path)).toString('utf8') === before) continue;
    throw failed(
      'UNWRITABLE_FILE',
      `${path} was changed by another process. Nothing was written.`,
      ['Run the command again'],
    );
  }
  const written: string[] = [];
  for (const {path, after} of rewrites) {
    try {
      await files.write(path, after, {isPrivate: false});
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      const {message} = error;
      const suggestions = ['Check the permissions of the file and its directory'];
      const already = written.length > 0 ? ` Already written: ${written.join(', ')}.` : '';
      throw new ExpectedError(`${message}${already}`, {...error, suggestions, cause: error});
    }
    written.push(path);
  }
  return {isWritten: true, text: `Wrote ${names}.`};
}

/** What an earlier export into the same directory contains. */
export async function earlierExport(
  directory: string,
  files: Pick<Files, 'kindOf' | 'read'>,
): Promise<EarlierExport> {
  const textOf = async (name: string): Promise<string> => {
    const path = join(directory, name);
    return (await files.kindOf(path)) === 'file' ? (await files.read(path)).toString('utf8') : '';
  };
  const [environment, script, compose] = await Promise.all(
    [ENV_FILE, 'run.sh', 'compose.yaml'].map(textOf),
  );
  const token = /^SCALR_AGENT_TOKEN=([\w.-]+)$/m.exec(environment ?? '')?.[1];
  return {
    environment: environment ?? '',
    ...(token === undefined ? {} : {token: new Secret(token)}),
    ...(script || compose ? {commands: `${script}${compose}`} : {}),
  };
}
