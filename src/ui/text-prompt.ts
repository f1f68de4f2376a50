import {
  createPrompt,
  isBackspaceKey,
  isEnterKey,
  useEffect,
  useKeypress,
  useState,
} from '@inquirer/core';
import width from 'fast-string-width';
import type {InputQuestion} from '../ground/system/system.ts';
import {escText, frameOf, indented, questionText} from './prompt-frame.ts';
import {noteOf, TOKEN, TOKEN_HERE} from './prompt-text.ts';
import {asciiFallback, type Screen, theme} from './theme.ts';

/** What the user has typed; it outlives a redraw. */
export interface Typed {
  text: string;
  /** The default counts. */
  hasDefault: boolean;
  isHelpOpen: boolean;
  /** The text is hidden until it is empty. */
  isToken: boolean;
}

/** The line of readline. */
interface Line {
  clearLine(direction: 0): void;
  write(text: string): void;
}

export interface TextConfig {
  question: InputQuestion;
  isHidden?: boolean;
  /** The text follows the question on its line. */
  isInline?: boolean;
  typed: Typed;
  /** The screen with its present width. */
  screen(): Screen & {columns: number};
  /** The prompt has ended. */
  signal: AbortSignal;
}

/** No terminal is wide enough to show a token. */
const MOST_DOTS = 32;

/**
 * A line of text. The prompts of @inquirer/prompts cannot hide a token that is typed into the wrong question, show what a secret is
 * while it is pasted, open help or complete a path without asking again, or follow a changed width.
 */
export const textPrompt = createPrompt<string, TextConfig>(
  ({question, isHidden = false, isInline = false, typed, ...config}, done) => {
    const {default: preset = '', validate, complete, help} = question;
    const [text, setText] = useState(typed.text);
    const [hasDefault, setDefault] = useState(typed.hasDefault);
    const [isHelpOpen, openHelp] = useState(typed.isHelpOpen);
    const [problem, setProblem] = useState<string>();
    const [isChecking, setChecking] = useState(false);
    // What is left of a token after an edit may not look like one.
    const isToken = text !== '' && (typed.isToken || text.search(TOKEN) >= 0);
    Object.assign(typed, {text, hasDefault, isHelpOpen, isToken});

    // Nobody sees what would be completed: after an error, new text replaces it.
    const isReplaced = problem !== undefined && (isHidden || isToken);
    const kept = isReplaced ? '' : text;

    const change = (line: string): void => {
      setText(line);
      setProblem(undefined);
    };
    /** A secret is never in the line of readline, whose length moves the cursor. */
    const show = (line: string, rl: Line): void => {
      rl.clearLine(0);
      if (!isHidden) rl.write(line);
      change(line);
    };
    const replace = (line: string, rl: Line): void => {
      typed.isToken = false;
      show(line, rl);
    };
    /** A complete secret replaces what is there. */
    const joined = (before: string, pasted: string): string =>
      question.confirms?.(pasted) === undefined ? before + pasted : pasted;
    const answerOf = (line: string): string => line.trim() || (hasDefault ? preset : '');

    useEffect((rl) => {
      if (!isHidden && typed.text !== '') rl.write(typed.text);
    }, []);
    useEffect(
      (rl) => {
        const paste = (pasted: string): void => {
          if (isChecking) return;
          if (isHidden) show(joined(kept, pasted.replaceAll(/\s+/g, '')), rl);
          else {
            if (isReplaced) replace('', rl);
            rl.write(pasted.replaceAll(/[\r\n\t]+/g, ' ').trim());
            change(rl.line);
          }
        };
        rl.input.on('paste', paste);
        return () => rl.input.off('paste', paste);
      },
      [text, isChecking, problem],
    );

    useKeypress(async (key, rl) => {
      if (isChecking) return;
      const before = rl.line === '' ? text : kept;
      const line = isHidden ? before + rl.line : rl.line;
      if (isEnterKey(key)) {
        setChecking(true);
        const found = isToken && !isHidden ? TOKEN_HERE : await validate?.(answerOf(text));
        // A closed readline must not be written to: that keeps the process alive.
        if (config.signal.aborted) return;
        setChecking(false);
        if (found === undefined) return done(answerOf(text));
        show(text, rl);
        setProblem(found);
      } else if (isBackspaceKey(key)) {
        if (text === '') setDefault(false);
        if (isHidden) show([...text].slice(0, -1).join(''), rl);
        else change(rl.line);
      } else if (isHidden && key.ctrl && key.name === 'u') show('', rl);
      else if (line === '?' && text === '' && help.length > 0) {
        show('', rl);
        openHelp(!isHelpOpen);
      } else if (rl.line.includes('\t')) {
        const typedPath = line.replaceAll('\t', '');
        show(typedPath, rl);
        if (complete !== undefined) show(commonStart(typedPath, await complete(typedPath)), rl);
      } else if (isHidden && rl.line !== '') show(line.replaceAll(/\p{Cc}/gu, ''), rl);
      else if (isReplaced && line.startsWith(text) && line !== text)
        replace(line.slice(text.length), rl);
      else if (!isHidden && line !== text) {
        change(line);
        if (isHelpOpen) openHelp(false);
      }
    });

    return textView(question, {...typed, problem, isHidden, isInline}, config.screen());
  },
);

interface Shown extends Typed {
  problem: string | undefined;
  isHidden: boolean;
  isInline: boolean;
}

/** The question with what was typed, and what is below it. */
function textView(
  question: InputQuestion,
  shown: Shown,
  screen: Screen & {columns: number},
): [string, string | undefined] {
  const {default: preset = '', isPrefilled = false, help} = question;
  const {text, hasDefault, isHelpOpen, problem, isInline} = shown;
  const {dim, red, green} = theme(screen);
  const {mark, first, indent, above} = frameOf(withKeys(question, screen, text === ''), screen);
  const note = isPrefilled ? question.note : noteOf(preset, question.note);
  const lines = [
    ...above,
    `${first}${questionText(question.message, note, screen, indent)}`,
    ...(isHelpOpen ? help.map((line) => indented(dim(line), screen, indent)) : []),
  ].join('\n');
  const hint =
    isPrefilled && hasDefault && preset !== '' && text === ''
      ? dim(`(${preset}, Backspace to clear)`)
      : '';
  const confirmed = text === '' ? undefined : question.confirms?.(text);
  const below = problem === undefined ? confirmed && `${green('✔')} ${confirmed}` : red(problem);
  return [
    `${mark}${lines}${isInline ? ' ' : `\n${indent || '  '}`}${hint}${maskedText(shown, screen)}`,
    below && indented(asciiFallback(below, screen), screen, indent || '  '),
  ];
}

/** The typed text, or dots instead of a secret. */
function maskedText({text, isHidden, isToken}: Shown, screen: Screen): string {
  const dots = (number: number): string => asciiFallback('●'.repeat(number), screen);
  if (!isHidden) return isToken ? dots(width(text)) : text;
  const count = [...text].length;
  const more = count > MOST_DOTS ? theme(screen).dim(`  ${count} characters`) : '';
  return `${dots(Math.min(count, MOST_DOTS))}${more}`;
}

/** The heading with the keys of a text question, if they fit on the line. */
function withKeys(
  {heading, canGoBack = false}: InputQuestion,
  {columns}: {columns: number},
  isEmpty: boolean,
): string[] | undefined {
  if (heading === undefined) return undefined;
  const [step = '', ...lines] = heading;
  // In a text, ? is a character.
  const keys = [
    ...(canGoBack ? [escText(canGoBack)] : []),
    ...(isEmpty ? ['? for help'] : []),
  ].join(' · ');
  const room = columns - 3 - step.length - keys.length;
  return [room < 2 ? step : `${step}${' '.repeat(room)}${keys}`, ...lines];
}

/** The longest text with which all continuations start; the typed text without any. */
function commonStart(typed: string, continuations: readonly string[]): string {
  const [first = typed, ...others] = continuations;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}
