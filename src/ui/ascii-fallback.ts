import isUnicodeSupported from 'is-unicode-supported';

export const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';

/** Every non-ASCII character that the program prints. */
const SPELLED: Readonly<Record<string, string>> = {
  ...{'✓': '+', '✔': '+', '×': 'x', '…': '...', '→': '->', '·': '-', '❯': '>', '◉': '[x]', '◯': '[ ]', '–': '-', '’': "'"},
  ...{'◆': '*', '◇': 'o', '│': '|', '↑': '^', '↓': 'v'},
  ...Object.fromEntries([...SPINNER].map((frame, index) => [frame, '-\\|/'[index % 4] as string])),
};
const SIGN = new RegExp(Object.keys(SPELLED).join('|'), 'g');

/** Replaces characters that the screen cannot show. Not for machine-readable output. */
export const legible = (text: string, {isAscii}: {isAscii?: boolean}): string =>
  isAscii ? text.replace(SIGN, (sign) => SPELLED[sign] as string) : text;

/** True if the terminal or locale does not support these characters; an unset locale is ignored. */
export function isAsciiOnly(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  const [name = '', encoding = name === 'C' || name === 'POSIX' ? 'ASCII' : 'UTF-8'] = locale.replace(/@.*/, '').split('.');
  return !/^utf-?8$/i.test(encoding) || (isTerminal && (env['TERM'] === 'dumb' || !isUnicodeSupported()));
}
