import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {createInterface} from 'node:readline';

export interface Guard {
  /** Starts a program in the background; what it prints goes to `<name>.log` in the directory. */
  run(name: string, program: string, flags: readonly string[]): void;
  /** Rejects when a program ends by itself, with the end of what it printed. */
  failure: Promise<never>;
  /** Ends all programs and removes the directory. */
  stop(): Promise<void>;
}

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** A shell that keeps programs running for exactly as long as this process lives and wants it. */
export function startGuard(directory: string): Guard {
  // Detached: Ctrl-C in a terminal goes to the whole group, and the guard has to outlive this process to clean up.
  const shell = spawn('sh', [join(import.meta.dirname, 'guard.sh'), directory], {detached: true, stdio: ['pipe', 'pipe', 'ignore']});
  const closed = once(shell, 'close');
  let stopping = false;
  const failure = new Promise<never>((_resolve, reject) => {
    shell.once('error', reject);
    createInterface({input: shell.stdout}).on('line', (line) => {
      if (stopping) return;
      const log = />'(.*)' 2>&1$/.exec(line)?.[1] ?? '';
      readFile(log, 'utf8').then((text) => reject(new Error(`${line}\n${text.slice(-2000)}`)), reject);
    });
  });
  // Whoever waits for the cluster sees it; later on nobody does, and then the tests fail by themselves.
  failure.catch(() => undefined);
  return {
    run(name, program, flags) {
      shell.stdin.write(`${[program, ...flags].map(quote).join(' ')} >${quote(join(directory, `${name}.log`))} 2>&1\n`);
    },
    failure,
    async stop() {
      stopping = true;
      shell.stdin.end();
      await closed;
    },
  };
}
