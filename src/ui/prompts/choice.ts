import {cursorHide} from '@inquirer/ansi';
import {createPrompt, isDownKey, isEnterKey, isNumberKey, isSpaceKey, isUpKey, useKeypress, usePagination, useState} from '@inquirer/core';
import type {Choice, ChoiceQuestion} from '../../ports/prompter.ts';
import {type Screen, theme} from '../theme.ts';
import {answeredLine, askingLine, footer} from './frame.ts';

interface Config {
  question: ChoiceQuestion;
  screen: Screen;
  /** Any number of them may be taken. */
  isSeveral: boolean;
}

const PAGE = 12;
const VIM = ['vim'] as const;

/** One of several choices, or any number of them. */
export const choicePrompt = createPrompt<readonly string[], Config>(({question, screen, isSeveral}, done) => {
  const {message, choices, help} = question;
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
    if (isEnterKey(key) && current !== undefined) {
      setDone(true);
      done(isSeveral ? choices.flatMap(({value}) => (taken.has(value) ? [value] : [])) : [current.value]);
    } else if (isUpKey(key, VIM)) setActive(next(choices, active, -1));
    else if (isDownKey(key, VIM)) setActive(next(choices, active, 1));
    else if (isNumberKey(key)) {
      const at = Number(key.name) - 1;
      if (isAvailable(choices[at])) setActive(at);
    } else if (isSeveral && isSpaceKey(key) && current !== undefined) {
      setTaken(toggled(taken, current.value));
    } else if (line === '?') explain(!isExplained);
  });

  const {cyan, dim} = theme(screen);
  const page = usePagination({
    items: choices,
    active,
    pageSize: PAGE,
    loop: false,
    renderItem({item: {value, label, unavailable}, isActive}) {
      const box = isSeveral ? (taken.has(value) ? '◉ ' : '◯ ') : '';
      if (unavailable !== undefined) return dim(`  ${box}${label} - ${unavailable}`);
      return isActive ? cyan(`❯ ${box}${label}`) : `  ${box}${label}`;
    },
  });
  if (isDone) {
    const chosen = isSeveral ? choices.filter(({value}) => taken.has(value)) : choices.slice(active, active + 1);
    return answeredLine(message, chosen.map(({label}) => label).join(', ') || 'none', undefined, screen);
  }
  const keys = [isSeveral ? 'space takes' : '', `Enter ${isSeveral ? 'goes on' : 'takes'}`, help.length > 0 ? '? explains' : ''];
  const text = footer(
    {
      help: [...(current?.meaning === undefined ? [] : [current.meaning]), ...(isExplained ? help : [])],
      keys: keys.filter(Boolean).join(' · '),
    },
    screen,
  );
  return [`${askingLine(message, question.note, screen)}\n${page}`, `${text}${cursorHide}`];
});

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
