import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, rename, rm} from 'node:fs/promises';
import {homedir} from 'node:os';
import {dirname, join} from 'node:path';
import {execa} from 'execa';

const NODE = process.platform === 'win32' ? 'node.exe' : 'node';

/** The oldest supported version, and the newest of every later major. */
export const NODE_RELEASES = ['20.17.0', '22.23.3', '24.21.0'];

/** Path of `node` in an exact version from the npm package `node`, in its own directory; downloaded once per machine. */
export async function nodeRelease(version: string): Promise<string> {
  const cache = join(
    process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
    'scalr-agent-install',
  );
  const path = join(cache, `node-${version}`, NODE);
  if (existsSync(path)) return path;
  await mkdir(cache, {recursive: true});
  // Download beside the target and rename, because several test runs may download at the same time.
  const work = await mkdtemp(join(cache, 'download-'));
  try {
    await execa(
      'npm',
      ['install', `node@${version}`, '--no-save', '--no-audit', '--no-fund', '--loglevel=error'],
      {
        cwd: work,
        stdin: 'ignore',
      },
    );
    await rename(join(work, 'node_modules', 'node', 'bin'), dirname(path));
  } catch (error) {
    // Another test run has downloaded it.
    if (!existsSync(path))
      throw new Error(`Node.js ${version} could not be taken from the npm package node`, {
        cause: error,
      });
  } finally {
    await rm(work, {recursive: true, force: true});
  }
  return path;
}
