import {spawnSync} from 'node:child_process';
import {performance} from 'node:perf_hooks';

/** One line of a table. */
interface Result {
  part: string;
  name: string;
  value: number;
  unit: string;
  /** How many times as much as this. */
  ratio?: number;
  of?: string;
}

export const results: Result[] = [];

/** Milliseconds from start to end of a program that has to succeed. */
export function measure(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): number {
  const start = performance.now();
  const {status, stderr} = spawnSync(command, args, {encoding: 'utf8', env});
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr}`);
  return performance.now() - start;
}

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] as number;

/** Prints a result and keeps it. */
export function report(result: Result): void {
  results.push(result);
  const {name, value, unit, ratio, of} = result;
  const compared = ratio === undefined ? '' : `   ${ratio.toFixed(ratio < 1 ? 3 : 2)} × ${of}`;
  process.stdout.write(`${name.padEnd(34)} ${value.toFixed(0).padStart(6)} ${unit}${compared}\n`);
}

export const row = (
  part: string,
  name: string,
  milliseconds: number,
  reference: number,
  of: string,
): void =>
  report({part, name, value: milliseconds, unit: 'ms', ratio: milliseconds / reference, of});
