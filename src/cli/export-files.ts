import {dirname, join} from 'node:path';
import {ExitCode, ExpectedError} from '../ground/errors.ts';
import {Secret} from '../ground/secret.ts';
import type {EarlierExport} from '../host/agent.ts';
import {ENV_FILE} from '../host/files.ts';
import type {Files} from '../ports/files.ts';

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

/** What an earlier export into the same directory contains. */
export async function earlierExport(directory: string, files: Pick<Files, 'kindOf' | 'read'>): Promise<EarlierExport> {
  const textOf = async (name: string): Promise<string> => {
    const path = join(directory, name);
    return (await files.kindOf(path)) === 'file' ? (await files.read(path)).toString('utf8') : '';
  };
  const [environment, script, compose] = await Promise.all([ENV_FILE, 'run.sh', 'compose.yaml'].map(textOf));
  const token = /^SCALR_AGENT_TOKEN=([\w.-]+)$/m.exec(environment ?? '')?.[1];
  return {
    environment: environment ?? '',
    ...(token === undefined ? {} : {token: new Secret(token)}),
    ...(script || compose ? {commands: `${script}${compose}`} : {}),
  };
}
