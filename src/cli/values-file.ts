import {type ErrorCode, ExitCode, ExpectedError} from '../errors.ts';
import type {Files, PlaceFlag} from '../ports/files.ts';

interface Wanted {
  path: string;
  text: string;
  /** Nobody else may read it. */
  isPrivate: boolean;
  isDryRun: boolean;
  /** The operator said yes to whatever would be asked. */
  isAccepted: boolean;
  /** It named the path: a file, or the directory of it. */
  flag: PlaceFlag;
}

/**
 * Writes values.yaml; what is there already is replaced only after a yes. `confirm` is absent where nobody can answer.
 * Returns what happened, as a sentence. @throws ExpectedError
 */
export async function writeValuesFile(
  {path, text, isPrivate, isDryRun, isAccepted, flag}: Wanted,
  files: Files,
  confirm?: (question: string) => Promise<boolean>,
): Promise<string> {
  if (path === '') throw refusal('--out names no file.', 'Name a file: --out values.yaml', 'UNWRITABLE_FILE');
  const elsewhere = flag === '--out' ? 'choose another name with --out' : 'choose another directory with --save';
  const kind = await files.kindOf(path, flag);
  if (kind === 'directory')
    throw refusal(
      `${path} is a directory.`,
      flag === '--out' ? `Name a file: --out ${path.replace(/\/$/, '')}/values.yaml` : 'Choose another directory with --save',
      'UNWRITABLE_FILE',
    );
  if (kind === 'broken-link') throw refusal(`${path} is a link to nothing.`, `Remove the link, or ${elsewhere}`, 'UNWRITABLE_FILE');
  if (kind === 'file' && (await files.read(path)).toString('utf8') === text) {
    if (isPrivate && !isDryRun) await files.write(path, text, {isPrivate, flag});
    return `${path} is up to date.`;
  }
  const size = `${Buffer.byteLength(text)} bytes${isPrivate ? ', readable by its owner only' : ''}`;
  if (isDryRun) return `Would ${kind === 'file' ? 'replace' : 'write'} ${path} (${size}).`;
  if (kind === 'file' && !isAccepted) {
    if (!confirm) throw refusal(`${path} exists.`, `Replace it with --yes, or ${elsewhere}`, 'FILE_EXISTS');
    if (!(await confirm(`${path} exists. Replace it?`))) {
      throw new ExpectedError('Cancelled. Nothing was changed.', {code: 'CANCELLED', exit: ExitCode.failed});
    }
  }
  await files.write(path, text, {isPrivate, flag});
  return `Wrote ${path}.`;
}

const refusal = (message: string, suggestion: string, code: ErrorCode): ExpectedError =>
  new ExpectedError(message, {code, exit: ExitCode.usage, suggestions: [suggestion]});
