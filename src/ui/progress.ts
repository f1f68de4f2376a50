import type {Cause} from '../diagnose/cause.ts';
import type {Progress} from '../diagnose/explain.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const MARKS = {ready: '✓', waiting: '…', failing: '×'} as const;

/** Prints the progress of a release: a line per object whenever its state changes. */
export function progressReporter(
  write: (text: string) => void,
  screen: Screen,
): (lines: readonly Progress[], causes: readonly Cause[]) => void {
  const lastLines = new Map<string, string>();
  const {green, red, yellow} = theme(screen);
  const colour = {ready: green, waiting: yellow, failing: red};
  return (lines, causes) => {
    const news = [
      ...lines.map(({object, state, text}) => ({object, line: paragraph(`${colour[state](MARKS[state])} `, `${object}: ${text}`, screen)})),
      ...causes.map((cause) => ({
        object: `cause of ${cause.object}`,
        line: paragraph(`  ${yellow('!')} `, `${cause.object}: ${cause.reason}`, screen),
      })),
    ];
    for (const {object, line} of news) {
      if (lastLines.get(object) === line) continue;
      lastLines.set(object, line);
      write(line);
    }
  };
}
