import {ExpectedError, failed} from '../ground/errors.ts';
import type {Files} from '../ground/system/system.ts';
import type {Rewrite} from '../values/validate/apply-fixes.ts';
import type {ConfirmOptions} from './write-files.ts';

interface RewriteResult {
  isWritten: boolean;
  /** As a sentence. */
  text: string;
}

/** Rewrites existing files after one confirmation; `changes` is their number in all files. @throws ExpectedError */
export async function rewriteFiles(
  rewrites: readonly Rewrite[],
  files: Files,
  {changes: number, isDryRun, isAccepted, prompter}: ConfirmOptions & {changes: number},
): Promise<RewriteResult> {
  const names = rewrites.map(({path}) => path).join(' and ');
  const changes = number === 1 ? 'this change' : `these ${number} changes`;
  const unwritten = (text: string): RewriteResult => ({isWritten: false, text});
  if (isDryRun) return unwritten(`Would write ${changes} to ${names}.`);
  if (!isAccepted && !prompter)
    return unwritten(`Nothing was changed. Add --yes to write ${changes} to ${names}.`);
  if (!isAccepted && !(await prompter?.confirm(`Write ${changes} to ${names}?`)))
    return unwritten('Nothing was changed.');
  await requireUnchanged(rewrites, files);
  await writeAll(rewrites, files);
  return {isWritten: true, text: `Wrote ${names}.`};
}

async function requireUnchanged(rewrites: readonly Rewrite[], files: Files): Promise<void> {
  for (const {path, before} of rewrites) {
    if ((await files.read(path)).toString('utf8') === before) continue;
    throw failed(
      'UNWRITABLE_FILE',
      `${path} was changed by another process. Nothing was written.`,
      ['Run the command again'],
    );
  }
}

async function writeAll(rewrites: readonly Rewrite[], files: Files): Promise<void> {
  const written: string[] = [];
  for (const {path, after} of rewrites) {
    try {
      await files.write(path, after, {isPrivate: false});
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      const suggestions = ['Check the permissions of the file and its directory'];
      const already = written.length > 0 ? ` Already written: ${written.join(', ')}.` : '';
      const message = `${error.message}${already}`;
      throw new ExpectedError(message, {...error, suggestions, cause: error});
    }
    written.push(path);
  }
}
