import {type ExpectedError, failed, usageError} from '../ground/errors.ts';
import {InvalidValue} from '../settings/kinds/kind.ts';
import {seconds} from '../settings/kinds/numbers.ts';

/** @throws ExpectedError for another format than JSON */
export function refuseFormat(format: string | undefined, isJson: boolean): void {
  if (isJson && format !== undefined && format !== 'json')
    throw usageError(`--json cannot be used with --format ${format}.`, ['Omit one of these flags']);
}

/** An empty value, for example of an unset variable in a script. */
export const emptyFlag = (flag: string): ExpectedError =>
  failed('INVALID_SETTING', `--${flag} is empty.`, ['Set a value, or omit the flag']);

const DAY = 86_400;

/** Go duration in milliseconds, by default at most one day. @throws ExpectedError */
export function durationOf(flag: string, text: string, {max = DAY} = {}): number {
  try {
    return seconds({min: 1, max}).parse(text, {now: new Date()}) * 1000;
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw failed(
      'INVALID_SETTING',
      `${flag}: ${error.message}.`,
      error.suggestion === undefined ? [] : [error.suggestion],
    );
  }
}

/** Names of flags that were given, also as --no-…, and not only have a default. */
export const explicitFlags = (
  flags: Readonly<Record<string, unknown>>,
  metadata: {flags: Readonly<Record<string, {setFromDefault?: boolean} | undefined>>},
): Record<string, true> =>
  Object.fromEntries(
    Object.entries(flags)
      .filter(
        ([name, value]) => value !== undefined && metadata.flags[name]?.setFromDefault !== true,
      )
      .map(([name]) => [name, true]),
  );

/** Rejects flags that another flag makes useless. Not oclif's `exclusive`, because --help would list every pair. @throws ExpectedError */
export function refuseWith(
  flag: string,
  others: readonly string[],
  flags: Readonly<Record<string, unknown>>,
): void {
  const clash = others.filter((other) => flags[other] !== undefined && flags[other] !== false);
  if (clash.length === 0) return;
  throw failed(
    'USAGE',
    `--${flag} cannot be used with ${clash.map((other) => `--${other}`).join(', ')}.`,
    ['Omit one of these flags'],
  );
}

/** URLs of --probe-url. @throws ExpectedError */
export function probeUrls(texts: readonly string[] = []): string[] {
  return texts.map((text) => {
    if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).href;
    throw failed('INVALID_SETTING', `--probe-url: "${text}" is not an HTTP URL.`, [
      'Use the format https://gitlab.example.com',
    ]);
  });
}
