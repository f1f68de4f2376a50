import {stripVTControlCharacters} from 'node:util';
import {Chalk, type ChalkInstance} from 'chalk';
import {wrapAnsi} from 'fast-wrap-ansi';

/** What the reader's screen can show. */
export interface Screen {
  hasColor: boolean;
  /** Width of the terminal; undefined in a pipe, where lines stay whole. */
  columns: number | undefined;
}

export const theme = ({hasColor}: Screen): ChalkInstance => new Chalk({level: hasColor ? 1 : 0});

/** A paragraph whose further lines are indented under its first. */
export function paragraph(first: string, text: string, {columns}: Screen): string {
  if (columns === undefined) return `${first}${text}\n`;
  // Codes of colours take no room on the screen.
  const indent = stripVTControlCharacters(first).length;
  const width = Math.max(columns - indent, 20);
  return `${first}${wrapAnsi(text, width, {hard: true}).replaceAll('\n', `\n${' '.repeat(indent)}`)}\n`;
}
