import {dirname, join} from 'node:path';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {Files} from '../ports/files.ts';
import {Secret} from '../settings/secret.ts';
import {ENV_FILE} from '../targets/host/files.ts';

interface NamedText {
  path: string;
  text: string;
  isPrivate: boolean;
}

interface WriteFilesOptions {
  directory: string;
  isDryRun: boolean;
  /** Confirmed in advance (--yes). */
  isAccepted: boolean;
  confirm?: ((question: string) => Promise<boolean>) | undefined;
}

/** Writes files below a directory, after one confirmation if some of them exist. Returns the results as sentences. @throws ExpectedError */
export async function writeFiles(
  texts: readonly NamedText[],
  files: Files,
  {directory, isDryRun, isAccepted, confirm}: WriteFilesOptions,
): Promise<string[]> {
  const planned = await Promise.all(
    texts.map(async (each) => {
      const path = join(directory, each.path);
      const kind = await files.kindOf(path, '--out');
      if (kind === 'directory' || kind === 'broken-link') {
        throw new ExpectedError(`${path} is ${kind === 'directory' ? 'a directory' : 'a broken symbolic link'}.`, {
          code: 'UNWRITABLE_FILE',
          exit: ExitCode.usage,
          suggestions: ['Use another directory with --out'],
        });
      }
      const isSame = kind === 'file' && (await files.read(path)).toString('utf8') === each.text;
      return {...each, path, exists: kind === 'file' && !isSame, isSame};
    }),
  );
  const existing = planned.filter(({exists}) => exists).map(({path}) => path);
  if (!isDryRun && !isAccepted && existing.length > 0) await confirmReplacement(existing, confirm);
  const done: string[] = [];
  for (const {path, text, isPrivate, exists, isSame} of planned) {
    const size = `${Buffer.byteLength(text)} bytes${isPrivate ? ', readable only by its owner' : ''}`;
    if (isDryRun) done.push(isSame ? `${path} is up to date.` : `Would ${exists ? 'replace' : 'write'} ${path} (${size}).`);
    else {
      if (!isSame || isPrivate) await files.write(path, text, {isPrivate, makesDirectory: dirname(path) !== '.', flag: '--out'});
      done.push(isSame ? `${path} is up to date.` : `Wrote ${path} (${size}).`);
    }
  }
  return done;
}

async function confirmReplacement(paths: readonly string[], confirm: WriteFilesOptions['confirm']): Promise<void> {
  const named = `${paths.join(', ')} already ${paths.length === 1 ? 'exists' : 'exist'}`;
  if (!confirm) {
    throw new ExpectedError(`${named}. Nothing was written.`, {
      code: 'FILE_EXISTS',
      exit: ExitCode.usage,
      suggestions: ['Replace with --yes, or use another directory with --out'],
    });
  }
  if (await confirm(`${named}. Replace ${paths.length === 1 ? 'it' : 'them'}?`)) return;
  throw new ExpectedError('Cancelled. Nothing was changed.', {code: 'CANCELLED', exit: ExitCode.failed});
}

/** The token of an earlier export into the same directory. */
export async function tokenIn(directory: string, files: Pick<Files, 'kindOf' | 'read'>): Promise<Secret | undefined> {
  const path = join(directory, ENV_FILE);
  if ((await files.kindOf(path)) !== 'file') return undefined;
  const found = /^SCALR_AGENT_TOKEN=([\w.-]+)$/m.exec((await files.read(path)).toString('utf8'))?.[1];
  return found === undefined ? undefined : new Secret(found);
}
