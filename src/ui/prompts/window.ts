import {cursorTo, cursorUp} from '@inquirer/ansi';
import {ExitPromptError, useEffect, useRef, useState} from '@inquirer/core';
import width from 'fast-string-width';
import type {Screen} from '../theme.ts';

/** A stream that may be a terminal. */
export type Output = NodeJS.WritableStream & {columns?: number; rows?: number};

export interface Place {
  screen: Screen;
  output: Output;
}

/** A question as it stands on the screen. */
export interface Frame {
  /** The cursor is in one of them. */
  lines: readonly string[];
  /** Counted from the last of the lines. */
  cursor: {column: number; up: number};
  footer: readonly string[];
}

interface Window {
  /** The screen with the width it has now; one column stays free, where terminals differ. */
  screen: Screen & {columns: number};
  rows: number;
  draw(frame: Frame): [string, string];
}

/** The terminal knows it, the types of the prompts do not. */
export const cursorOf = (rl: object): number => (rl as {cursor: number}).cursor;

const ERASE_BELOW = '\u001b[J';

/** Draws what fits, with the cursor where the question wants it, and anew when the window gets another size. */
export function useWindow({screen, output}: Place): Window {
  const [state, setState] = useState<object>({});
  const frame = useRef<Frame>({lines: [''], cursor: {column: 0, up: 0}, footer: []});
  useEffect((rl) => {
    // The line of the terminal breaks anywhere, ours where the layout says; it was drawn once without that.
    rl.getCursorPos = () => ({cols: frame.current.cursor.column, rows: -frame.current.cursor.up});
    // Node.js switches it off during a paste, and then appends to the line what was pasted into its middle.
    Object.defineProperty(rl, 'isCompletionEnabled', {get: () => true, set: () => undefined});
    const ended = (): void => setState(ENDED);
    const resized = (): void => {
      output.write(startedAnew(frame.current, output.columns ?? 80, screen.cutsLines === true));
      setState({});
    };
    setState({});
    rl.on('close', ended);
    output.on('resize', resized);
    return () => {
      rl.removeListener('close', ended);
      output.off('resize', resized);
    };
  }, []);
  // Ctrl-D, or a terminal that is gone: nobody answers any more.
  if (state === ENDED) throw new ExitPromptError('The input ended');

  const rows = output.rows ?? 24;
  return {
    screen: {...screen, columns: (output.columns ?? screen.columns ?? 80) - 1},
    rows,
    draw({lines, cursor, footer}) {
      frame.current = {lines, cursor, footer: footer.slice(0, Math.max(rows - lines.length, 0))};
      return [lines.join('\n'), frame.current.footer.join('\n')];
    },
  };
}

const ENDED = {};

/**
 * A window that became narrow has broken the lines once more, so there are more of them than were drawn. All are erased,
 * and the cursor is left as many lines below the first as the next drawing expects.
 */
function startedAnew({lines, cursor, footer}: Frame, columns: number, cutsLines: boolean): string {
  const at = lines.length - 1 - cursor.up;
  const above = lines.slice(0, at).reduce((sum, line) => sum + Math.max(1, Math.ceil(width(line.trimEnd()) / columns)), 0);
  const up = above + (cutsLines ? 0 : Math.floor(cursor.column / columns));
  const under = lines.length + footer.length - 1 - at;
  return `${cursorUp(up)}${cursorTo(0)}${ERASE_BELOW}${'\n'.repeat(at + under)}${cursorUp(under)}`;
}
