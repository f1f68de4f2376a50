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

type ListKind = 'select' | 'search' | 'checkbox';

interface ShownQuestion {
  message: string;
  heading?: readonly string[] | undefined;
}

/** Prompts for terminals that can move the cursor. An answered question is replaced by one line with its answer. */
export class InquirerPrompter implements Prompter {
  readonly canRedraw = true;
  readonly #given: Screen;
  readonly #streams: Streams;
  readonly #terminal: TerminalInput;
  /** Printed again above a question after a resize. */
  #above: (() => string) | undefined;

  constructor(screen: Screen, streams: Streams) {
    // Otherwise Esc waits half a second for the rest of a key sequence, and a second Esc is lost.
    emitKeypressEvents(streams.input, {escapeCodeTimeout: ESCAPE_MS} as unknown as Interface);
    this.#given = screen;
    this.#streams = streams;
    this.#terminal = new TerminalInput(streams);
  }

  async confirm(message: string): Promise<boolean> {
    const question = {...yesOrNo(message), canGoBack: true};
    const answer = await this.#ask(question, {isInline: true}).catch((error: unknown) => {
      if (error instanceof GoBack) return '';
      throw error;
    });
    this.#showAnswer({message}, isYes(answer) ? 'yes' : 'no');
    return isYes(answer);
  }

  async input(question: InputQuestion): Promise<string> {
    const answer = await this.#ask(question);
    this.#showAnswer(question, answer || (question.note ?? 'none'));
    return answer;
  }

  password(question: TextQuestion): Promise<string> {
    return this.#held(async () => {
      const secret = await this.#ask(question, {isHidden: true});
      this.#showAnswer(question, masked(secret) || (question.note ?? ''));
      await this.#terminal.drain();
      return secret;
    });
  }

  async select(question: ListQuestion): Promise<string> {
    return (await this.#choose(question, 'select'))[0] as string;
  }

  async search(question: ListQuestion): Promise<string> {
    return (await this.#choose(question, 'search'))[0] as string;
  }

  checkbox(question: CheckboxQuestion): Promise<readonly string[]> {
    return this.#choose(question, 'checkbox');
  }

  async wait<T>(message: string, promise: Promise<T>, heading?: readonly string[]): Promise<T> {
    const {waitPrompt} = await import('./prompts.ts');
    const config = {message, until: promise, screen: this.#screen, ...(heading && {heading})};
    await this.#run({}, (context) => waitPrompt(config, context));
    return promise;
  }

  session<T>(work: () => Promise<T>, above: () => string): Promise<T> {
    return this.#held(async () => {
      this.#above = above;
      try {
        return await work();
      } finally {
        this.#above = undefined;
      }
    });
  }

  erase(lines: number): void {
    moveCursor(this.#streams.output, 0, -lines);
    clearScreenDown(this.#streams.output);
  }

  /** The last column stays free: terminals differ in when they wrap. */
  readonly #screen = (): Screen & {columns: number} => ({
    ...this.#given,
    columns: (this.#given.columns ?? 80) - 1,
  });

  /** The wizard shows the answers of a question with a heading itself. */
  #showAnswer({message, heading}: ShownQuestion, answer: string): void {
    if (heading !== undefined) return;
    this.#streams.output.write(answeredText(message, answer, undefined, this.#given));
  }

  async #held<T>(work: () => Promise<T>): Promise<T> {
    this.#terminal.hold();
    try {
      return await work();
    } finally {
      this.#terminal.release();
    }
  }

  /** Runs one prompt, and again after the process was stopped and continued, or the window has another size. @throws PromptCanceled, GoBack */
  #run<T>(keys: Keys, prompt: (context: Context) => Promise<T>): Promise<T> {
    return this.#held(async () => {
      for (;;) {
        try {
          return await runOnce(this.#terminal, this.#streams, keys, prompt);
        } catch (error) {
          if (!(error instanceof Redraw)) throw error;
          if (this.#above) this.#streams.output.write(`${CLEAR}${this.#above()}`);
        }
      }
    });
  }

  async #ask(
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
    const config = {question, ...look, typed, screen: this.#screen};
    return this.#run(question, (context) =>
      textPrompt({...config, signal: context.signal}, context),
    );
  }

  async #choose(question: ListQuestion | CheckboxQuestion, kind: ListKind): Promise<string[]> {
    const {listPrompt} = await import('./prompts.ts');
    const {output} = this.#streams;
    const chosen = {term: '', isHelpOpen: false};
    const config = {question, kind, chosen, screen: this.#screen, output};
    const choices = await this.#run({canGoBack: question.canGoBack, isList: true}, (context) =>
      listPrompt(config, context),
    );
    this.#showAnswer(question, choices.map(({label}) => label).join(', ') || 'none');
    return choices.map(({value}) => value);
  }
}

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
