import {type SpawnSyncReturns, spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

export type Bin = 'scalr-agent' | 'scalr-agent-install';

interface How {
  env?: Readonly<Record<string, string>>;
  /** Another Node.js than the one that tests. */
  node?: string;
  /** Arguments of Node.js itself. */
  flags?: readonly string[];
  cwd?: string;
  timeoutMs?: number;
}

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Absolute path of a file that the build writes. @throws Error when there is none yet */
export function built(path: string): string {
  if (!existsSync(ROOT + path)) throw new Error(`${path} is missing: run npm run build`);
  return ROOT + path;
}

export const PROGRAM = built('dist/bin/scalr-agent.js');
export const WIZARD = built('dist/bin/scalr-agent-install.js');

/** Runs the built program in a pipe, in an environment without anything. */
export function runBuilt(
  bin: Bin,
  args: readonly string[],
  {env = {}, node = process.execPath, flags = [], cwd, timeoutMs: timeout = 30_000}: How = {},
): SpawnSyncReturns<string> {
  return spawnSync(node, [...flags, bin === 'scalr-agent' ? PROGRAM : WIZARD, ...args], {
    encoding: 'utf8',
    env,
    cwd,
    timeout,
  });
}
