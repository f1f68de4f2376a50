import {StringDecoder} from 'node:string_decoder';
import {stripVTControlCharacters} from 'node:util';
import width from 'fast-string-width';
import {GoBack, PromptCanceled} from '../ground/errors.ts';
import type {
  CheckboxQuestion,
  Choice,
  InputQuestion,
  ListQuestion,
  Prompter,
} from '../ground/system/system.ts';
import {durationText} from '../ground/text.ts';
import {isYes, leadOf, masked, noteOf, TOKEN, TOKEN_HERE, yesOrNo} from './prompt-text.ts';
import {TerminalInput} from './terminal-input.ts';
import {paragraph, type Screen} from './theme.ts';

interface Streams {
  input: NodeJS.ReadableStream & {isTTY?: boolean; setRawMode?(isRaw: boolean): unknown};
  output: NodeJS.WritableStream;
  signal?: AbortSignal;
  /** Ctrl-C while no question is open. */
  interrupt?(): void;
  /** What is typed is shown without the terminal, as in a buffer of Emacs. */
  isEchoed?: boolean;
}

/** Removes an answer that Enter alone keeps. */
const NOTHING = '-';
/** Delay before the message of a wait, and the interval at which it is repeated. */
const NOTICE_MS = 1000;
const HEARTBEAT_MS = 30_000;
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';
const ESCAPE = '\u001b';
const DELETE = '\u007f';
/** Erases a character on the screen, as terminals do it. */
const ERASE = '\b \b';

/** Prompts line by line, for terminals that cannot move the cursor (TERM=dumb) and for screen readers. */
export const linePrompter = (screen: Screen, streams: Streams): Prompter => {
  const {input, isEchoed = false} = streams;
  // It shows nothing that is typed, because that may be a token.
  const terminal =
    input.isTTY && !isEchoed ? new TerminalInput({...streams, isPlain: true}) : undefined;
  const readLine = lineReader({...streams, input: terminal ?? input});
  const write = (first: string, text: string): void =>
    void streams.output.write(paragraph(first, text, screen));

  const writeHeading = (line: string): void =>
    write(leadOf(line), line.slice(leadOf(line).length).replace('\t', ': '));

  /** `what` is typed; a list has its question above. */
  async function ask(question: InputQuestion, isHidden = false, what?: string): Promise<string> {
    const {
      message,
      help,
      heading,
      validate,
      default: preset,
      isPrefilled = false,
      canGoBack = false,
    } = question;
    const mayBeEmptied =
      isPrefilled && preset !== undefined && (await validate?.('')) === undefined;
    for (const line of heading ?? []) writeHeading(line);
    const note = noteOf(preset, mayBeEmptied ? `${NOTHING} to clear` : question.note);
    const {isAccessible = false} = screen;
    const words = [...(canGoBack ? ['back'] : []), ...(help.length > 0 ? ['help'] : []), 'quit'];
    const keys = `Type ${[what ?? 'an answer', ...words].join(', ').replace(/, (?=\w+$)/, ' or ')}, then Enter`;
    const asked = `${message}${note === undefined ? '' : ` (${note})`}`;
    const text = isAccessible ? (what === undefined ? `${asked}. ${keys}` : keys) : asked;
    const prompt = paragraph('? ', `${text}:`, screen).replace(/\n$/, ' ');
    for (;;) {
      const typed = (await readLine(prompt, isHidden)).trim();
      const word = isAccessible && words.includes(typed.toLowerCase()) ? typed.toLowerCase() : '';
      if (word === 'quit') throw new PromptCanceled();
      if (canGoBack && (typed === ESCAPE || word === 'back')) throw new GoBack();
      if (typed === '?' || word === 'help') {
        for (const line of help) write('  ', line);
        continue;
      }
      const answer = mayBeEmptied && typed === NOTHING ? '' : typed || (preset ?? '');
      const problem =
        !isHidden && answer.search(TOKEN) >= 0 ? TOKEN_HERE : await validate?.(answer);
      const confirmed = problem === undefined ? question.confirms?.(answer) : undefined;
      if (confirmed !== undefined) write('  ', confirmed);
      if (problem === undefined) return answer;
      write('  ', isAccessible ? `Invalid answer: ${problem}` : problem);
    }
  }

  async function choose(
    {
      message,
      help,
      heading,
      choices: now,
      laterChoices,
      note,
      canGoBack,
      ...preset
    }: ListQuestion & CheckboxQuestion,
    isSeveral: boolean,
  ): Promise<string[]> {
    const choices = (await laterChoices) ?? now;
    for (const line of heading ?? []) writeHeading(line);
    write('? ', message);
    const presets = preset.selected ?? [preset.default];
    const preselected = choices.flatMap(({value, disabled}, index) =>
      presets.includes(value) && disabled === undefined ? [index + 1] : [],
    );
    for (const [index, {label: name, description, disabled}] of choices.entries()) {
      const label =
        screen.isAccessible && preselected.includes(index + 1)
          ? `${name} (${isSeveral ? 'selected' : 'default'})`
          : name;
      const about =
        disabled !== undefined && screen.isAccessible
          ? `not available: ${disabled}`
          : (disabled ?? description);
      write(
        `  ${disabled === undefined ? index + 1 : '-'}. `,
        about === undefined ? label : `${label} - ${about}`,
      );
    }
    const typed = {
      help,
      canGoBack,
      message: isSeveral ? 'Numbers, separated by spaces' : 'Number',
      ...(preselected.length > 0 ? {default: preselected.join(' ')} : {}),
      ...(isSeveral && preselected.length === 0
        ? {note: 'none'}
        : note === undefined
          ? {}
          : {note}),
      validate: (text: string) =>
        pick(text, choices, isSeveral) === undefined
          ? `Enter a number from 1 to ${choices.length}`
          : undefined,
    };
    const numbers = await ask(
      typed,
      false,
      isSeveral ? 'numbers, separated by spaces' : 'a number',
    );
    return pick(numbers, choices, isSeveral) as string[];
  }

  async function held<T>(work: () => Promise<T>): Promise<T> {
    terminal?.hold();
    try {
      return await work();
    } finally {
      terminal?.release();
    }
  }

  const select = async (question: ListQuestion): Promise<string> =>
    (await held(() => choose(question, false)))[0] as string;
  return {
    canRedraw: false,
    confirm: async (message) => isYes(await held(() => ask(yesOrNo(message)))),
    input: (question) => held(() => ask(question)),
    password: (question) =>
      held(async () => {
        const secret = await ask(question, true);
        await terminal?.drain();
        return secret;
      }),
    select,
    search: select,
    checkbox: (question) => held(() => choose(question, true)),
    async wait(message, promise) {
      const notice = setTimeout(() => write('', `${message} …`), NOTICE_MS);
      const start = Date.now();
      const again = setInterval(
        () => write('', `Still working: ${message} (${durationText(Date.now() - start)})`),
        HEARTBEAT_MS,
      );
      const ended = promise.finally(() => {
        clearTimeout(notice);
        clearInterval(again);
      });
      return held(() => ended);
    },
    session: held,
    erase: () => undefined,
  };
};

/** The choices with these numbers; undefined where that is no answer. */
function pick(typed: string, choices: readonly Choice[], isSeveral: boolean): string[] | undefined {
  const numbers = new Set(typed.split(/[\s,]+/).filter(Boolean));
  const taken = choices.filter(
    ({disabled}, index) => disabled === undefined && numbers.has(String(index + 1)),
  );
  const isAnswer = taken.length === numbers.size && (isSeveral || taken.length === 1);
  return isAnswer ? taken.map(({value}) => value) : undefined;
}

/** What a terminal in raw mode shows of a line: no token. */
const visible = (line: string): string => line.replaceAll(TOKEN, '').replaceAll(/\p{Cc}/gu, '');

/** Reads lines. Lines typed ahead answer the next questions, except on a terminal. @throws PromptCanceled */
function lineReader({
  input,
  output,
  signal,
}: Streams): (prompt: string, isHidden: boolean) => Promise<string> {
  const decoder = new StringDecoder('utf8');
  let ahead = '';
  let isOver = false;
  return (prompt, isHidden) =>
    new Promise((resolve, reject) => {
      let typed = '';
      let shown = '';
      const isRaw = input instanceof TerminalInput;
      /** Writes or erases at the end of the line only, so that a screen reader can follow. */
      const echo = (): void => {
        if (!isRaw || isHidden) return;
        const text = visible(typed);
        const kept = text.startsWith(shown) ? shown : shown.startsWith(text) ? text : '';
        output.write(`${ERASE.repeat(width(shown.slice(kept.length)))}${text.slice(kept.length)}`);
        shown = text;
      };
      const end = (ending?: string): void => {
        input
          .off('data', hear)
          .off('end', close)
          .off('keypress', onEscape)
          .off('continue', onContinue);
        signal?.removeEventListener('abort', cancel);
        input.pause();
        if (isHidden) input.setRawMode?.(false);
        if (ending !== undefined) output.write(`${ending}\n`);
      };
      const cancel = (): void => {
        end('');
        reject(new PromptCanceled());
      };
      const close = (): void => {
        isOver = true;
        cancel();
      };
      const hear = (chunk: Buffer | string): void => {
        ahead += stripVTControlCharacters(typeof chunk === 'string' ? chunk : decoder.write(chunk));
        take();
        // The rest of a paste may be secret too: the next question must not show it.
        if (isHidden || isRaw) ahead = '';
      };
      const onEscape = (): void => {
        typed = ESCAPE;
      };
      const onContinue = (): void => {
        output.write(`${prompt}${shown}`);
      };
      const take = (): void => {
        while (ahead !== '') {
          const key = ahead.charAt(0);
          ahead = ahead.slice(1);
          if (key === '\r' || key === '\n') {
            if (key === '\r') ahead = ahead.replace(/^\n/, '');
            echo();
            if (!isRaw) end(isHidden ? masked(typed) : undefined);
            else end(isHidden || typed.search(TOKEN) >= 0 ? masked(typed) : '');
            resolve(typed);
            return;
          }
          if (key === CTRL_C || key === CTRL_D) {
            cancel();
            return;
          }
          if (key === DELETE || key === '\b') typed = typed.slice(0, -1);
          else typed = key === CTRL_U ? '' : typed + key;
        }
        echo();
      };
      if (signal?.aborted || isOver) return reject(new PromptCanceled());
      signal?.addEventListener('abort', cancel);
      // Before the question, so that nothing typed at once is echoed.
      if (isHidden) input.setRawMode?.(true);
      output.write(prompt);
      input
        .on('data', hear)
        .on('end', close)
        .on('keypress', onEscape)
        .on('continue', onContinue)
        .resume();
      take();
    });
}
