import type {Cause} from '../diagnose/cause.ts';
import type {Progress} from '../diagnose/explain.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const MARKS = {ready: '✓', waiting: '…', failing: '×'} as const;

/** Says how a release comes along: a line for an object whenever it has something new to say. */
export function progressReporter(
  write: (text: string) => void,
  screen: Screen,
): (lines: readonly Progress[], causes: readonly Cause[]) => void {
  const said = new Map<string, string>();
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
      if (said.get(object) === line) continue;
      said.set(object, line);
      write(line);
    }
  };
}
