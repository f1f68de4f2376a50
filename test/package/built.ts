import {type SpawnSyncReturns, spawnSync} from 'node:child_process';
import {fileURLToPath} from 'node:url';

export type Bin = 'scalr-agent' | 'scalr-agent-install';

interface How {
  env?: Readonly<Record<string, string>>;
  /** Another Node.js than the one that tests. */
  node?: string;
  /** Arguments of Node.js itself. */
  flags?: readonly string[];
  cwd?: string;
}

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the built program in a pipe, in an environment without anything. */
export function runBuilt(
  bin: Bin,
  args: readonly string[],
  {env = {}, node = process.execPath, flags = [], cwd}: How = {},
): SpawnSyncReturns<string> {
  return spawnSync(node, [...flags, `${ROOT}dist/bin/${bin}.js`, ...args], {encoding: 'utf8', env, cwd, timeout: 30_000});
}
