import {join} from 'node:path';
import {answersText} from '../answers/answers-file.ts';
import {type ErrorCode, ExitCode, ExpectedError} from '../errors.ts';
import type {Files, PlaceFlag} from '../ports/files.ts';
import type {Settings} from '../settings/settings.ts';
import type {Rewrite} from '../values/validate/apply-fixes.ts';

/** Asks a yes/no question; absent where nobody can answer. */
type Confirm = ((question: string) => Promise<boolean>) | undefined;

/** A process may have only so many files open. */
const OPEN_FILES = 16;

/** Reads every file, - once from standard input. @throws ExpectedError that names every unreadable file */
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
  /** Only its owner may read it. */
  isPrivate: boolean;
  isDryRun: boolean;
  /** The operator accepted every question beforehand. */
  isAccepted: boolean;
  /** The flag that named the path: a file, or its directory. */
  flag: PlaceFlag;
}

/** Writes a file; an existing one is replaced only after a yes. Returns what happened, as a sentence. @throws ExpectedError */
export async function writeValuesFile(
  {path, text, isPrivate, isDryRun, isAccepted, flag}: WriteOptions,
  files: Files,
  confirm?: Confirm,
): Promise<string> {
  if (path === '') throw refusal('--out names no file.', 'Name a file: --out values.yaml', 'UNWRITABLE_FILE');
  const alternative = flag === '--out' ? 'choose another name with --out' : 'choose another directory with --save';
  const kind = await files.kindOf(path, flag);
  if (kind === 'directory')
    throw refusal(
      `${path} is a directory.`,
      flag === '--out' ? `Name a file: --out ${path.replace(/\/$/, '')}/values.yaml` : 'Choose another directory with --save',
      'UNWRITABLE_FILE',
    );
  if (kind === 'broken-link') throw refusal(`${path} is a link to nothing.`, `Remove the link, or ${alternative}`, 'UNWRITABLE_FILE');
  if (kind === 'file' && (await files.read(path)).toString('utf8') === text) {
    if (isPrivate && !isDryRun) await files.write(path, text, {isPrivate, flag});
    return `${path} is up to date.`;
  }
  const size = `${Buffer.byteLength(text)} bytes${isPrivate ? ', readable by its owner only' : ''}`;
  if (isDryRun) return `Would ${kind === 'file' ? 'replace' : 'write'} ${path} (${size}).`;
  if (kind === 'file' && !isAccepted) {
    if (!confirm) throw refusal(`${path} exists.`, `Replace it with --yes, or ${alternative}`, 'FILE_EXISTS');
    if (!(await confirm(`${path} exists. Replace it?`))) {
      throw new ExpectedError('Cancelled. Nothing was changed.', {code: 'CANCELLED', exit: ExitCode.failed});
    }
  }
  // A directory that is named to save in need not exist.
  await files.write(path, text, {isPrivate, makesDirectory: flag === '--save', flag});
  return `Wrote ${path}.`;
}

const refusal = (message: string, suggestion: string, code: ErrorCode): ExpectedError =>
  new ExpectedError(message, {code, exit: ExitCode.usage, suggestions: [suggestion]});

interface SaveOptions {
  /** Without a directory nothing is saved. */
  directory: string | undefined;
  settings: Settings;
  values: string;
  isAccepted: boolean;
  confirm: Confirm;
}

/** Writes answers.yaml and values.yaml into a directory, readable by their owner only. Returns their paths. @throws ExpectedError */
export async function saveFiles({directory, settings, values, isAccepted, confirm}: SaveOptions, files: Files): Promise<string[]> {
  if (directory === undefined) return [];
  const texts = {'answers.yaml': answersText(settings), 'values.yaml': values};
  const paths: string[] = [];
  for (const [name, text] of Object.entries(texts)) {
    const path = join(directory, name);
    await writeValuesFile({path, text, isPrivate: true, isDryRun: false, isAccepted, flag: '--save'}, files, confirm);
    paths.push(path);
  }
  return paths;
}

/** The file that keeps the evidence of a failed release. */
export const evidencePath = (directory: string | undefined, release: string, now: Date): string =>
  join(directory ?? '', `${release}-evidence-${now.toISOString().replace(/\.\d+|[:-]/g, '')}.json`);

interface RewriteOptions {
  isDryRun: boolean;
  /** The operator accepted every question beforehand. */
  isAccepted: boolean;
  confirm?: Confirm;
}

/** Rewrites existing files after one yes for all of them. Returns what happened, as a sentence. @throws ExpectedError */
export async function rewriteFiles(
  rewrites: readonly Rewrite[],
  files: Files,
  {isDryRun, isAccepted, confirm}: RewriteOptions,
): Promise<{isWritten: boolean; text: string}> {
  const names = rewrites.map(({path}) => path).join(' and ');
  const number = rewrites.reduce((sum, {changes}) => sum + changes, 0);
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

/** A file saved by someone else during the question would lose its changes. */
async function refuseChanged(rewrites: readonly Rewrite[], files: Files): Promise<void> {
  for (const {path, before} of rewrites) {
    if ((await files.read(path)).toString('utf8') === before) continue;
    throw new ExpectedError(`${path} was changed by somebody else meanwhile. Nothing was written.`, {
      code: 'UNWRITABLE_FILE',
      exit: ExitCode.failed,
      suggestions: ['Run it again'],
    });
  }
}

const notWritten = (cause: ExpectedError, written: readonly string[]): ExpectedError =>
  new ExpectedError(`${cause.message}${written.length > 0 ? ` Written before: ${written.join(', ')}.` : ''}`, {
    code: cause.code,
    exit: cause.exit,
    suggestions: ['Check the permissions of the file and its directory'],
    cause,
  });
