import {cursorHide} from '@inquirer/ansi';
import {createPrompt, isDownKey, isEnterKey, isNumberKey, isSpaceKey, isUpKey, useKeypress, usePagination, useState} from '@inquirer/core';
import type {Choice, ChoiceQuestion} from '../../ports/prompter.ts';
import {paragraph, type Screen, theme} from '../theme.ts';
import {answeredText, askingLines, below, helpLines} from './frame.ts';
import {type Place, useWindow} from './window.ts';

interface Config extends Place {
  question: ChoiceQuestion;
  /** Any number of them may be taken. */
  isSeveral: boolean;
}

/** Lines of the list at most and at least. */
const PAGE = 12;
const LEAST = 3;
const VIM = ['vim'] as const;

/** One of several choices, or any number of them. */
export const choicePrompt = createPrompt<readonly string[], Config>(({question, isSeveral, ...place}, done) => {
  const {message, choices} = question;
  const {screen, rows, draw} = useWindow(place);
  const preferred = choices.findIndex((choice) => choice.value === question.default && isAvailable(choice));
  const [active, setActive] = useState(preferred >= 0 ? preferred : choices.findIndex(isAvailable));
  const [taken, setTaken] = useState<ReadonlySet<string>>(new Set());
  const [isDone, setDone] = useState(false);
  const [isExplained, explain] = useState(false);
  const current = choices[active];

  useKeypress((key, rl) => {
    if (isDone) return;
    const {line} = rl;
    rl.clearLine(0);
    if (isEnterKey(key) && (isSeveral || current !== undefined)) {
      setDone(true);
      done(isSeveral ? choices.flatMap(({value}) => (taken.has(value) ? [value] : [])) : [(current as Choice).value]);
    } else if (isUpKey(key, VIM)) setActive(next(choices, active, -1));
    else if (isDownKey(key, VIM)) setActive(next(choices, active, 1));
    else if (isNumberKey(key)) {
      const at = Number(key.name) - 1;
      if (isAvailable(choices[at])) setActive(at);
    } else if (isSeveral && isSpaceKey(key) && current !== undefined) {
      setTaken(toggled(taken, current.value));
    } else if (line === '?') explain(!isExplained);
  });

  const asking = askingLines(message, question.note, screen);
  const footer = footerOf(question, current, {isSeveral, isExplained}, screen);
  const list = usePagination({
    items: choices,
    active,
    pageSize: Math.max(LEAST, Math.min(PAGE, rows - asking.length - footer.length)),
    loop: false,
    renderItem: ({item, isActive}) => itemText(item, isActive, isSeveral ? taken.has(item.value) : undefined, screen),
  });
  // Hidden below everything, where a window that is resized does not lose it.
  const cursor = {column: 0, up: 0};
  if (isDone) {
    const chosen = isSeveral ? choices.filter(({value}) => taken.has(value)) : choices.slice(active, active + 1);
    const answer = chosen.map(({label}) => label).join(', ') || 'none';
    return draw({lines: answeredText(message, answer, undefined, screen).trimEnd().split('\n'), cursor, footer: []});
  }
  const [drawn] = draw({lines: [...asking, ...list.split('\n'), ...footer], cursor, footer: []});
  return `${cursorHide}${drawn}`;
});

function itemText({label, unavailable}: Choice, isActive: boolean, isTaken: boolean | undefined, screen: Screen): string {
  const {cyan, dim} = theme(screen);
  const box = isTaken === undefined ? '' : isTaken ? '◉ ' : '◯ ';
  const text = unavailable === undefined ? label : `${label} - ${unavailable}`;
  const lines = paragraph(`${isActive ? '❯' : ' '} ${box}`, text, screen).trimEnd();
  if (unavailable !== undefined) return dim(lines);
  return isActive ? cyan(lines) : lines;
}

/** As long for every choice, so that the list stays where it is. */
function footerOf(
  {choices, help}: ChoiceQuestion,
  current: Choice | undefined,
  {isSeveral, isExplained}: {isSeveral: boolean; isExplained: boolean},
  screen: Screen,
): string[] {
  const {dim} = theme(screen);
  const meaningOf = (choice: Choice | undefined): string[] => (choice?.meaning === undefined ? [] : below(choice.meaning, dim, screen));
  const meaning = meaningOf(current);
  const longest = Math.max(...choices.map((choice) => meaningOf(choice).length));
  const keys = [isSeveral ? 'space takes' : '', `Enter ${isSeveral ? 'goes on' : 'takes'}`, help.length > 0 ? '? explains' : ''];
  const explained = helpLines(isExplained ? help : [], screen);
  const room = Array.from({length: longest - meaning.length}, () => '');
  return [...meaning, ...explained, ...room, ...below(keys.filter(Boolean).join(' · '), dim, screen)];
}

const isAvailable = (choice: Choice | undefined): boolean => choice !== undefined && choice.unavailable === undefined;

/** The nearest choice in that direction that can be taken; at the end the one it is at. */
function next(choices: readonly Choice[], from: number, step: 1 | -1): number {
  for (let at = from + step; at >= 0 && at < choices.length; at += step) if (isAvailable(choices[at])) return at;
  return from;
}

function toggled(taken: ReadonlySet<string>, value: string): ReadonlySet<string> {
  const after = new Set(taken);
  if (!after.delete(value)) after.add(value);
  return after;
}
