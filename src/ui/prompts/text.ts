import {createPrompt, isBackspaceKey, isEnterKey, useEffect, useKeypress, useRef, useState} from '@inquirer/core';
import type {TextQuestion} from '../../ports/prompter.ts';
import type {Screen} from '../theme.ts';
import {answeredLine, askingLine, footer, noteOf} from './frame.ts';

interface Config {
  question: TextQuestion;
  screen: Screen;
}

/** A line of text, judged while it is typed. ? as the first key explains. */
export const textPrompt = createPrompt<string, Config>(({question, screen}, done) => {
  const {message, isSecret = false, isEdited = false} = question;
  const [state, setState] = useState<'asking' | 'checking' | 'done'>('asking');
  const [typed, setTyped] = useState('');
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
      // Enter has emptied the line of the terminal.
      if (!isSecret) rl.write(typed);
      setRefusal(problem);
      setState('asking');
      return;
    }
    const line = isSecret ? hidden(typed, key, rl.line) : rl.line;
    if (isSecret) rl.clearLine(0);
    setRefusal(undefined);
    if (line !== '?') return setTyped(line);
    rl.clearLine(0);
    setTyped('');
    explain(!isExplained);
  });

  // Who says nothing is shown what that means.
  if (state === 'done') return answeredLine(message, shown(typed, isSecret) || (question.note ?? ''), undefined, screen);
  const note = isEdited ? question.note : noteOf(question.default, question.note);
  const problem = refusal ?? (typed.trim() === '' ? undefined : question.problem(typed.trim()));
  const help = isExplained ? question.help : [];
  const keys = question.help.length > 0 && typed === '' && !isExplained ? '? explains' : '';
  const line = isSecret && typed !== '' ? shown(typed, true) : typed;
  return [
    `${askingLine(message, typed === '' ? note : undefined, screen)} ${line}`,
    footer({help, problem, isRefused: refusal !== undefined, keys}, screen),
  ];
});

/** A secret never stands in the line of the terminal, which could be longer than the screen; it is kept here. */
function hidden(typed: string, key: Parameters<typeof isBackspaceKey>[0], line: string): string {
  if (isBackspaceKey(key)) return typed.slice(0, -1);
  return key.ctrl && key.name === 'u' ? '' : typed + line;
}

function shown(text: string, isSecret: boolean): string {
  if (!isSecret) return text;
  return text === '' ? '' : `[hidden, ${text.length} characters]`;
}
