import {randomInt} from 'node:crypto';

/** Every case: in the weekly run, and when a seed repeats a failure. */
export const isExhaustive = Boolean(process.env['TEST_FULL'] || process.env['PROPERTY_SEED']);

/** One case of so many; other ones in each run, but always the same ones in CI. All of them if `isExhaustive`. */
export function sample<T>(all: readonly T[], of: number): T[] {
  const first = process.env['CI'] ? 0 : randomInt(of);
  return all.filter((_, index) => isExhaustive || index % of === first);
}

/** So many random cases of a property; three times as many if `isExhaustive`, thirty times with `PROPERTY_RUNS=30`. */
export const numRuns = (cases: number): number =>
  cases * Number(process.env['PROPERTY_RUNS'] ?? (isExhaustive ? 3 : 1));
