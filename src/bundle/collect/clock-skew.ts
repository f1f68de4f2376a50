import type {Finding} from '../../diagnose/finding.ts';
import type {ApiResult} from '../../kubernetes/client.ts';
import type {Since} from './log-items.ts';

/** Smaller differences are caused by response times and whole seconds in HTTP dates. */
const MIN_SKEW_MS = 60_000;

/** How far the clock of the server is ahead; zero if it is unknown or small. */
export function skewOf(answer: ApiResult, now: Date): number {
  if (answer.error || answer.date === undefined) return 0;
  const skew = answer.date.getTime() - now.getTime();
  return Math.abs(skew) < MIN_SKEW_MS ? 0 : skew;
}

/** Findings about clock skew, and about a start time in the future. Pure. */
export function skewFindings(skewMs: number, since: Since, now: Date): Finding[] {
  const theirs = new Date(now.getTime() + skewMs);
  const found: Finding[] = [];
  if (skewMs !== 0)
    found.push({
      severity: 'warning',
      code: 'CLOCK_SKEW',
      object: 'clock of this machine',
      message: `${spanText(Math.abs(skewMs))} ${skewMs > 0 ? 'behind' : 'ahead of'} the clock of the cluster. All times in this bundle are cluster time, except its creation time`,
      remedy: 'Set the clock, for example with timedatectl set-ntp true. --since-time is compared with cluster time, like logs and events',
    });
  if (since !== undefined && 'time' in since && Date.parse(since.time) > theirs.getTime())
    found.push({
      severity: 'error',
      code: 'SINCE_IN_FUTURE',
      object: '--since-time',
      message: `${since.time} is later than the current time of the cluster (${theirs.toISOString()}), so no log matches`,
      remedy: 'Collect again with --since, which is relative to the clock of the cluster',
    });
  return found;
}

function spanText(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
