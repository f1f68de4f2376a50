import isUnicodeSupported from 'is-unicode-supported';

/** Every sign beyond ASCII that the program prints. */
const SPELLED: Readonly<Record<string, string>> = {
  ...{'✓': '+', '✔': '+', '×': 'x', '…': '...', '→': '->', '·': '|', '❯': '>', '◉': '[x]', '◯': '[ ]', '–': '-', '’': "'"},
};
const SIGN = new RegExp(Object.keys(SPELLED).join('|'), 'g');

/** A text for people in the signs their screen has. Not for what is read by programs. */
export const legible = (text: string, {isAscii}: {isAscii?: boolean}): string =>
  isAscii ? text.replace(SIGN, (sign) => SPELLED[sign] as string) : text;

/** True where a terminal or a locale is known to lack these signs; a locale that is not set says nothing. */
export function isAsciiOnly(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  const [name = '', encoding = name === 'C' || name === 'POSIX' ? 'ASCII' : 'UTF-8'] = locale.replace(/@.*/, '').split('.');
  return !/^utf-?8$/i.test(encoding) || (isTerminal && (env['TERM'] === 'dumb' || !isUnicodeSupported()));
}
