import type {WantedRelease} from '../plan/install.ts';
import type {Generated} from '../values/generate.ts';
import type {Checked} from './check.ts';
import {CHECKS} from './checks/index.ts';
import {type Already, readSituation} from './read-situation.ts';
import {refuseFailed} from './refuse-failed.ts';
import {runChecks} from './run-checks.ts';

const LONGEST_MS = 30_000;

type World = Omit<Parameters<typeof readSituation>[2], 'over'> & {timeoutMs: number};

/** Before an install begins: what would make it fail stops it. Returns the warnings. @throws ExpectedError */
export async function lookAhead(
  generated: Generated,
  wanted: Omit<WantedRelease, 'manifest'>,
  {timeoutMs, ...world}: World,
  already: Already = {},
): Promise<Checked[]> {
  const over = AbortSignal.timeout(Math.min(timeoutMs, LONGEST_MS));
  const checks = runChecks(CHECKS, await readSituation(generated, wanted, {...world, over}, already));
  refuseFailed(checks);
  return checks.filter(({status}) => status === 'warn');
}
