import {type ChildProcess, spawn} from 'node:child_process';

/** Standard output of a tool that succeeds in time, otherwise undefined. The tool has no access to the terminal. */
export function execWithTimeout(command: string, args: readonly string[], milliseconds: number): Promise<string | undefined> {
  const hasGroups = process.platform !== 'win32';
  return new Promise((resolve) => {
    // Otherwise a credential plugin could prompt for a password on the terminal.
    const child = spawn(command, [...args], {stdio: ['ignore', 'pipe', 'ignore'], detached: hasGroups, windowsHide: true});
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    const giveUp = setTimeout(() => {
      end(child, hasGroups);
      resolve(undefined);
    }, milliseconds);
    child.once('error', () => {
      clearTimeout(giveUp);
      resolve(undefined);
    });
    child.once('close', (code) => {
      clearTimeout(giveUp);
      resolve(code === 0 ? Buffer.concat(chunks).toString('utf8') : undefined);
    });
  });
}

/** Kills the process group. Processes that left the group are not waited for. */
function end(child: ChildProcess, hasGroups: boolean): void {
  try {
    if (hasGroups && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    else child.kill();
  } catch {
    // The process has just exited.
  }
  child.stdout?.destroy();
  child.unref();
}
