/** Characters that are invisible, or that change how the text around them is shown. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const codeOf = (character: string): string =>
  `⟨U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** Text from a bundle with its hidden characters as codes. */
export const visibleText = (text: string): string => text.replace(HIDDEN, codeOf);

/** A part of a line: `style` is a list of CSS classes. */
export interface Segment {
  text: string;
  style: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ANSI escape sequences start with one
const SGR = /\x1b\[([\d;]*)m/g;

/** A line with ANSI colors as classes. All other control characters are shown as codes. */
export function segmentsOf(line: string): Segment[] {
  const segments: Segment[] = [];
  let start = 0;
  let style = '';
  const add = (end: number): void => {
    let from = start;
    const text = line.slice(start, end);
    for (const found of text.matchAll(HIDDEN)) {
      if (start + found.index > from)
        segments.push({text: line.slice(from, start + found.index), style});
      segments.push({text: codeOf(found[0]), style: 'hidden-character'});
      from = start + found.index + found[0].length;
    }
    if (end > from) segments.push({text: line.slice(from, end), style});
  };
  for (const found of line.matchAll(SGR)) {
    add(found.index);
    start = found.index + found[0].length;
    style = styleAfter(style, found[1] as string);
  }
  add(line.length);
  return segments;
}

/** Foreground and bold; other attributes do not help to read a log. */
function styleAfter(before: string, codes: string): string {
  let style = new Set(before.split(' ').filter(Boolean));
  const numbers = codes.split(';').map(Number);
  for (let index = 0; index < numbers.length; index += 1) {
    const code = numbers[index] as number;
    const isColor = (code >= 30 && code <= 37) || (code >= 90 && code <= 97);
    if (code === 38 || code === 48) index += numbers[index + 1] === 5 ? 2 : 4;
    if (code === 0) style = new Set();
    if (code === 1) style.add('bold');
    if (isColor || code === 39)
      style = new Set([...style].filter((each) => !each.startsWith('ansi-')));
    if (isColor) style.add(`ansi-${code % 10}`);
  }
  return [...style].join(' ');
}
