import {type EventEmitter, once} from 'node:events';
import {clearScreenDown, moveCursor} from 'node:readline';
import {input, search, select} from '@inquirer/prompts';
import {untilAborted} from '../ground/async.ts';
import {GoBack, PromptCanceled, unlessBack} from '../ground/errors.ts';
import type {InputQuestion, ListQuestion, Prompter, TextQuestion} from '../ground/system/system.ts';
import {answeredText, isYes, masked, TOKEN, TOKEN_HERE, yesOrNo} from './prompt-text.ts';
import {dotsText, messageText, promptTheme, rowsOf} from './prompt-theme.ts';
import {Spinner} from './spinner.ts';
import {TerminalInput} from './terminal-input.ts';
import {asciiFallback, type Screen} from './theme.ts';

const CLEAR = '\u001B[H\u001B[2J';
/** Lines below a list: a blank one, the longest meaning, the keys, and the cursor. */
const BELOW_LIST = 7;
/** Why a prompt must be drawn again: facts have arrived, or the whole window is empty. */
const FACTS = Symbol('facts');
const WINDOW = Symbol('window');

/** The context argument of a prompt of @inquirer. */
interface PromptContext {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  signal: AbortSignal;
  clearPromptOnDone: boolean;
}

export interface PromptStreams {
  input: NodeJS.ReadableStream;
  /** Standard error, so that standard output stays the result. */
  output: NodeJS.WritableStream & {rows?: number};
  signal?: AbortSignal;
  /** Ctrl-C while no question is open. */
  interrupt?(): void;
}

type Asked = Pick<ListQuestion, 'message' | 'heading' | 'canGoBack'> & {
  later?: Promise<void> | undefined;
};
type Prompt<T> = (context: PromptContext) => Promise<T>;

/** The prompts of @inquirer/prompts. An answered question is erased; outside the wizard, a line with its answer remains. */
export class InquirerPrompter implements Prompter {
  readonly canRedraw = true;
  readonly #given: Screen;
  readonly #streams: PromptStreams;
  readonly #terminal: TerminalInput;
  #above: (() => string) | undefined;

  constructor(screen: Screen, streams: PromptStreams) {
    this.#given = screen;
    this.#streams = streams;
    this.#terminal = new TerminalInput(streams);
  }

  /** The screen with its present size. The last column stays free: terminals differ in when they wrap. */
  get #screen(): Screen & {columns: number} {
    const {columns = 80} = this.#given;
    return {...this.#given, columns: columns - 1, rows: this.#streams.output.rows || undefined};
  }

  /** A text question, because the prompt for this would show a token that is pasted here. */
  async confirm(message: string, canGoBack = false): Promise<boolean> {
    const question = {...yesOrNo(message), canGoBack: true, ...(this.#above && {heading: []})};
    const asking = this.#askText(question);
    const answer = await (canGoBack ? asking : unlessBack(asking, ''));
    this.#showAnswer({message}, isYes(answer) ? 'yes' : 'no');
    return isYes(answer);
  }

  async input(question: InputQuestion): Promise<string> {
    const answer = await this.#askText(question);
    this.#showAnswer(question, answer || (question.note ?? 'none'));
    return answer;
  }

  password(question: TextQuestion): Promise<string> {
    return this.#held(async () => {
      const secret = await this.#askText(question, true);
      this.#showAnswer(question, masked(secret) || (question.note ?? ''));
      await this.#terminal.drain();
      return secret;
    });
  }

  select = (question: ListQuestion): Promise<string> => this.#choose(question, 'select');

  search = (question: ListQuestion): Promise<string> => this.#choose(question, 'search');

  async #choose(question: ListQuestion, kind: 'select' | 'search'): Promise<string> {
    if (question.isConsequential) this.#terminal.ignoreHastyEnter();
    let {choices} = question;
    const possible = choices.filter(({disabled}) => disabled === undefined);
    let active = (possible.find(({value}) => value === question.default) ?? possible[0])?.value;
    const later = question.laterChoices?.then((found) => {
      choices = found;
    });
    this.#terminal.isForList = kind === 'select';
    const value = await this.#run({...question, later}, (context) => {
      const screen = this.#screen;
      const rows = rowsOf(choices, screen);
      const onActive = (name: string): void => {
        active = rows.find((row) => row.name === name)?.value ?? active;
      };
      const message = messageText(question, screen, kind === 'search');
      const pageSize = Math.max(3, (screen.rows ?? 24) - message.split('\n').length - BELOW_LIST);
      const hidden = rows.length > pageSize ? rows.length : undefined;
      const config = {
        message,
        default: active as string,
        pageSize,
        theme: promptTheme(screen, question, {kind, onActive, rows: hidden}),
      };
      if (kind === 'select') return select({...config, choices: rows}, context);
      const source = (term = '') =>
        rows.filter(({short}) => short.toLowerCase().includes(term.toLowerCase()));
      return search({...config, source}, context);
    }).finally(() => {
      this.#terminal.isForList = false;
    });
    this.#showAnswer(question, choices.find((each) => each.value === value)?.label ?? value);
    return value;
  }

  async #askText(question: InputQuestion, isHidden = false): Promise<string> {
    let typed = question.isPrefilled ? (question.default ?? '') : '';
    let answer = '';
    let hasToken = false;
    const transformer = (text: string): string => {
      typed = text;
      // What is left of a token after an edit may not look like one.
      hasToken = text !== '' && (hasToken || text.search(TOKEN) >= 0);
      if (isHidden) return dotsText(text, question.confirms?.(text), this.#screen);
      return hasToken ? asciiFallback('●'.repeat(text.length), this.#screen) : text;
    };
    const validate = async (text: string): Promise<string | true> => {
      // The prompt answers with the default where the text was deleted.
      answer = question.isPrefilled && typed === '' ? '' : text.trim();
      return (hasToken && !isHidden ? TOKEN_HERE : await question.validate?.(answer)) ?? true;
    };
    await this.#run(question, (context) => {
      const screen = this.#screen;
      const config = {
        message: messageText(question, screen, question.help.length > 0),
        default: typed || question.default || '',
        prefill: typed === '' ? 'tab' : 'editable',
        transformer,
        validate,
        // Nobody sees what would be corrected.
        theme: promptTheme(screen, question, {clearsMistakes: isHidden}),
      } as const;
      return input(config, context);
    });
    return answer;
  }

  async wait<T>(message: string, promise: Promise<T>): Promise<T> {
    const {output, signal = new AbortController().signal} = this.#streams;
    const spinner = new Spinner(message, output, this.#screen);
    try {
      const result = await this.#held(() => untilAborted(promise, signal));
      if (signal.aborted) throw new PromptCanceled();
      return result as T;
    } finally {
      spinner.stop();
    }
  }

  async session<T>(work: () => Promise<T>, above: () => string): Promise<T> {
    this.#above = above;
    return this.#held(work).finally(() => {
      this.#above = undefined;
    });
  }

  erase(lines: number): void {
    moveCursor(this.#streams.output, 0, -lines);
    clearScreenDown(this.#streams.output);
  }

  /** Runs a prompt, and again after Ctrl-Z and fg, in a window of another size, or when facts have arrived. */
  async #run<T>(question: Asked, prompt: Prompt<T>): Promise<T> {
    const {output, signal: interrupt} = this.#streams;
    // A prompt that starts with an aborted signal leaves the terminal in raw mode.
    if (interrupt?.aborted) throw new PromptCanceled();
    const ended = new AbortController();
    const over = new AbortController();
    const endOn = (emitter: EventEmitter, event: string, reason: unknown): void => {
      const happens = once(emitter, event, {signal: over.signal});
      happens.then(() => ended.abort(reason)).catch(() => undefined);
    };
    endOn(output, 'resize', WINDOW);
    endOn(process, 'SIGCONT', WINDOW);
    if (question.canGoBack) endOn(this.#terminal, 'escape', new GoBack());
    // Ctrl-D and end of input close the readline of a prompt, which would never settle.
    endOn(this.#terminal, 'pause', new PromptCanceled());
    void question.later?.then(() => ended.abort(FACTS));
    const signal = AbortSignal.any([ended.signal, ...(interrupt ? [interrupt] : [])]);
    const context = {input: this.#terminal, output, signal, clearPromptOnDone: true};
    try {
      return await this.#held(() => prompt(context));
    } catch (error) {
      const {reason = new PromptCanceled()} = ended.signal;
      if (!/^(Exit|Abort)PromptError$/.test((error as Error).name)) throw error;
      if (reason === FACTS) return await this.#run({...question, later: undefined}, prompt);
      if (reason !== WINDOW) throw reason;
      output.write(`${CLEAR}${this.#above?.() ?? ''}`);
      return await this.#run(question, prompt);
    } finally {
      over.abort();
    }
  }

  async #held<T>(work: () => Promise<T>): Promise<T> {
    this.#terminal.hold();
    return work().finally(() => this.#terminal.release());
  }

  /** The wizard shows its answers itself. */
  #showAnswer({message, heading}: Asked, answer: string): void {
    if (heading !== undefined || this.#above !== undefined) return;
    this.#streams.output.write(answeredText(message, answer, undefined, this.#screen));
  }
}
