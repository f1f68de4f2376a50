import {clearScreenDown, emitKeypressEvents, type Interface, moveCursor} from 'node:readline';
import {GoBack, PromptCanceled} from '../ground/errors.ts';
import type {
  CheckboxQuestion,
  InputQuestion,
  ListQuestion,
  Prompter,
  TextQuestion,
} from '../ground/system/system.ts';
import {answeredText, isYes, masked, yesOrNo} from './prompt-text.ts';
import {TerminalInput} from './terminal-input.ts';
import type {TextConfig} from './text-prompt.ts';
import type {Screen} from './theme.ts';

interface Streams {
  input: NodeJS.ReadableStream;
  /** Standard error, so that standard output stays the result. */
  output: NodeJS.WritableStream & {rows?: number};
  signal?: AbortSignal;
  /** Ctrl-C while no question is open. */
  interrupt?(): void;
}

/** The context argument of a prompt of @inquirer. */
interface Context {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  signal: AbortSignal;
  clearPromptOnDone: true;
}

interface Keys {
  canGoBack?: boolean | 'quit' | undefined;
  isList?: boolean;
}

const CLEAR = '\u001B[H\u001B[2J';
/** A window that is dragged changes its size many times. */
const RESIZE_MS = 60;

/** Time in which the bytes of one key arrive, even over a slow connection. */
const ESCAPE_MS = 60;

/** Prompts for terminals that can move the cursor. An answered question is replaced by one line with its answer. */
export const inquirerPrompter = (screen: Screen, streams: Streams): Prompter => {
  // Otherwise Esc waits half a second for the rest of a key sequence, and a second Esc is lost.
  emitKeypressEvents(streams.input, {escapeCodeTimeout: ESCAPE_MS} as unknown as Interface);
  const {output} = streams;
  const terminal = new TerminalInput(streams);
  let above: (() => string) | undefined;
  // The last column stays free: terminals differ in when they wrap.
  const inside = (): Screen & {columns: number} => ({
    ...screen,
    columns: (screen.columns ?? 80) - 1,
  });
  /** The wizard shows the answers of a question with a heading itself. */
  const showAnswer = (
    {message, heading}: {message: string; heading?: readonly string[] | undefined},
    answer: string,
  ): void => {
    if (heading === undefined) output.write(answeredText(message, answer, undefined, screen));
  };

  /** Runs one prompt, and again after the process was stopped and continued, or the window has another size. @throws PromptCanceled, GoBack */
  async function run<T>(keys: Keys, prompt: (context: Context) => Promise<T>): Promise<T> {
    terminal.hold();
    try {
      for (;;) {
        try {
          return await runOnce(terminal, streams, keys, prompt);
        } catch (error) {
          if (!(error instanceof Redraw)) throw error;
          if (above !== undefined) output.write(`${CLEAR}${above()}`);
        }
      }
    } finally {
      terminal.release();
    }
  }

  async function ask(
    question: InputQuestion,
    look: Pick<TextConfig, 'isHidden' | 'isInline'> = {},
  ): Promise<string> {
    const {textPrompt} = await import('./text-prompt.ts');
    const {isPrefilled = false, default: preset = ''} = question;
    const typed = {
      text: isPrefilled ? preset : '',
      hasDefault: preset !== '',
      isHelpOpen: false,
      isToken: false,
    };
    return run(question, (context) =>
      textPrompt({question, ...look, typed, screen: inside, signal: context.signal}, context),
    );
  }

  async function choose(
    question: ListQuestion | CheckboxQuestion,
    kind: 'select' | 'search' | 'checkbox',
  ): Promise<string[]> {
    const {listPrompt} = await import('./prompts.ts');
    const config = {question, kind, chosen: {term: '', isHelpOpen: false}, screen: inside, output};
    const chosen = await run({canGoBack: question.canGoBack, isList: true}, (context) =>
      listPrompt(config, context),
    );
    showAnswer(question, chosen.map(({label}) => label).join(', ') || 'none');
    return chosen.map(({value}) => value);
  }

  return {
    canRedraw: true,
    async confirm(message) {
      const answer = await ask({...yesOrNo(message), canGoBack: true}, {isInline: true}).catch(
        (error: unknown) => {
          if (error instanceof GoBack) return '';
          throw error;
        },
      );
      showAnswer({message}, isYes(answer) ? 'yes' : 'no');
      return isYes(answer);
    },
    async input(question) {
      const answer = await ask(question);
      showAnswer(question, answer || (question.note ?? 'none'));
      return answer;
    },
    async password(question: TextQuestion) {
      terminal.hold();
      try {
        const secret = await ask(question, {isHidden: true});
        showAnswer(question, masked(secret) || (question.note ?? ''));
        await terminal.drain();
        return secret;
      } finally {
        terminal.release();
      }
    },
    select: async (question) => (await choose(question, 'select'))[0] as string,
    search: async (question) => (await choose(question, 'search'))[0] as string,
    checkbox: (question) => choose(question, 'checkbox'),
    async wait(message, promise, heading) {
      const {waitPrompt} = await import('./prompts.ts');
      const config = {
        message,
        until: promise,
        screen: inside,
        ...(heading === undefined ? {} : {heading}),
      };
      await run({}, (context) => waitPrompt(config, context));
      return promise;
    },
    async session(work, shownAbove) {
      terminal.hold();
      above = shownAbove;
      try {
        return await work();
      } finally {
        above = undefined;
        terminal.release();
      }
    },
    erase(lines) {
      moveCursor(output, 0, -lines);
      clearScreenDown(output);
    },
  };
};

/** The question must be drawn again. */
class Redraw extends Error {}

/** Ends the prompt on keys that it does not handle. */
async function runOnce<T>(
  input: TerminalInput,
  {output, signal}: Streams,
  {canGoBack, isList}: Keys,
  prompt: (context: Context) => Promise<T>,
): Promise<T> {
  // A prompt that starts with an aborted signal leaves the terminal in raw mode.
  if (signal?.aborted) throw new PromptCanceled();
  const ended = new AbortController();
  const cancel = (): void => ended.abort(new PromptCanceled());
  // Before the listener of readline, which pauses the input.
  const redraw = (): void => ended.abort(new Redraw());
  let dragging: NodeJS.Timeout | undefined;
  const resize = (): void => {
    clearTimeout(dragging);
    dragging = setTimeout(redraw, RESIZE_MS);
  };
  const hear = (_: string | undefined, {name}: {name?: string}): void => {
    if (canGoBack && (name === 'escape' || (isList && name === 'left'))) ended.abort(new GoBack());
  };
  signal?.addEventListener('abort', cancel);
  process.on('SIGCONT', redraw);
  output.on('resize', resize);
  // Ctrl-D and end of input close the readline of a prompt, which pauses the input. The prompt itself would never settle.
  input.on('keypress', hear).on('pause', cancel);
  try {
    return await prompt({input, output, signal: ended.signal, clearPromptOnDone: true});
  } catch (error) {
    const {name, cause} = error as Error;
    if (name === 'ExitPromptError') throw new PromptCanceled();
    throw name === 'AbortPromptError' ? cause : error;
  } finally {
    clearTimeout(dragging);
    signal?.removeEventListener('abort', cancel);
    process.off('SIGCONT', redraw);
    output.off('resize', resize);
    input.off('keypress', hear).off('pause', cancel);
  }
}
