import {basename, dirname, join} from 'node:path';
import {ExitCode, ExpectedError} from '../../ground/errors.ts';
import type {Files} from '../../ports/files.ts';
import type {MigratedFile} from '../../values/migrate/migrate-file.ts';
import {certificateFilesOf, environmentFilesOf, sourcesOf} from './host-tree.ts';
import {migrateHost} from './migrate-host.ts';
import type {HostConfiguration} from './read-host.ts';
/** Migrates the configuration of an agent with the files that it names: by an absolute path, or beside it. @throws ExpectedError */
export async function migrateHostFile(
  host: HostConfiguration,
  {file, from, to}: {file: string; from?: string | undefined; to?: string | undefined},
  files: Pick<Files, 'kindOf' | 'read'>,
): Promise<MigratedFile> {
  if (from !== undefined) {
    throw new ExpectedError(
      `--from is only for values files. ${file === '-' ? 'Standard input' : file} is an agent configuration (${host.source}).`,
      {
        code: 'USAGE',
        exit: ExitCode.usage,
        suggestions: ['Omit --from'],
      },
    );
  }
  const found = new Map<string, string>();
  const directory = dirname(file);
  const load = async (path: string): Promise<void> => {
    const candidates = [
      ...sourcesOf(host, path).flatMap((each) => [each, join(directory, each)]),
      join(directory, basename(path)),
      join(directory, '..', basename(path)),
    ];
    for (const each of candidates)
      if (!found.has(path) && (await files.kindOf(each)) === 'file') found.set(path, (await files.read(each)).toString('utf8'));
  };
  const read = (path: string): string | undefined => found.get(path);
  for (const path of environmentFilesOf(host)) await load(path);
  // Certificates can be named in those files.
  for (const path of certificateFilesOf(host, read)) await load(path);
  return migrateHost(host, to, read);
}
