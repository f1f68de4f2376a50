import {asciiFallback, paragraph, type Screen, theme} from './theme.ts';

/** Narrower terminals have no rail. */
const NARROW = 60;

/** The blanks and the bullet of a line, under which its text is wrapped. */
export const leadOf = (line: string): string => /^ *(?:- )?/.exec(line)?.[0] ?? '';

/** Start of every line under a heading. */
export const railOf = (screen: Screen): string =>
  hasRail(screen) ? asciiFallback(`${theme(screen).dim('│')}  `, screen) : '';

const hasRail = ({columns = 80, isAccessible = false}: Screen): boolean =>
  columns >= NARROW && !isAccessible;

/** An answered step of the wizard: its name and what was answered. */
export function answeredStep(name: string, answers: readonly string[], screen: Screen): string {
  const label = screen.isAccessible ? `${name}:` : `${name.padEnd(STEP_WIDTH)} `;
  return paragraph(`${theme(screen).green('◇')}  ${label} `, answers.join(' · '), screen);
}

const STEP_WIDTH = 9;
