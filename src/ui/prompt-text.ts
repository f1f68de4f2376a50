import width from 'fast-string-width';
import type {InputQuestion} from '../ground/system/system.ts';
import {count} from '../ground/text.ts';
import type {Setting} from '../settings/define.ts';
import type {Answer, AnswerSource} from '../settings/settings.ts';
import {asciiFallback, paragraph, type Screen, theme} from './theme.ts';

const FROM: Readonly<Partial<Record<AnswerSource, string>>> = {
  answers: 'answers file',
  'values-file': 'values file',
  prompt: 'earlier answer',
  chart: 'chart default',
};

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

/** A question and its answer, the same whether a person, a flag or the cluster gave it. */
export function answeredText(
  message: string,
  answer: string,
  from: string | undefined,
  screen: Screen,
): string {
  const {cyan, dim, green} = theme(screen);
  return paragraph(
    `${green('✔')} `,
    `${message} ${cyan(answer)}${from === undefined ? '' : dim(` (${from})`)}`,
    screen,
  );
}

/** An answer that was known without a question, as if it had been given to one. */
export function knownText(setting: Setting, answer: Answer, screen: Screen): string {
  const source =
    answer.because === undefined
      ? sourceText(setting, answer)
      : `${sourceText(setting, answer)}: ${answer.because}`;
  return answeredText(setting.question, answerText(setting, answer), source, screen);
}

export const sourceText = ({onlyEnv}: Setting, {source}: Answer): string =>
  onlyEnv ?? FROM[source] ?? source;

/** An answer on one line, without secrets. */
export function answerText({kind, labels}: Setting, {value, given}: Answer): string {
  if (given !== undefined) return given;
  if (kind.isSecret) return '[hidden]';
  if (kind.isSwitch) return value ? 'yes' : 'no';
  if (labels?.[String(value)] !== undefined) return labels[String(value)] as string;
  const text = kind.format(value).join(', ');
  return kind.shown?.(value as never) ?? (text === '' ? 'none' : text);
}

export const answeredLine = (message: string, answer: string): string =>
  `${message.replace(/(?<!\?)$/, ':')} ${answer}`;

/** The default and where it comes from: "https://acme.scalr.io, the token" */
export const noteOf = (...parts: readonly (string | undefined)[]): string | undefined =>
  parts.filter(Boolean).join(', ') || undefined;

/** A question to which Enter alone says no. */
export const yesOrNo = (message: string): InputQuestion => ({
  message,
  help: [],
  note: 'y/N',
  validate: (text) => (/^(y(es)?|no?)?$/i.test(text) ? undefined : 'Enter y or n'),
});

export const isYes = (answer: string): boolean => /^y/i.test(answer);

/** An agent pool token, or enough of it to recognize it. */
export const TOKEN = /eyJ[\w-]{5,}[\w.-]*/g;

/** The answer to a token at any other question. */
export const TOKEN_HERE =
  'This is an agent pool token. Paste it only where the agent pool token is asked for.';

/** All that is shown of a secret: its length, which tells that it was pasted whole. */
export const masked = (secret: string): string =>
  secret === '' ? '' : `[hidden, ${count(secret.length, 'character')}]`;
