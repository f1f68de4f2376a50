import {createPrompt, isBackspaceKey, isEnterKey, useEffect, useKeypress, useRef, useState} from '@inquirer/core';
import width from 'fast-string-width';
import type {TextQuestion} from '../../ports/prompter.ts';
import {theme} from '../theme.ts';
import {answeredText, askingLines, below, helpLines, masked, noteOf} from './frame.ts';
import {fewRows, rowsOf} from './input.ts';
import {cursorOf, type Frame, type Place, useWindow} from './window.ts';

interface Config extends Place {
  question: TextQuestion;
  /** How an answer is shown once it is given. */
  shown?: (answer: string) => string;
}

/** A line of text, judged while it is typed. ? as the first key explains. */
export const textPrompt = createPrompt<string, Config>(({question, shown, ...place}, done) => {
  const {message, isSecret = false, isEdited = false} = question;
  const {screen, draw} = useWindow(place);
  const [state, setState] = useState<'asking' | 'checking' | 'done'>('asking');
  const [typed, setTyped] = useState('');
  const [cursor, setCursor] = useState(0);
  const [refusal, setRefusal] = useState<string | undefined>(undefined);
  const [isExplained, explain] = useState(false);
  const isGone = useRef(false);

  useEffect(
    () => () => {
      isGone.current = true;
    },
    [],
  );
  useEffect((rl) => {
    if (!isEdited || question.default === undefined) return;
    rl.write(question.default);
    setTyped(question.default);
    setCursor(cursorOf(rl));
  }, []);

  useKeypress(async (key, rl) => {
    if (state !== 'asking') return;
    if (isEnterKey(key)) {
      const text = typed.trim() === '' && !isEdited ? (question.default ?? '') : typed.trim();
      setState('checking');
      const problem = question.problem(text) ?? (await question.check?.(text));
      // Ctrl-C came meanwhile: a closed line that is written to would hold the program.
      if (isGone.current) return;
      if (problem === undefined) {
        setTyped(text);
        setState('done');
        done(text);
        return;
      }
      // Enter has emptied the line of the terminal, and what was typed since is no part of it.
      rl.clearLine(0);
      if (!isSecret) rl.write(typed);
      setCursor(cursorOf(rl));
      setRefusal(problem);
      setState('asking');
      return;
    }
    const line = isSecret ? hidden(typed, key, rl.line) : rl.line;
    if (isSecret) rl.clearLine(0);
    if (line !== typed) setRefusal(undefined);
    if (line === '?' && typed === '') {
      rl.clearLine(0);
      return explain(!isExplained);
    }
    setTyped(line);
    setCursor(cursorOf(rl));
  });

  if (state === 'done') {
    // Who says nothing is shown what that means.
    const answer = shown?.(typed) ?? (isSecret ? masked(typed) : typed);
    const lines = answeredText(message, answer || (question.note ?? ''), undefined, screen)
      .trimEnd()
      .split('\n');
    return draw({lines, cursor: {column: 0, up: 0}, footer: []});
  }
  const note = isEdited ? question.note : noteOf(question.default, question.note);
  const problem = refusal ?? (typed.trim() === '' ? undefined : question.problem(typed.trim()));
  const {dim, red} = theme(screen);
  const text = isSecret ? masked(typed) : typed;
  return draw({
    ...typedInto(askingLines(message, note, screen), text, isSecret ? text.length : cursor, screen.columns),
    footer: [
      ...(problem === undefined ? [] : below(problem, refusal === undefined ? (said) => said : red, screen)),
      ...helpLines(isExplained ? question.help : [], screen),
      ...(question.help.length > 0 && typed === '' && !isExplained ? below('? explains', dim, screen) : []),
    ],
  });
});

/** Behind the question where there is room, else on lines of its own. */
function typedInto(asking: readonly string[], text: string, at: number, columns: number): Pick<Frame, 'lines' | 'cursor'> {
  const last = asking.at(-1) as string;
  const start = width(last) + 1;
  if (start + width(text) < columns) {
    const {rows, column} = rowsOf(text, at, columns);
    return {lines: [...asking.slice(0, -1), `${last} ${rows[0]}`], cursor: {column: start + column, up: 0}};
  }
  const {rows, row, column} = fewRows(rowsOf(text, at, columns - 2));
  return {lines: [...asking, ...rows.map((each) => `  ${each}`)], cursor: {column: 2 + column, up: rows.length - 1 - row}};
}

/** A secret never stands in the line of the terminal, which is drawn and remembered; it is kept here. */
function hidden(typed: string, key: Parameters<typeof isBackspaceKey>[0], line: string): string {
  if (isBackspaceKey(key)) return typed.slice(0, -1);
  return key.ctrl && key.name === 'u' ? '' : typed + line;
}
