import {GoBack, PromptCanceled} from '../ground/errors.ts';
import type {
  Choice,
  InputQuestion,
  ListQuestion,
  Prompter,
  TextQuestion,
} from '../ground/system/system.ts';
import {durationText, oneOf} from '../ground/text.ts';
import {ESCAPE_KEY, LineReader, type LineStreams} from './line-reader.ts';
import {leadOf} from './prompt-frame.ts';
import {isYes, noteOf, TOKEN, TOKEN_HERE, yesOrNo} from './prompt-text.ts';
import {TerminalInput} from './terminal-input.ts';
import {paragraph, type Screen} from './theme.ts';

interface Streams extends LineStreams {
  /** Ctrl-C while no question is open. */
  interrupt?(): void;
  /** What is typed is shown without the terminal, as in a buffer of Emacs. */
  isEchoed?: boolean;
}

/** How a line is read. */
interface LineOptions {
  isHidden?: boolean;
  /** What is typed; a list has its question above. */
  typed?: string;
}

/** Removes an answer that Enter alone keeps. */
const NOTHING = '-';
/** Delay before the message of a wait, and the interval at which it is repeated. */
const NOTICE_MS = 1000;
const HEARTBEAT_MS = 30_000;

/** Prompts line by line, for terminals that cannot move the cursor (TERM=dumb) and for screen readers. */
export class LinePrompter implements Prompter {
  readonly canRedraw = false;
  readonly #screen: Screen;
  /** Starts a question; a screen reader would read it as a word. */
  readonly #mark: string;
  readonly #output: NodeJS.WritableStream;
  /** It shows nothing that is typed, because that may be a token. */
  readonly #terminal: TerminalInput | undefined;
  readonly #reader: LineReader;

  constructor(screen: Screen, streams: Streams) {
    const {input, isEchoed = false} = streams;
    this.#screen = screen;
    this.#mark = screen.isAccessible ? '' : '? ';
    this.#output = streams.output;
    const isTerminal = input.isTTY && !isEchoed;
    this.#terminal = isTerminal ? new TerminalInput({...streams, isPlain: true}) : undefined;
    this.#reader = new LineReader({...streams, input: this.#terminal ?? input});
  }

  async confirm(message: string, canGoBack = false): Promise<boolean> {
    return isYes(await this.input({...yesOrNo(message), canGoBack}));
  }

  input(question: InputQuestion): Promise<string> {
    return this.session(() => this.#ask(question));
  }

  password(question: TextQuestion): Promise<string> {
    return this.session(async () => {
      const secret = await this.#ask(question, {isHidden: true});
      await this.#terminal?.drain();
      return secret;
    });
  }

  select(question: ListQuestion): Promise<string> {
    return this.session(() => this.#choose(question));
  }

  search(question: ListQuestion): Promise<string> {
    return this.select(question);
  }

  async wait<T>(message: string, promise: Promise<T>): Promise<T> {
    const notice = setTimeout(() => this.#write('', `${message} …`), NOTICE_MS);
    const start = Date.now();
    const again = setInterval(
      () => this.#write('', `Still working: ${message} (${durationText(Date.now() - start)})`),
      HEARTBEAT_MS,
    );
    const ended = promise.finally(() => {
      clearTimeout(notice);
      clearInterval(again);
    });
    return this.session(() => ended);
  }

  async session<T>(work: () => Promise<T>): Promise<T> {
    this.#terminal?.hold();
    try {
      return await work();
    } finally {
      this.#terminal?.release();
    }
  }

  erase(): void {
    // Lines stay.
  }

  #write(first: string, text: string): void {
    this.#output.write(paragraph(first, text, this.#screen));
  }

  #writeHeading(heading: readonly string[] = []): void {
    for (const line of heading) {
      const lead = leadOf(line);
      this.#write(lead, line.slice(lead.length).replace('\t', ': '));
    }
  }

  async #ask(question: InputQuestion, options: LineOptions = {}): Promise<string> {
    const {isHidden = false} = options;
    const hasPreset = question.isPrefilled === true && question.default !== undefined;
    const mayBeEmptied = hasPreset && (await question.validate?.('')) === undefined;
    this.#writeHeading(question.heading);
    const prompt = this.#promptOf(question, mayBeEmptied, options.typed);
    for (;;) {
      const line = (await this.#reader.read(prompt, isHidden)).trim();
      const typed = isHidden ? await this.#wholeSecret(line, question) : line;
      const command = commandIn(typed, question);
      if (command === 'quit') throw new PromptCanceled();
      if (command === 'back') throw new GoBack();
      if (command === 'help') {
        for (const line of question.help) this.#write('  ', line);
        continue;
      }
      const given = typed || (question.default ?? '');
      const answer = mayBeEmptied && typed === NOTHING ? '' : given;
      const hasToken = !isHidden && answer.search(TOKEN) >= 0;
      const problem = hasToken ? TOKEN_HERE : await question.validate?.(answer);
      if (problem === undefined) {
        const confirmed = question.confirms?.(answer);
        if (confirmed !== undefined) this.#write('  ', confirmed);
        return answer;
      }
      this.#write('  ', this.#screen.isAccessible ? `Invalid answer: ${problem}` : problem);
    }
  }

  /** A secret can be pasted in two lines. */
  async #wholeSecret(line: string, {validate}: InputQuestion): Promise<string> {
    const whole = `${line}${this.#reader.rest}`;
    if (whole === line || (await validate?.(line)) === undefined) return line;
    return (await validate?.(whole)) === undefined ? whole : line;
  }

  /** A screen reader is told the keys, and reads the question of a list above. */
  #promptOf(question: InputQuestion, mayBeEmptied: boolean, typed: string | undefined): string {
    const hint = mayBeEmptied ? `${NOTHING} to clear` : question.note;
    const note = noteOf(question.default, hint);
    const asked = `${question.message}${note === undefined ? '' : ` (${note})`}`;
    const keys = `Type ${oneOf([typed ?? 'an answer', ...commandsOf(question)])}, then Enter`;
    const spoken = typed === undefined ? `${asked}. ${keys}` : keys;
    const text = this.#screen.isAccessible ? spoken : asked;
    return paragraph(this.#mark, `${text}:`, this.#screen).replace(/\n$/, ' ');
  }

  async #choose(question: ListQuestion): Promise<string> {
    const {message, help, heading, note, canGoBack} = question;
    const {laterChoices} = question;
    const later = laterChoices && (await this.wait('Reading the choices', laterChoices));
    const choices = later ?? question.choices;
    // What changes something must be typed.
    const byDefault = question.isConsequential ? undefined : question.default;
    const preset = choices.findIndex(
      ({value, disabled}) => value === byDefault && disabled === undefined,
    );
    this.#writeHeading(heading);
    this.#write(this.#mark, message);
    for (const [index, choice] of choices.entries()) {
      const isPreset = index === preset && this.#screen.isAccessible;
      this.#writeChoice(index + 1, choice, isPreset ? ' (default)' : '');
    }
    const number = await this.#ask(
      {
        help,
        canGoBack,
        message: 'Number',
        default: preset < 0 ? undefined : String(preset + 1),
        note,
        validate: (text) =>
          pick(text, choices) === undefined
            ? `Enter a number from 1 to ${choices.length}`
            : undefined,
      },
      {typed: 'a number'},
    );
    return pick(number, choices) as string;
  }

  #writeChoice(number: number, {label, description, disabled}: Choice, mark: string): void {
    if (disabled === undefined) {
      const about = description === undefined ? '' : ` - ${description}`;
      this.#write(`  ${number}. `, `${label}${mark}${about}`);
    } else {
      const reason = this.#screen.isAccessible ? `not available: ${disabled}` : disabled;
      this.#write('  -. ', `${label} - ${reason}`);
    }
  }
}

/** The words that are not an answer. */
const commandsOf = ({canGoBack = false, help}: InputQuestion): string[] => [
  ...(canGoBack ? ['back'] : []),
  ...(help.length > 0 ? ['help'] : []),
  'quit',
];

function commandIn(typed: string, question: InputQuestion): string | undefined {
  const word = typed.toLowerCase();
  if (commandsOf(question).includes(word)) return word;
  if (typed === ESCAPE_KEY && question.canGoBack) return 'back';
  return typed === '?' ? 'help' : undefined;
}

/** The value of the choice with this number; undefined where it is no answer. */
function pick(typed: string, choices: readonly Choice[]): string | undefined {
  const choice = /^\d+$/.test(typed) ? choices[Number(typed) - 1] : undefined;
  return choice?.disabled === undefined ? choice?.value : undefined;
}
