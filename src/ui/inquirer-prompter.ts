import {clearScreenDown, moveCursor} from 'node:readline';
import {checkbox, input, search, select} from '@inquirer/prompts';
import {GoBack, PromptCanceled} from '../ground/errors.ts';
import type {
  CheckboxQuestion,
  Choice,
  InputQuestion,
  ListQuestion,
  Prompter,
  TextQuestion,
} from '../ground/system/system.ts';
import {LiveLines} from './live-lines.ts';
import {answeredText, isYes, masked, TOKEN, TOKEN_HERE, yesOrNo} from './prompt-text.ts';
import {
  keysText,
  listMessage,
  pageSizeOf,
  promptTheme,
  rowsOf,
  textMessage,
} from './prompt-theme.ts';
import {
  type PromptContext,
  type PromptEvents,
  type PromptStreams,
  runPrompt,
} from './run-prompt.ts';
import {TerminalInput} from './terminal-input.ts';
import {asciiFallback, type Screen, SPINNER, theme} from './theme.ts';

const HIDE_CURSOR = '\u001B[?25l';
const SHOW_CURSOR = '\u001B[?25h';
const FRAME_MS = 100;
/** No terminal is wide enough to show a token. */
const MOST_DOTS = 32;
const CTRL_U = {name: 'u', ctrl: true, meta: false, shift: false, sequence: '\u0015'};

/** The prompts of @inquirer/prompts. An answered question is erased; one without a heading leaves a line with its answer. */
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
    return {...this.#given, columns: columns - 1, rows: this.#streams.output.rows};
  }

  /** A text question, because the prompt for this would show a token that is pasted here. */
  confirm = async (message: string): Promise<boolean> => {
    const question = {...yesOrNo(message), canGoBack: true};
    const answer = await this.#askText(question, {isInline: true}).catch((error: unknown) => {
      if (error instanceof GoBack) return '';
      throw error;
    });
    this.#showAnswer({message}, isYes(answer) ? 'yes' : 'no');
    return isYes(answer);
  };

  async input(question: InputQuestion): Promise<string> {
    const answer = await this.#askText(question);
    this.#showAnswer(question, answer || (question.note ?? 'none'));
    return answer;
  }

  async password(question: TextQuestion): Promise<string> {
    return this.#held(async () => {
      const secret = await this.#askText(question, {isHidden: true});
      this.#showAnswer(question, masked(secret) || (question.note ?? ''));
      await this.#terminal.drain();
      return secret;
    });
  }

  select = (question: ListQuestion): Promise<string> => this.#choose(question, 'select');

  search = (question: ListQuestion): Promise<string> => this.#choose(question, 'search');

  async #choose(question: ListQuestion, kind: 'select' | 'search'): Promise<string> {
    let {choices} = question;
    const isPossible = ({disabled}: Choice): boolean => disabled === undefined;
    const preset = choices.find(({value}) => value === question.default);
    let active = preset && isPossible(preset) ? preset.value : choices.find(isPossible)?.value;
    let term = '';
    const later = question.laterChoices?.then((found) => {
      choices = found;
    });
    const onActive = (name: string): void => {
      active = rowsOf(choices, this.#screen).find((row) => row.name === name)?.value ?? active;
    };
    const source = (typed = '') => {
      term = typed;
      const matches = ({label}: {label: string}) =>
        label.toLowerCase().includes(typed.toLowerCase());
      return rowsOf(choices.filter(matches), this.#screen);
    };
    const ask = (context: PromptContext): Promise<string> => {
      const screen = this.#screen;
      const keys = keysText(kind, question);
      const config = {
        message: `${listMessage(question, screen)}${kind === 'search' ? '\n  ' : ''}`,
        ...(active === undefined ? {} : {default: active}),
        pageSize: pageSizeOf({...question, choices}, keys, screen),
        theme: promptTheme(screen, {...question, keys, onActive}),
      };
      return kind === 'select'
        ? select({...config, choices: rowsOf(choices, screen)}, context)
        : search({...config, source, initialValue: term}, context);
    };
    const value = await this.#run(ask, {...question, later});
    this.#showAnswer(question, choices.find((each) => each.value === value)?.label ?? value);
    return value;
  }

  async checkbox(question: CheckboxQuestion): Promise<readonly string[]> {
    const {choices} = question;
    const ticked = new Set(question.selected);
    const onActive = (name: string, isTicked: boolean): void => {
      const row = rowsOf(choices, this.#screen).find((each) => each.name === name);
      if (row !== undefined) ticked[isTicked ? 'add' : 'delete'](row.value);
    };
    const ask = (context: PromptContext): Promise<string[]> => {
      const screen = this.#screen;
      const keys = keysText('checkbox', question);
      const rows = rowsOf(choices, screen).map((row) => ({...row, checked: ticked.has(row.value)}));
      const config = {
        message: listMessage(question, screen),
        choices: rows,
        pageSize: pageSizeOf(question, keys, screen),
        shortcuts: {all: null, invert: null},
        theme: promptTheme(screen, {...question, keys, onActive}),
      };
      return checkbox(config, context);
    };
    const values = await this.#run(ask, question);
    const labels = choices.flatMap(({value, label}) => (values.includes(value) ? [label] : []));
    this.#showAnswer(question, labels.join(', ') || 'none');
    return values;
  }

  async #askText(
    question: InputQuestion,
    {isHidden = false, isInline = false}: {isHidden?: boolean; isInline?: boolean} = {},
  ): Promise<string> {
    let typed = question.isPrefilled ? (question.default ?? '') : '';
    let isToken = false;
    let isReplaced = false;
    const transformer = (text: string): string => {
      typed = text;
      // What is left of a token after an edit may not look like one.
      isToken = text !== '' && (isToken || text.search(TOKEN) >= 0);
      if (isHidden) return this.#dots(text, question);
      return isToken ? asciiFallback('●'.repeat(text.length), this.#screen) : text;
    };
    const validate = async (text: string): Promise<string | true> => {
      const isMistaken = isToken && !isHidden;
      const problem = isMistaken ? TOKEN_HERE : await question.validate?.(text.trim());
      isReplaced = problem !== undefined && (isHidden || isMistaken);
      return problem ?? true;
    };
    // Nobody sees what would be completed: a complete secret replaces it, and after an error any text.
    const onText = (text = ''): void => {
      const isWhole = isHidden && question.confirms?.(text) !== undefined;
      if (!isWhole && (!isReplaced || !/^\P{Cc}/u.test(text))) return;
      isReplaced = false;
      this.#terminal.emit('keypress', undefined, CTRL_U);
    };
    const ask = (context: PromptContext): Promise<string> => {
      const config = {
        message: textMessage(question, this.#screen, isInline),
        default: typed || question.default || '',
        prefill: typed === '' ? 'tab' : 'editable',
        transformer,
        validate,
        theme: promptTheme(this.#screen, question),
      } as const;
      return input(config, context);
    };
    return (await this.#run(ask, {...question, onText})).trim();
  }

  /** Dots instead of a secret, its length, and what it is. */
  #dots(text: string, {confirms, heading}: TextQuestion): string {
    const indent = heading === undefined ? '  ' : '   ';
    const {dim, green} = theme(this.#screen);
    const {length} = [...text];
    const about = text === '' ? undefined : confirms?.(text);
    const room = Math.max(1, this.#screen.columns - 24);
    const parts = [
      '●'.repeat(Math.min(length, MOST_DOTS, room)),
      length > MOST_DOTS ? dim(`  ${length} characters`) : '',
      about === undefined ? '' : `\n${indent}${green('✔')} ${about}`,
      text === '' ? '' : HIDE_CURSOR,
    ];
    return asciiFallback(parts.join(''), this.#screen);
  }

  async wait<T>(message: string, promise: Promise<T>): Promise<T> {
    const {output, signal} = this.#streams;
    if (signal?.aborted) throw new PromptCanceled();
    const {draw} = new LiveLines(output);
    let frame = 0;
    const paint = (): void => {
      const mark = theme(this.#screen).cyan(SPINNER[frame % SPINNER.length]);
      frame += 1;
      draw(`${asciiFallback(`${mark}  ${message}`, this.#screen)}${HIDE_CURSOR}\n`);
    };
    paint();
    const timer = setInterval(paint, FRAME_MS);
    const canceled = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => reject(new PromptCanceled()), {once: true});
    });
    try {
      return await this.#held(() => Promise.race([promise, canceled]));
    } finally {
      clearInterval(timer);
      draw('');
      output.write(SHOW_CURSOR);
    }
  }

  async session<T>(work: () => Promise<T>, above: () => string): Promise<T> {
    this.#above = above;
    try {
      return await this.#held(work);
    } finally {
      this.#above = undefined;
    }
  }

  erase(lines: number): void {
    moveCursor(this.#streams.output, 0, -lines);
    clearScreenDown(this.#streams.output);
  }

  #run<T>(prompt: (context: PromptContext) => Promise<T>, events: PromptEvents): Promise<T> {
    const above = (): string | undefined => this.#above?.();
    return runPrompt(prompt, this.#terminal, this.#streams, {...events, above});
  }

  async #held<T>(work: () => Promise<T>): Promise<T> {
    this.#terminal.hold();
    try {
      return await work();
    } finally {
      this.#terminal.release();
    }
  }

  #showAnswer({message, heading}: Pick<ListQuestion, 'message' | 'heading'>, answer: string): void {
    // The wizard shows its answers itself.
    if (heading !== undefined || this.#above !== undefined) return;
    this.#streams.output.write(answeredText(message, answer, undefined, this.#screen));
  }
}
