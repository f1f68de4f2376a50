import {spawnSync} from 'node:child_process';
import {performance} from 'node:perf_hooks';

export const PROGRAM = 'dist/bin/scalr-agent.js';

/** Milliseconds from start to end of a program that has to succeed. */
export function measure(command: string, args: readonly string[]): number {
  const start = performance.now();
  const {status, stderr} = spawnSync(command, args, {encoding: 'utf8'});
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr}`);
  return performance.now() - start;
}

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] as number;

export const row = (name: string, milliseconds: number, reference: number, what: string): void => {
  process.stdout.write(
    `${name.padEnd(26)} ${milliseconds.toFixed(0).padStart(6)} ms   ${(milliseconds / reference).toFixed(3)} × ${what}\n`,
  );
};
