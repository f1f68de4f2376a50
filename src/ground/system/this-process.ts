import {existsSync, readFileSync, statSync} from 'node:fs';
import module from 'node:module';
import {homedir} from 'node:os';
import {join} from 'node:path';
import type {Interrupts} from './system.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

let taken = 0;

/** Handles signals while no one has taken them, from the start of the process. */
export function onUnhandledInterrupt(handle: (signal: NodeJS.Signals) => void): void {
  for (const signal of SIGNALS) process.on(signal, () => taken === 0 && handle(signal));
}

/** Handles the signals of this process until they are released. */
export function handleInterrupts(): Interrupts {
  const interrupt = new AbortController();
  const forceQuit = new AbortController();
  const onSignal = (name: NodeJS.Signals): void =>
    (interrupt.signal.aborted ? forceQuit : interrupt).abort(name);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  taken += 1;
  return {
    interrupt: interrupt.signal,
    forceQuit: forceQuit.signal,
    release() {
      taken -= 1;
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

/** Text of a file in the package. @throws Error if it is missing */
export const readPackageText = (path: string): string => readFileSync(path, 'utf8');

/** JSON file in the package. @throws Error if it is missing */
export const readPackageJson = (path: string): unknown => JSON.parse(readPackageText(path));

/** Linux on Windows, or something similar. */
export function mayBeWsl(): boolean {
  if (process.platform !== 'linux') return false;
  if (existsSync('/proc/sys/fs/binfmt_misc/WSLInterop') || existsSync('/run/WSL')) return true;
  try {
    return /microsoft/i.test(readFileSync('/proc/version', 'utf8'));
  } catch {
    return true;
  }
}

/**
 * Compiled code for the next start. Not in the temporary directory, which is the default of Node.js: what another user of the machine has
 * put there would be executed.
 */
export function cacheCompiledCode(): void {
  const home = process.env['XDG_CACHE_HOME'] || homedir();
  if (!isOwn(home)) return;
  const parent = process.env['XDG_CACHE_HOME'] ? home : join(home, '.cache');
  // Available since Node.js 22.1.
  const {enableCompileCache} = module as {enableCompileCache?: (directory: string) => void};
  enableCompileCache?.(join(parent, 'scalr-agent-install', 'compiled'));
}

/** With sudo, the home can be of another user. */
function isOwn(directory: string): boolean {
  const {uid} = statSync(directory, {throwIfNoEntry: false}) ?? {};
  return uid !== undefined && (process.getuid === undefined || uid === process.getuid());
}
