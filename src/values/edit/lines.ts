import type {Pair} from 'yaml';
import {endOfPair, keyRange} from './ranges.ts';

/** The line end of a text; a new line takes the same. */
export const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

export const startOfLine = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

/** The start of the line after the one at the offset. */
export function startOfNext(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end + 1;
}

/** How far the line at the offset is indented, in columns of its key. */
export const indentAt = (text: string, offset: number): number => offset - startOfLine(text, offset);

/** By how much the file indents; two where it does not say. */
export function stepOf(text: string): number {
  const [, indent = '  '] = /^[^\s#][^\n]*:[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*( +)[^\s#-]/m.exec(text) ?? [];
  return indent.length;
}

const lineAt = (text: string, start: number): string => text.slice(start, startOfNext(text, start));

const isBlank = (line: string): boolean => line !== '' && line.trim() === '';

/** A pair of a block mapping as whole lines: its own, and the comments that belong to it. */
export interface PairLines {
  /** Of the first comment above the key. */
  start: number;
  /** Of the line of the key. */
  own: number;
  end: number;
  indent: number;
}

/** Undefined where something else stands on the line before the key, as in a list. */
export function linesOf(text: string, pair: Pair): PairLines | undefined {
  const [key] = keyRange(pair);
  const own = startOfLine(text, key);
  const indent = key - own;
  if (text.slice(own, key).trim() !== '') return undefined;
  const last = endOfPair(pair);
  const end = text[last - 1] === '\n' ? last : startOfNext(text, last);
  return {start: commentsAbove(text, own, indent), own, end: commentsInside(text, end, indent), indent};
}

/** Comments right above, as far as the key indented; not those a file begins with, which are about the file. */
function commentsAbove(text: string, own: number, indent: number): number {
  let start = own;
  while (start > 0) {
    const before = startOfLine(text, start - 1);
    const line = lineAt(text, before);
    if (!line.trimStart().startsWith('#') || line.length - line.trimStart().length !== indent) return start;
    start = before;
  }
  return own;
}

/** Comments below that are indented deeper than the key. */
function commentsInside(text: string, after: number, indent: number): number {
  let end = after;
  for (let at = after; at < text.length; at = startOfNext(text, at)) {
    const line = lineAt(text, at);
    if (isBlank(line)) continue;
    if (!line.trimStart().startsWith('#') || line.length - line.trimStart().length <= indent) return end;
    end = startOfNext(text, at);
  }
  return end;
}

/** The range of lines, and one empty line more where its removal would leave two in a row. */
export function withBlank(text: string, start: number, end: number): {start: number; end: number} {
  const before = startOfLine(text, Math.max(start - 1, 0));
  const isBlankBefore = start === 0 || isBlank(lineAt(text, before));
  if (isBlankBefore && end < text.length && isBlank(lineAt(text, end))) return {start, end: startOfNext(text, end)};
  if (isBlankBefore && start > 0 && end >= text.length) return {start: before, end};
  return {start, end};
}

/** The lines of a text, moved from one indentation to another; line ends stay. */
export const indented = (text: string, from: number, to: number): string =>
  text
    .split(/(?<=\n)/)
    .map((line) => {
      if (isBlank(line)) return line;
      const own = line.search(/[^ ]/);
      return ' '.repeat(Math.max(own - from, 0) + to) + line.slice(own);
    })
    .join('');
