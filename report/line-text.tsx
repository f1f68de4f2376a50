import type {JSX} from 'preact';
import {segmentsOf} from './untrusted-text.ts';

/** Longest part of a line in the list, and in the details before somebody asks for all of it. */
export const [MAX_ROW, MAX_DETAILS] = [600, 20_000] as const;

/** Keys of a JSON line that hold its message. */
const MESSAGES = ['event', 'message', 'msg'];
/** Shown elsewhere in the row. */
const KNOWN = new Set([...MESSAGES, 'level', 'levelname', 'timestamp', 'time', 'ts']);

/** Indentation of deeper lines is longer than the line. */
const MAX_BRACKETS = 500;

/** A JSON line in short; undefined for other lines. */
export function foldedJson(
  text: string,
): {message: string; rest: string; whole: unknown} | undefined {
  if (
    !text.startsWith('{') ||
    text.length > MAX_DETAILS ||
    (text.match(/[[{]/g) ?? []).length > MAX_BRACKETS
  )
    return undefined;
  try {
    const whole = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const message = MESSAGES.map((key) => whole[key]).find((value) => typeof value === 'string') as
      | string
      | undefined;
    const rest = Object.entries(whole).filter(
      ([key, value]) => !KNOWN.has(key) && value !== '' && value !== null,
    );
    const pairs = rest.map(
      ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
    return {message: message ?? '', rest: pairs.join(' '), whole};
  } catch {
    return undefined;
  }
}

/** Untrusted text with colors, visible control characters and marked matches. */
export function LineText({
  text,
  pattern,
}: {
  text: string;
  pattern?: RegExp | undefined;
}): JSX.Element {
  return (
    <>
      {segmentsOf(text).map(({text: part, style}) => (
        <span class={style}>{pattern ? marked(part, pattern) : part}</span>
      ))}
    </>
  );
}

function marked(text: string, pattern: RegExp): (string | JSX.Element)[] {
  const parts: (string | JSX.Element)[] = [];
  let from = 0;
  for (const found of text.matchAll(pattern)) {
    if (found[0] === '') continue;
    parts.push(text.slice(from, found.index), <mark>{found[0]}</mark>);
    from = found.index + found[0].length;
  }
  return [...parts, text.slice(from)];
}
