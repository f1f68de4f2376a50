import {spawn} from 'node:child_process';

/** Waits for the end of standard input, which is a pipe from this program: it comes with the program's own, also when that was killed. */
const WATCHDOG = 'while read -r _; do :; done; rm -f -- "$@"';

/** What is at these paths goes when this program ends, however it ends, or when it is told to. Windows has no such shell. */
export function removeAtDeath(paths: readonly string[]): () => void {
  if (process.platform === 'win32') return () => undefined;
  // A session of its own: what ends the whole group of the program shall not end it.
  const child = spawn('/bin/sh', ['-c', WATCHDOG, 'sh', ...paths], {cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore']});
  // Without it everything but being killed is cleaned up all the same.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  (child.stdin as typeof child.stdin & {unref(): void}).unref();
  return () => void child.stdin.end();
}
