import {ExitCode, ExpectedError} from '../errors.ts';
import {bytes, milliOf} from '../settings/quantity.ts';
import type {Since} from '../support-bundle/collect/log-items.ts';

const AS_TIME = 'Write it like 2026-11-21T08:00:00Z';

/** From when on logs are read: a time, or so many seconds ago. @throws ExpectedError */
export function since(time: string | undefined, seconds: number): Since {
  if (time === undefined) return {seconds};
  const [date] = /^\d{4}-\d\d-\d\d(?=T\d\d:\d\d)/.exec(time) ?? [];
  if (date !== undefined && !isDay(date)) throw wrong(`--since-time ${time}: there is no day ${date}.`, AS_TIME);
  if (date !== undefined && !Number.isNaN(Date.parse(time))) return {time: new Date(time).toISOString()};
  throw wrong(`--since-time ${time} is no time.`, AS_TIME);
}

/** JavaScript takes the 30th of February for the 2nd of March. */
function isDay(date: string): boolean {
  const time = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}

/** Bytes of a Kubernetes quantity. @throws ExpectedError */
export function byteCount(flag: string, text: string): number {
  try {
    return Number(milliOf(bytes().parse(text, {now: new Date()})) ?? 0n) / 1000;
  } catch (error) {
    throw wrong(`${flag} ${text}: ${(error as Error).message}.`, 'Write it like 100Mi');
  }
}

const wrong = (message: string, suggestion: string): ExpectedError =>
  new ExpectedError(message, {code: 'INVALID_SETTING', exit: ExitCode.usage, suggestions: [suggestion]});
