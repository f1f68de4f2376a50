import {ExitCode, ExpectedError} from '../errors.ts';
import type {Checked} from './check.ts';

/** An install that would fail does not begin. @throws ExpectedError */
export function refuseFailed(checks: readonly Checked[]): void {
  const failed = checks.filter(({status}) => status === 'fail');
  if (failed.length === 0) return;
  const lines = failed.map(({title, message}) => `× ${title}: ${message}`);
  throw new ExpectedError(`${['The cluster is not ready for this install. Nothing was changed.', ...lines].join('\n')}`, {
    code: 'PREFLIGHT_FAILED',
    exit: ExitCode.findings,
    suggestions: [
      ...failed.flatMap(({remedy}) => remedy ?? []),
      'See everything that was looked at: scalr-agent preflight, with the same settings',
      'If you know better: --skip-preflight',
    ],
  });
}
