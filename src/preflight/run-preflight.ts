import {ExitCode, ExpectedError} from '../errors.ts';
import type {WantedRelease} from '../plan/wanted-release.ts';
import type {Generated} from '../values/generate.ts';
import {type Checked, runChecks} from './check.ts';
import {CHECKS} from './checks/index.ts';
import {type Already, readSituation} from './read-situation.ts';

const LONGEST_MS = 30_000;

type PreflightDeps = Omit<Parameters<typeof readSituation>[2], 'over'> & {timeoutMs: number};

/** Runs every check before an install begins; a failed one stops it. Returns the warnings. @throws ExpectedError */
export async function runPreflight(
  generated: Generated,
  wanted: Omit<WantedRelease, 'manifest'>,
  {timeoutMs, ...deps}: PreflightDeps,
  already: Already = {},
): Promise<Checked[]> {
  const over = AbortSignal.timeout(Math.min(timeoutMs, LONGEST_MS));
  const checks = runChecks(CHECKS, await readSituation(generated, wanted, {...deps, over}, already));
  refuseFailed(checks);
  return checks.filter(({status}) => status === 'warn');
}

/** @throws ExpectedError when a check failed */
export function refuseFailed(checks: readonly Checked[]): void {
  const failed = checks.filter(({status}) => status === 'fail');
  if (failed.length === 0) return;
  const lines = failed.map(({title, message}) => `× ${title}: ${message}`);
  throw new ExpectedError(['The cluster is not ready for this install. Nothing was changed.', ...lines].join('\n'), {
    code: 'PREFLIGHT_FAILED',
    exit: ExitCode.findings,
    suggestions: [
      ...failed.flatMap(({remedy}) => remedy ?? []),
      'See everything that was looked at: scalr-agent preflight, with the same settings',
      'If you know better: --skip-preflight',
    ],
  });
}
