import {cursorHide} from '@inquirer/ansi';
import {createPrompt, isDownKey, isEnterKey, isNumberKey, isSpaceKey, isUpKey, useKeypress, usePagination, useState} from '@inquirer/core';
import type {Choice, ListQuestion} from '../ports/prompter.ts';
import {indented, questionText} from './conversation.ts';
import {paragraph, type Screen, theme} from './theme.ts';

// One by one: @inquirer/prompts as a whole brings its editor with a table of encodings, a third of this package.
export {default as confirm} from '@inquirer/confirm';
export {default as input} from '@inquirer/input';
export {default as password} from '@inquirer/password';

interface ListConfig {
  question: ListQuestion;
  kind: 'select' | 'search' | 'checkbox';
  /** As wide as it is now. */
  screen(): Screen & {columns: number};
  output: {rows?: number};
}

/** Lines of the list at most and at least. */
const PAGE = 15;
const LEAST = 3;

/**
 * A list of choices. Those of @inquirer/prompts draw only when a choice changes, so ? could open its help only by asking
 * anew, which loses the place and all ticks; and they break a long choice at the edge of the screen, not under itself.
 */
export const listPrompt = createPrompt<readonly Choice[], ListConfig>(({question, kind, output, ...config}, done) => {
  const [term, setTerm] = useState('');
  const choices = matching(question.choices, term);
  const [active, setActive] = useState(() => firstOf(question.choices, question.default));
  const [ticked, setTicked] = useState<ReadonlySet<Choice>>(new Set());
  const [isHelpOpen, openHelp] = useState(false);
  const current = choices[active];

  useKeypress((key, rl) => {
    const {line} = rl;
    const vim = kind === 'search' ? [] : (['vim'] as const);
    // Its line holds the term and nothing else.
    const keep = (text: string): void => {
      rl.clearLine(0);
      rl.write(text);
    };
    keep(term);
    if (isEnterKey(key) && kind === 'checkbox') done(choices.filter((choice) => ticked.has(choice)));
    else if (isEnterKey(key) && current !== undefined) done([current]);
    else if (isUpKey(key, vim)) setActive(next(choices, active, -1));
    else if (isDownKey(key, vim)) setActive(next(choices, active, 1));
    else if (line === '?') openHelp(!isHelpOpen);
    else if (kind === 'search' && line !== term && !isEnterKey(key)) {
      keep(line);
      setTerm(line);
      setActive(firstOf(matching(question.choices, line)));
    } else if (isNumberKey(key) && isAvailable(choices[Number(key.name) - 1])) setActive(Number(key.name) - 1);
    else if (isSpaceKey(key) && current !== undefined) setTicked(toggled(ticked, current));
  });

  const screen = config.screen();
  const {cyan, dim} = theme(screen);
  const asking = `${cyan('?')} ${questionText(question.message, question.note, screen)} ${kind === 'search' ? term : cursorHide}`;
  const labels = Math.max(...question.choices.map(({label}) => label.length));
  const column = labels <= screen.columns / 3 ? labels : undefined;
  const under = [
    ...(column === undefined && current?.description !== undefined ? [current.description] : []),
    ...(isHelpOpen ? question.help : []),
    keysOf(kind, question),
  ].flatMap((line) => indented(dim(line), screen).split('\n'));
  const rows = (output.rows ?? 24) - asking.split('\n').length;
  const footer = under.slice(0, Math.max(rows - LEAST, 0));
  const list = usePagination({
    items: choices,
    active,
    pageSize: Math.max(LEAST, Math.min(PAGE, rows - footer.length)),
    loop: false,
    renderItem({item, isActive}) {
      const box = kind === 'checkbox' ? `${ticked.has(item) ? '◉' : '◯'} ` : '';
      return itemText(item, `${isActive ? '❯' : ' '} ${box}`, {isActive, column, screen});
    },
  });
  return [asking, [list || indented('Nothing matches', screen), ...footer].join('\n')];
});

/** What is said of each choice stands beside it where the labels leave room for that. */
function itemText(
  {label, description = '', disabled}: Choice,
  mark: string,
  {isActive, column, screen}: {isActive: boolean; column: number | undefined; screen: Screen},
): string {
  const {cyan, dim} = theme(screen);
  const colour = disabled !== undefined ? dim : isActive ? cyan : (text: string) => text;
  if (column === undefined) return colour(paragraph(mark, disabled === undefined ? label : `${label} - ${disabled}`, screen).trimEnd());
  return paragraph(colour(`${mark}${label.padEnd(column)}  `), dim(disabled ?? description), screen).trimEnd();
}

function keysOf(kind: ListConfig['kind'], {help, canGoBack}: ListQuestion): string {
  const enter = {select: ['Enter takes'], search: ['letters search', 'Enter takes'], checkbox: ['space takes', 'Enter goes on']}[kind];
  return [...enter, ...(canGoBack ? ['Esc goes back'] : []), ...(help.length > 0 ? ['? explains'] : [])].join(' · ');
}

const matching = (choices: readonly Choice[], term: string): readonly Choice[] =>
  choices.filter(({label}) => label.toLowerCase().includes(term.toLowerCase()));

const isAvailable = (choice: Choice | undefined): boolean => choice !== undefined && choice.disabled === undefined;

/** The preferred one, or else the first, of those that can be taken; -1 where none can. */
function firstOf(choices: readonly Choice[], preferred?: string): number {
  const index = choices.findIndex((choice) => choice.value === preferred && isAvailable(choice));
  return index >= 0 ? index : choices.findIndex(isAvailable);
}

/** The nearest choice in that direction that can be taken; at the end the one it is at. */
function next(choices: readonly Choice[], from: number, step: 1 | -1): number {
  for (let at = from + step; at >= 0 && at < choices.length; at += step) if (isAvailable(choices[at])) return at;
  return from;
}

function toggled(ticked: ReadonlySet<Choice>, choice: Choice): ReadonlySet<Choice> {
  const after = new Set(ticked);
  if (!after.delete(choice)) after.add(choice);
  return after;
}
