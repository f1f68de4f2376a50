import {type ChildProcess, spawn} from 'node:child_process';

/** Standard output of a tool that ends well in time, undefined otherwise. It never hears from a terminal nor speaks to one. */
export function quickAnswer(command: string, args: readonly string[], milliseconds: number): Promise<string | undefined> {
  const hasGroups = process.platform !== 'win32';
  return new Promise((resolve) => {
    // A login plugin would otherwise ask for its password on the terminal where somebody is typing.
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

/** With all it started; who has left its group holds the pipe and is not waited for. */
function end(child: ChildProcess, hasGroups: boolean): void {
  try {
    if (hasGroups && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    else child.kill();
  } catch {
    // It has just ended.
  }
  child.stdout?.destroy();
  child.unref();
}
