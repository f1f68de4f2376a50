import width from 'fast-string-width';
import {asciiFallback, paragraph, type Screen, theme} from './theme.ts';

/** What Esc does; at the first question there is nothing to go back to. */
export const escText = (canGoBack: true | 'quit'): string =>
  `Esc to ${canGoBack === 'quit' ? 'quit' : 'go back'}`;

const INDENT = '  ';

/** Narrower terminals have no rail. */
const NARROW = 60;

export const indented = (text: string, screen: Screen, indent = INDENT): string =>
  paragraph('', text, {...screen, columns: screen.columns && screen.columns - width(indent)})
    .trimEnd()
    .replace(/^/gm, indent);

/** A question without its mark, with its default or what an empty answer means. */
export function questionText(
  message: string,
  note: string | undefined,
  screen: Screen,
  indent = INDENT,
): string {
  const {bold, dim} = theme(screen);
  return indented(
    `${bold(message)}${note === undefined ? '' : dim(note.includes('(') ? ` – ${note}` : ` (${note})`)}`,
    screen,
    indent,
  ).slice(indent.length);
}

/** What stands around a question: marks and indents, and the lines of its heading. */
export interface Frame {
  /** First character of the question. */
  mark: string;
  /** Start of the first line of the question, after `mark` or the heading. */
  first: string;
  /** Start of all other lines. */
  indent: string;
  /** Lines above the question, the first one without `mark`. */
  above: readonly string[];
}

/** A question with a heading is drawn on a rail, any other after a question mark. A tab in a heading divides a name from its text. */
export function frameOf(heading: readonly string[] | undefined, screen: Screen): Frame {
  const {cyan} = theme(screen);
  if (heading === undefined) return {mark: cyan('?'), first: ' ', indent: INDENT, above: []};
  const rail = railOf(screen);
  const [step = '', ...lines] = heading;
  const inside = {...screen, columns: screen.columns && screen.columns - width(rail)};
  const lineText = (line: string): string => {
    const [name, text] = line.split('\t');
    const start =
      text === undefined
        ? leadOf(line)
        : `${name}${' '.repeat(Math.max(0, STEP_WIDTH - width(name ?? '')))}  `;
    return paragraph(start, text ?? line.slice(start.length), inside)
      .trimEnd()
      .replace(/^/gm, rail);
  };
  const mark = asciiFallback(cyan('◆'), screen);
  // After the mark and two blanks; a second line of the title is on the rail.
  const [title = '', ...more] = indented(
    step,
    {...screen, columns: screen.columns && screen.columns - (rail === '' ? 3 : 0)},
    rail,
  ).split('\n');
  return {
    mark,
    first: rail,
    indent: rail,
    above: [`  ${title.slice(rail.length)}`, ...more, ...lines.map(lineText)],
  };
}

/** The blanks and the bullet of a line, under which its text is wrapped. */
export const leadOf = (line: string): string => /^ *(?:- )?/.exec(line)?.[0] ?? '';

/** Start of every line under a heading. */
export const railOf = (screen: Screen): string =>
  hasRail(screen) ? asciiFallback(`${theme(screen).dim('│')}  `, screen) : '';

const hasRail = ({columns = 80, isAccessible = false}: Screen): boolean =>
  columns >= NARROW && !isAccessible;

/** The first line of the wizard. */
export function titleText(version: string, screen: Screen): string {
  const {bold, dim} = theme(screen);
  const keys = screen.isAccessible
    ? 'At each question: back, help or quit.'
    : 'Esc back · ? help · Ctrl-C quit';
  const name = `scalr-agent-install ${version}`;
  const room = (screen.columns ?? 80) - name.length - keys.length - 1;
  return `\n${bold(name)}${room < 2 ? '\n' : ' '.repeat(room)}${dim(keys)}\n\n`;
}

/** An answered step of the wizard: its name and what was answered. */
export function answeredStep(name: string, answers: readonly string[], screen: Screen): string {
  const {dim, green} = theme(screen);
  const first = `${green('◇')}  ${name.padEnd(STEP_WIDTH)}  `;
  const text = paragraph(first, answers.join(' · '), screen);
  return hasRail(screen)
    ? text.replace(/\n +/g, `\n${asciiFallback(dim('│'), screen)}${' '.repeat(STEP_WIDTH + 4)}`)
    : text;
}

const STEP_WIDTH = 9;
