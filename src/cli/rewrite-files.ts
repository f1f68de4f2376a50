import {ExitCode, ExpectedError} from '../errors.ts';
import type {Files} from '../ports/files.ts';

export interface Text {
  file: string;
  text: string;
}

/** A process may have only so many files open. */
const AT_A_TIME = 16;

/** Reads every file, - once from standard input. @throws ExpectedError that names all that cannot be read */
export async function readTexts(names: readonly string[], files: Pick<Files, 'read' | 'readStdin'>): Promise<Text[]> {
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
  for (let start = 0; start < once.length; start += AT_A_TIME) await Promise.all(once.slice(start, start + AT_A_TIME).map(readOne));
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

/** A file that is there already, and what it should hold. */
export interface Rewrite {
  path: string;
  before: string;
  after: string;
  changes: number;
}

interface Wish {
  isDryRun: boolean;
  /** The operator said yes to whatever would be asked. */
  isAccepted: boolean;
  /** Absent where nobody can answer. */
  confirm?: ((question: string) => Promise<boolean>) | undefined;
}

/** Writes the files after one yes to all of them. Returns what happened, as a sentence. @throws ExpectedError */
export async function rewriteFiles(
  rewrites: readonly Rewrite[],
  files: Files,
  {isDryRun, isAccepted, confirm}: Wish,
): Promise<{isWritten: boolean; said: string}> {
  const names = rewrites.map(({path}) => path).join(' and ');
  const number = rewrites.reduce((sum, {changes}) => sum + changes, 0);
  const changes = number === 1 ? 'this change' : `these ${number} changes`;
  if (isDryRun) return {isWritten: false, said: `Would write ${changes} to ${names}.`};
  if (!isAccepted) {
    if (!confirm) return {isWritten: false, said: `Nothing was changed. Add --yes to write ${changes} to ${names}.`};
    if (!(await confirm(`Write ${changes} to ${names}?`))) return {isWritten: false, said: 'Nothing was changed.'};
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
  return {isWritten: true, said: `Wrote ${names}.`};
}

/** Whoever saved the file while the question stood would lose what they wrote. */
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
