import {join, resolve} from 'node:path';
import {answersText} from '../answers/answers-file.ts';
import {type ErrorCode, ExitCode, ExpectedError} from '../ground/errors.ts';
import type {Files, PlaceFlag} from '../ports/files.ts';
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
      read.set(name, (name === '-' ? await files.readStdin() : await files.read(name)).toString('utf8'));
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      read.set(name, error);
    }
  };
  for (let start = 0; start < once.length; start += OPEN_FILES) await Promise.all(once.slice(start, start + OPEN_FILES).map(readOne));
  const failures = once.map((name) => read.get(name)).filter((each) => each instanceof ExpectedError);
  const [first, ...others] = failures;
  if (first && others.length === 0) throw first;
  if (first) {
    throw new ExpectedError(failures.map(({message}) => message).join('\n'), {
      code: first.code,
      exit: first.exit,
      suggestions: [...new Set(failures.flatMap(({suggestions}) => suggestions))],
    });
  }
  return names.map((file) => ({file, text: read.get(file) as string}));
}

interface WriteOptions {
  path: string;
  text: string;
  /** Readable only by its owner. */
  isPrivate: boolean;
  isDryRun: boolean;
  /** Confirmed in advance (--yes). */
  isAccepted: boolean;
  /** Only asks and checks; nothing is written. */
  isAsked?: boolean;
  /** The flag with the path: a file, or its directory. */
  flag: PlaceFlag;
}

/** Writes a file; replaces an existing one only after confirmation. Returns the result as a sentence. @throws ExpectedError */
export async function writeValuesFile(
  {path, text, isPrivate, isDryRun, isAccepted, isAsked = false, flag}: WriteOptions,
  files: Files,
  confirm?: Confirm,
): Promise<string> {
  if (path === '') throw refusal('--out is empty.', 'Set a file name: --out values.yaml', 'UNWRITABLE_FILE');
  const alternative = flag === '--out' ? 'use another name with --out' : 'use another directory with --save';
  const kind = await files.kindOf(path, flag);
  if (kind === 'directory')
    throw refusal(
      `${path} is a directory.`,
      flag === '--out' ? `Set a file name: --out ${path.replace(/\/$/, '')}/values.yaml` : 'Use another directory with --save',
      'UNWRITABLE_FILE',
    );
  if (kind === 'broken-link') throw refusal(`${path} is a broken symbolic link.`, `Remove the link, or ${alternative}`, 'UNWRITABLE_FILE');
  if (kind === 'file' && (await files.read(path)).toString('utf8') === text) {
    if (isPrivate && !isDryRun && !isAsked) await files.write(path, text, {isPrivate, flag});
    return `${path} is up to date.`;
  }
  const size = `${Buffer.byteLength(text)} bytes${isPrivate ? ', readable only by its owner' : ''}`;
  if (isDryRun) return `Would ${kind === 'file' ? 'replace' : 'write'} ${path} (${size}).`;
  if (kind === 'file' && !isAccepted) {
    if (!confirm) throw refusal(`${path} already exists.`, `Replace it with --yes, or ${alternative}`, 'FILE_EXISTS');
    if (!(await confirm(`${path} already exists. Replace it?`))) {
      throw new ExpectedError('Cancelled. Nothing was changed.', {code: 'CANCELLED', exit: ExitCode.failed});
    }
  }
  if (isAsked) return `${path} can be written.`;
  // The directory of --save is created if missing.
  await files.write(path, text, {isPrivate, makesDirectory: flag === '--save', flag});
  return `Wrote ${path}.`;
}

const STANDARD_OUTPUT = ['-', '/dev/stdout', '/dev/fd/1'];

/** Writes a result to the file of --out; undefined for standard output. @throws ExpectedError */
export async function writeResult(
  {path = '-', ...options}: Omit<WriteOptions, 'path' | 'flag'> & {path: string | undefined},
  files: Files,
  confirm?: Confirm,
): Promise<{path: string; done: string} | undefined> {
  if (STANDARD_OUTPUT.includes(path)) return undefined;
  return {path, done: await writeValuesFile({...options, path, flag: '--out'}, files, confirm)};
}

const refusal = (message: string, suggestion: string, code: ErrorCode): ExpectedError =>
  new ExpectedError(message, {code, exit: ExitCode.usage, suggestions: [suggestion]});

/** A path as a shell reads it: ~ is the home directory, quotes and backslashes are removed. */
export function typedPath(text: string, {HOME: home}: Readonly<Record<string, string | undefined>>): string {
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
export async function saveFiles({directory, settings, context, texts, isAccepted, confirm}: SaveOptions, files: Files): Promise<string[]> {
  if (directory === undefined) return [];
  const all = [{path: 'answers.yaml', text: answersText(withAbsolutePaths(settings), context)}, ...texts];
  const writes = all.map(({path, text}) => ({path: join(directory, path), text}));
  const options = {isPrivate: true, flag: '--save'} as const;
  // All questions come before the first file.
  for (const each of writes) await writeValuesFile({...each, ...options, isDryRun: false, isAsked: true, isAccepted}, files, confirm);
  for (const each of writes) await writeValuesFile({...each, ...options, isDryRun: false, isAccepted: true}, files);
  return writes.map(({path}) => path);
}

/** The answers file may be used from any directory. */
const withAbsolutePaths = (settings: Settings): Settings =>
  settings
    .entries()
    .reduce(
      (all, {setting, answer}) =>
        setting.kind.isFile && answer.given !== undefined && answer.given !== '-'
          ? all.with(setting, {...answer, given: resolve(answer.given)})
          : all,
      settings,
    );

/** Path of the evidence file of a failed release. */
export const evidencePath = (directory: string | undefined, release: string, now: Date): string =>
  join(directory ?? '', `${release}-evidence-${now.toISOString().replace(/\.\d+|[:-]/g, '')}.json`);

interface RewriteOptions {
  /** The number of changes in all files. */
  changes: number;
  isDryRun: boolean;
  /** Confirmed in advance (--yes). */
  isAccepted: boolean;
  confirm?: Confirm;
}

/** Rewrites existing files after one confirmation. Returns the result as a sentence. @throws ExpectedError */
export async function rewriteFiles(
  rewrites: readonly Rewrite[],
  files: Files,
  {changes: number, isDryRun, isAccepted, confirm}: RewriteOptions,
): Promise<{isWritten: boolean; text: string}> {
  const names = rewrites.map(({path}) => path).join(' and ');
  const changes = number === 1 ? 'this change' : `these ${number} changes`;
  if (isDryRun) return {isWritten: false, text: `Would write ${changes} to ${names}.`};
  if (!isAccepted) {
    if (!confirm) return {isWritten: false, text: `Nothing was changed. Add --yes to write ${changes} to ${names}.`};
    if (!(await confirm(`Write ${changes} to ${names}?`))) return {isWritten: false, text: 'Nothing was changed.'};
  }
  await refuseChanged(rewrites, files);
  const written: string[] = [];
  for (const {path, after} of rewrites) {
    try {
      await files.write(path, after, {isPrivate: false});
    } catch (error) {
      throw error instanceof ExpectedError ? notWritten(error, written) : error;
    }
    written.push(path);
  }
  return {isWritten: true, text: `Wrote ${names}.`};
}

/** Detects changes that another process saved during the prompt. */
async function refuseChanged(rewrites: readonly Rewrite[], files: Files): Promise<void> {
  for (const {path, before} of rewrites) {
    if ((await files.read(path)).toString('utf8') === before) continue;
    throw new ExpectedError(`${path} was changed by another process. Nothing was written.`, {
      code: 'UNWRITABLE_FILE',
      exit: ExitCode.failed,
      suggestions: ['Run the command again'],
    });
  }
}

const notWritten = (cause: ExpectedError, written: readonly string[]): ExpectedError =>
  new ExpectedError(`${cause.message}${written.length > 0 ? ` Already written: ${written.join(', ')}.` : ''}`, {
    code: cause.code,
    exit: cause.exit,
    suggestions: ['Check the permissions of the file and its directory'],
    cause,
  });
