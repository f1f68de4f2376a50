import type {Answer} from '../../kubernetes/client.ts';
import type {Since} from '../collect/log-items.ts';
import type {Finding} from './evidence.ts';

/** What answers take, and the seconds that dates of HTTP are counted in, are no difference. */
const CONSIDERABLE_MS = 60_000;

/** How far the clock of who answered is ahead of ours; none where it says nothing, or hardly any. */
export function skewOf(answer: Answer, now: Date): number {
  if (answer.trouble || answer.date === undefined) return 0;
  const skew = answer.date.getTime() - now.getTime();
  return Math.abs(skew) < CONSIDERABLE_MS ? 0 : skew;
}

/** What a reader has to know of two clocks, and of a time that only one of them has. Pure. */
export function skewFindings(skewMs: number, since: Since, now: Date): Finding[] {
  const theirs = new Date(now.getTime() + skewMs);
  const found: Finding[] = [];
  if (skewMs !== 0)
    found.push({
      severity: 'warning',
      code: 'CLOCK_SKEW',
      object: 'clock of this machine',
      message: `it is ${spanText(Math.abs(skewMs))} ${skewMs > 0 ? 'behind' : 'ahead of'} that of the cluster, by which everything in here counts but the time it was made`,
      remedy: 'Set it, as with timedatectl set-ntp true; a time for --since-time is one of the cluster, as logs and events have it',
    });
  if (since !== undefined && 'time' in since && Date.parse(since.time) > theirs.getTime())
    found.push({
      severity: 'error',
      code: 'SINCE_IN_FUTURE',
      object: '--since-time',
      message: `${since.time} is still to come in the cluster, where it is ${theirs.toISOString()}: no log is that young`,
      remedy: 'Collect again with --since, which counts back from the time of the cluster',
    });
  return found;
}

function spanText(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
