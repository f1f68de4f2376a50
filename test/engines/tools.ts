import {createHash} from 'node:crypto';
import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, readFile, rename, rm} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import type {TestContext} from 'vitest';

const MODULE = join(import.meta.dirname, 'tools');

/** Programs of the Go module in this folder. */
const PROGRAMS = {
  registry: 'github.com/distribution/distribution/v3/cmd/registry',
  crane: 'github.com/google/go-containerregistry/cmd/crane',
} as const;

/** Path of a tool that Debian packages; the test is skipped, and says why, if it is not installed. */
export async function installed(tool: string, debianPackage: string, {skip}: Pick<TestContext, 'skip'>): Promise<string> {
  const {stdout, exitCode} = await execa('sh', ['-c', 'command -v "$0"', tool], {reject: false});
  if (exitCode !== 0) skip(`${tool} is not installed: apt-get install ${debianPackage}`);
  return stdout;
}

/** Builds a program once per machine and version; skips the test without Go. */
export async function builtTool(name: keyof typeof PROGRAMS, context: Pick<TestContext, 'skip'>): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(MODULE, 'go.sum')));
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'scalr-agent-install');
  const folder = join(cache, `engines-${hash.digest('hex').slice(0, 16)}`);
  const path = join(folder, name);
  if (existsSync(path)) return path;
  await installed('go', 'golang (1.26 or newer)', context);
  await mkdir(folder, {recursive: true});
  // Build beside the target and rename, because two test runs may build at the same time.
  const work = await mkdtemp(join(folder, 'work-'));
  try {
    await execa('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', join(work, name), PROGRAMS[name]], {
      cwd: MODULE,
      env: {CGO_ENABLED: '0'},
    });
    await rename(join(work, name), path);
  } finally {
    await rm(work, {recursive: true, force: true});
  }
  return path;
}
