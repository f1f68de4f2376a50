import {Chalk, type ChalkInstance} from 'chalk';
import width from 'fast-string-width';
import {wrapAnsi} from 'fast-wrap-ansi';
import {legible} from './legible.ts';

/** What the reader's screen can show. */
export interface Screen {
  hasColor: boolean;
  /** Width of the terminal; undefined in a pipe, where lines stay whole. */
  columns: number | undefined;
  /** It shows ASCII and nothing else. */
  isAscii?: boolean;
}

/** The same screen, as wide as it is at any time. */
export const withoutColor = (screen: Screen): Screen => ({
  ...screen,
  hasColor: false,
  get columns() {
    return screen.columns;
  },
});

export const theme = ({hasColor}: Pick<Screen, 'hasColor'>): ChalkInstance => new Chalk({level: hasColor ? 1 : 0});

const NARROWEST = 20;

/** A paragraph whose further lines are indented under its first. */
export function paragraph(first: string, text: string, screen: Screen): string {
  const [head, body] = [legible(first, screen), legible(text, screen)];
  if (screen.columns === undefined) return `${head}${body}\n`;
  const indent = width(head);
  const lines = wrapAnsi(body, Math.max(screen.columns - indent, NARROWEST), {hard: true});
  return `${head}${lines.replaceAll('\n', `\n${' '.repeat(indent)}`)}\n`;
}
