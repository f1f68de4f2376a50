import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {createInterface} from 'node:readline';

export interface Guard {
  /** Starts a program in the background, with its output in `<name>.log` in the directory. */
  run(name: string, program: string, flags: readonly string[]): void;
  /** Rejects when a program exits unexpectedly, with the end of its output. */
  failure: Promise<never>;
  /** Stops all programs and deletes the directory. */
  stop(): Promise<void>;
}

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Starts a shell that stops its programs when this process exits. */
export function startGuard(directory: string): Guard {
  // Detached, because Ctrl-C is sent to the whole process group, and the guard must outlive this process to clean up.
  const shell = spawn('sh', [join(import.meta.dirname, 'guard.sh'), directory], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const closed = once(shell, 'close');
  let stopping = false;
  const failure = new Promise<never>((_resolve, reject) => {
    shell.once('error', reject);
    createInterface({input: shell.stdout}).on('line', (line) => {
      if (stopping) return;
      const log = />'(.*)' 2>&1$/.exec(line)?.[1] ?? '';
      readFile(log, 'utf8').then(
        (text) => reject(new Error(`${line}\n${text.slice(-2000)}`)),
        reject,
      );
    });
  });
  // Handled while the cluster starts; a later failure makes the tests fail anyway.
  failure.catch(() => undefined);
  return {
    run(name, program, flags) {
      shell.stdin.write(
        `${[program, ...flags].map(quote).join(' ')} >${quote(join(directory, `${name}.log`))} 2>&1\n`,
      );
    },
    failure,
    async stop() {
      stopping = true;
      shell.stdin.end();
      await closed;
    },
  };
}
