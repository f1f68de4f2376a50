import {cursorHide} from '@inquirer/ansi';
import {createPrompt, isDownKey, isEnterKey, isNumberKey, isSpaceKey, isUpKey, useKeypress, usePagination, useState} from '@inquirer/core';
import type {Choice, ListQuestion} from '../ports/prompter.ts';
import {indented, questionText} from './conversation.ts';
import {paragraph, type Screen, theme} from './theme.ts';

// The prompts of @inquirer/prompts, imported one by one: the index also bundles its editor prompt, 210 kB packed.
export {default as confirm} from '@inquirer/confirm';
export {default as input} from '@inquirer/input';
export {default as password} from '@inquirer/password';

interface ListConfig {
  question: ListQuestion;
  kind: 'select' | 'search' | 'checkbox';
  /** The screen with its present width. */
  screen(): Screen & {columns: number};
  output: {rows?: number};
}

/** Maximum and minimum lines of the list. */
const MAX_LINES = 15;
const MIN_LINES = 3;

/**
 * The list of select, search and checkbox. The lists of @inquirer/prompts cannot open help on ?: they redraw only when a
 * choice changes, and asking again loses the position and all ticks. They also wrap a long choice at the left edge.
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
    // The readline buffer holds the search term and nothing else.
    const setLine = (text: string): void => {
      rl.clearLine(0);
      rl.write(text);
    };
    setLine(term);
    if (isEnterKey(key) && kind === 'checkbox') done(choices.filter((choice) => ticked.has(choice)));
    else if (isEnterKey(key) && current !== undefined) done([current]);
    else if (isUpKey(key, vim)) setActive(next(choices, active, -1));
    else if (isDownKey(key, vim)) setActive(next(choices, active, 1));
    else if (line === '?') openHelp(!isHelpOpen);
    else if (kind === 'search' && line !== term && !isEnterKey(key)) {
      setLine(line);
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
  const footer = under.slice(0, Math.max(rows - MIN_LINES, 0));
  const list = usePagination({
    items: choices,
    active,
    pageSize: Math.max(MIN_LINES, Math.min(MAX_LINES, rows - footer.length)),
    loop: false,
    renderItem({item, isActive}) {
      const box = kind === 'checkbox' ? `${ticked.has(item) ? '◉' : '◯'} ` : '';
      return itemText(item, `${isActive ? '❯' : ' '} ${box}`, {isActive, column, screen});
    },
  });
  return [asking, [list || indented('No matches', screen), ...footer].join('\n')];
});

/** A choice with its description, or why it is disabled, in a column of its own where the labels are short. */
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
  const enter = {
    select: ['Enter to select'],
    search: ['type to search', 'Enter to select'],
    checkbox: ['Space to toggle', 'Enter to confirm'],
  }[kind];
  return [...enter, ...(canGoBack ? ['Esc to go back'] : []), ...(help.length > 0 ? ['? for help'] : [])].join(' · ');
}

const matching = (choices: readonly Choice[], term: string): readonly Choice[] =>
  choices.filter(({label}) => label.toLowerCase().includes(term.toLowerCase()));

const isAvailable = (choice: Choice | undefined): boolean => choice !== undefined && choice.disabled === undefined;

/** Index of the preferred choice, or of the first, that is not disabled; -1 if all are. */
function firstOf(choices: readonly Choice[], preferred?: string): number {
  const index = choices.findIndex((choice) => choice.value === preferred && isAvailable(choice));
  return index >= 0 ? index : choices.findIndex(isAvailable);
}

/** Index of the nearest choice in that direction that is not disabled; the same index at the end of the list. */
function next(choices: readonly Choice[], from: number, step: 1 | -1): number {
  for (let at = from + step; at >= 0 && at < choices.length; at += step) if (isAvailable(choices[at])) return at;
  return from;
}

function toggled(ticked: ReadonlySet<Choice>, choice: Choice): ReadonlySet<Choice> {
  const after = new Set(ticked);
  if (!after.delete(choice)) after.add(choice);
  return after;
}
