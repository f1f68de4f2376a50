import width from 'fast-string-width';
import {wrapAnsi} from 'fast-wrap-ansi';
import type {Progress} from '../checks/diagnose/explain.ts';
import type {ExpectedError} from '../ground/errors.ts';
import {headline, type ObjectFinding} from '../ground/finding.ts';
import {durationText} from '../ground/text.ts';
import type {StepState} from '../operations/run-steps.ts';
import type {Step} from '../operations/step.ts';
import {railOf} from './prompt-frame.ts';
import {asciiFallback, paragraph, type Screen, SPINNER, stateMark, theme} from './theme.ts';

/** Some steps have no call. */
type ShownStep = Pick<Step, 'title'> & Partial<Pick<Step, 'call'>>;

/** Shows the work of a command: a line for each finished step, and what is waited for. */
export interface ProgressView {
  /** `runs` names those that the step waits for. */
  onStep(step: ShownStep, state: StepState, runs?: string): void;
  onProgress(lines: readonly Progress[], causes: readonly ObjectFinding[]): void;
  /** Work without steps, until the next piece of news. */
  onWait(text: string): void;
  /** The result, without full stop; `more` is added as further sentences. */
  done(sentence: string, more?: string): void;
  /** Ends the view; with the failure that has ended the work. */
  close(failure?: unknown): void;
}

interface ViewDeps {
  /** Prints above the live lines. */
  say(text: string): void;
  /** Replaces the live lines. */
  draw(text: string): void;
  screen: Screen;
  now(): Date;
}

const FRAME_MS = 100;
/** Where lines cannot be replaced, a wait is reported at this interval. */
const HEARTBEAT_MS = 30_000;
/** More workloads that are waited for are only counted. */
const MOST_LIVE = 4;

/** What runs or is waited for now. */
interface Activity {
  text: string;
  since: number;
  isStep: boolean;
  /** A workload that is not ready. */
  isRow?: boolean;
}

/** Begins with the title, if any; a view without title has neither a rail nor a last line. */
export class TerminalProgress implements ProgressView {
  readonly #deps: ViewDeps;
  readonly #title: string | undefined;
  readonly #start: number;
  /** Start of every line between the title and the end. */
  readonly #rail: string;
  readonly #timer: NodeJS.Timeout;
  /** When each workload, or with an empty name the agent, began to be waited for. */
  readonly #waitingSince = new Map<string, number>();
  /** The last line of each object. */
  readonly #written = new Map<string, string>();
  #rows: readonly Progress[] = [];
  #doing: Activity | undefined;
  #hasStep = false;
  #isDone = false;
  #frame = 0;

  constructor(title: string | undefined, deps: ViewDeps) {
    const {screen, say} = deps;
    this.#deps = deps;
    this.#title = title;
    this.#start = this.#now;
    this.#rail = title === undefined || !screen.isLive ? '' : railOf(screen);
    this.#timer = screen.isLive
      ? setInterval(this.#animate, FRAME_MS)
      : setInterval(this.#reportWait, HEARTBEAT_MS);
    this.#timer.unref();
    const {bold, cyan} = theme(screen);
    if (title !== undefined) say(paragraph(this.#corner(cyan('◆')), bold(title), screen));
  }

  // Fields, because their owner hands them on one by one.
  readonly onStep = ({title, call}: ShownStep, state: StepState, text = ''): void => {
    switch (state) {
      case 'started':
        this.#endStep(false);
        this.#doing = {text: title, since: this.#now, isStep: true};
        this.#hasStep = true;
        break;
      case 'done':
        this.#endStep(true);
        break;
      case 'waiting':
        this.#say('  ', text);
        break;
      case 'ending': {
        const tool = call?.tool ?? 'the step';
        this.#say(
          '',
          `Interrupted: waiting for ${tool} to finish. Press Ctrl-C again to exit immediately.`,
        );
      }
    }
    this.#redraw();
  };

  readonly onProgress = (rows: readonly Progress[], causes: readonly ObjectFinding[]): void => {
    this.#doing = undefined;
    this.#rows = rows;
    for (const row of rows) this.#reportRow(row);
    const areReady = rows.every(({state}) => state === 'ready');
    if (areReady && !this.#waitingSince.has('')) this.#waitingSince.set('', this.#now);
    const mark = `  ${theme(this.#deps.screen).yellow('!')} `;
    for (const cause of causes) {
      const line = this.#railed(mark, headline(cause));
      this.#sayOnce(`cause of ${cause.subject.object}`, line, line);
    }
    this.#redraw();
  };

  readonly onWait = (text: string): void => {
    this.#endStep(false);
    this.#doing = {text, since: this.#now, isStep: false};
    if (!this.#deps.screen.isLive) this.#say('', `${text} …`);
    this.#redraw();
  };

  readonly done = (sentence: string, more?: string): void => {
    this.#endStep(true);
    const last = `${sentence}${this.#elapsed}.`;
    this.#end(more === undefined ? last : `${last} ${more}`);
  };

  readonly close = (failure?: unknown): void => {
    if (this.#isDone) return;
    this.#endStep(failure === undefined);
    const {code = ''} = (failure ?? {}) as Partial<ExpectedError>;
    const ending = failure === undefined ? 'Completed' : (ENDINGS[code] ?? 'Failed');
    this.#end(`${ending}${this.#elapsed}.`);
  };

  get #now(): number {
    return this.#deps.now().getTime();
  }

  get #elapsed(): string {
    return this.#hasStep ? ` after ${durationText(this.#now - this.#start)}` : '';
  }

  /** A sign of the rail; none on a screen without it. */
  #corner(sign: string): string {
    return this.#rail === '' ? '' : asciiFallback(`${sign}  `, this.#deps.screen);
  }

  #railed(mark: string, text: string): string {
    const {screen} = this.#deps;
    const columns = screen.columns && screen.columns - 1 - width(this.#rail);
    return paragraph(mark, text, {...screen, columns}).replace(/^(?=.)/gm, this.#rail);
  }

  #say(mark: string, text: string): void {
    this.#deps.say(this.#railed(mark, text));
  }

  /** Says the line of an object whenever its key changes, which has no time. */
  #sayOnce(object: string, key: string, line: string): void {
    if (this.#written.get(object) !== key) this.#deps.say(line);
    this.#written.set(object, key);
  }

  #timed(text: string, since: number): string {
    return `${text} ${theme(this.#deps.screen).dim(`(${durationText(this.#now - since)})`)}`;
  }

  #reportRow(row: Progress): void {
    const {screen} = this.#deps;
    const since = this.#waitingSince.get(row.object) ?? this.#now;
    this.#waitingSince.set(row.object, since);
    if (screen.isLive && row.state === 'waiting') return;
    // It is still waited for, and can become ready after all.
    const state =
      row.state === 'failing' ? theme(screen).yellow('!') : stateMark(row.state, screen);
    const mark = `${state} `;
    const text = rowText(row);
    const isTimed = row.state === 'ready' && this.#hasStep;
    const line = this.#railed(mark, isTimed ? this.#timed(text, since) : text);
    this.#sayOnce(row.object, `${mark}${text}`, line);
  }

  /** A step that is not done when the next one begins has failed. */
  #endStep(isSuccess: boolean): void {
    const {green, red} = theme(this.#deps.screen);
    const mark = isSuccess ? green('✓') : red('×');
    if (this.#doing?.isStep)
      this.#say(`${mark} `, this.#timed(this.#doing.text, this.#doing.since));
    this.#doing = undefined;
  }

  #end(text: string): void {
    const {screen, say, draw} = this.#deps;
    this.#isDone = true;
    clearInterval(this.#timer);
    if (screen.isLive) draw('');
    const corner = this.#corner(theme(screen).dim('└'));
    if (this.#title !== undefined) say(paragraph(corner, text, screen));
  }

  get #activities(): Activity[] {
    if (this.#doing !== undefined) return [this.#doing];
    const waiting = this.#rows.filter(({state}) => state !== 'ready');
    if (waiting.length > 0)
      return waiting.map((row) => ({
        text: rowText(row),
        since: this.#waitingSince.get(row.object) ?? this.#start,
        isStep: false,
        isRow: true,
      }));
    if (this.#rows.length === 0) return [];
    const since = this.#waitingSince.get('') ?? this.#start;
    return [{text: 'Waiting for the agent to register', since, isStep: false}];
  }

  readonly #reportWait = (): void => {
    const [first] = this.#activities;
    if (first === undefined) return;
    const {say, screen} = this.#deps;
    const text = first.isRow ? `waiting for ${first.text}` : first.text;
    say(paragraph('', this.#timed(`Still working: ${text}`, first.since), screen));
  };

  readonly #animate = (): void => {
    this.#frame += 1;
    this.#redraw();
  };

  #redraw(): void {
    const {screen, draw} = this.#deps;
    if (!screen.isLive || this.#isDone) return;
    const all = this.#activities;
    const lines = all
      .slice(0, MOST_LIVE)
      .map((each, index) => this.#liveLine(each, index === 0 ? this.#clock : ''));
    const left = all.length - MOST_LIVE;
    draw([...lines, ...(left > 0 ? [`${this.#rail}  and ${left} more\n`] : [])].join(''));
  }

  /** The time since the start, without hours before the first one is over. */
  get #clock(): string {
    if (this.#rail === '' || !this.#hasStep) return '';
    const time = new Date(this.#now - this.#start).toISOString().slice(11, 19);
    return time.replace(/^00:/, '');
  }

  /** An activity, with the clock at the right edge. */
  #liveLine({text, since}: Activity, clock: string): string {
    const {screen} = this.#deps;
    const {cyan, dim} = theme(screen);
    const frame = cyan(SPINNER[this.#frame % SPINNER.length] as string);
    const mark = `${this.#rail}${asciiFallback(frame, screen)} `;
    const room = Math.max((screen.columns ?? 80) - 1 - width(mark), 1);
    const timed = asciiFallback(this.#timed(text, since), screen);
    if (clock === '') return `${mark}${cut(timed, room)}\n`;
    const own = cut(timed, room - width(clock) - 2);
    const gap = ' '.repeat(Math.max(room - width(own) - width(clock), 1));
    return `${mark}${own}${gap}${dim(clock)}\n`;
  }
}

const rowText = ({object, text, waitingFor}: Progress): string =>
  `${object}: ${text}${waitingFor === undefined ? '' : `, ${waitingFor}`}`;

const ENDINGS: Readonly<Record<string, string>> = {
  INTERRUPTED: 'Interrupted',
  TIMED_OUT: 'Timed out',
};

/** The first line of a text that is too long. */
function cut(text: string, room: number): string {
  if (width(text) <= room) return text;
  const [first = ''] = wrapAnsi(text, room - 1, {hard: true}).split('\n');
  return `${first}…`;
}
