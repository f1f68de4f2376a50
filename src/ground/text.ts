/** The path is the directory, or below it. */
export const isPathIn = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(`${directory.replace(/\/$/, '')}/`);

/** 1 node, 2 nodes */
export const count = (number: number | bigint, noun: string): string =>
  `${number} ${noun}${Number(number) === 1 ? '' : 's'}`;

/** The first names, so that a line stays short: "a, b and 3 more". */
export const few = (names: readonly string[], most = 5): string =>
  names.slice(0, most).join(', ') + (names.length > most ? ` and ${names.length - most} more` : '');

/** The values to choose from: "a, b or c". */
export const oneOf = (values: readonly string[]): string =>
  values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;

/** Sentences on one line; the first one may have no full stop. */
export const sentences = (first: string, ...others: readonly string[]): string =>
  [first.replace(/(?<![.!?])$/, '.'), ...others].join(' ');

/** The size of a file: 3 KiB, 1.5 MiB */
export const sizeText = (bytes: number): string =>
  bytes < 1024 * 1024
    ? `${Math.ceil(bytes / 1024)} KiB`
    : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

/** How long something took: 0.4 s, 14 s, 30 min, 2 min 5 s */
export function durationText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 10) return `${(milliseconds / 1000).toFixed(1)} s`;
  const rest = seconds % 60 === 0 ? '' : ` ${seconds % 60} s`;
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min${rest}`;
}

/** How long ago something was: 3 min, 5 h, 2 d */
export function ageText(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** Items with the same key, in the order of their first one. */
export function groupsOf<T>(items: readonly T[], keyOf: (item: T) => string): [T, ...T[]][] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return [...groups.values()];
}

/** The host of a URL without the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

/** A sentence inside a line: its first word is no longer capitalized, unless it is an abbreviation. */
export const lowerFirst = (text: string): string =>
  text.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());
