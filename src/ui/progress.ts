import width from 'fast-string-width';
import {wrapAnsi} from 'fast-wrap-ansi';
import type {Cause} from '../checks/diagnose/cause.ts';
import type {Progress} from '../checks/diagnose/explain.ts';
import type {ExpectedError} from '../ground/errors.ts';
import {durationText} from '../ground/text.ts';
import type {StepState} from '../operations/run-steps.ts';
import type {Step} from '../operations/step.ts';
import {railOf} from './prompt-text.ts';
import {asciiFallback, paragraph, type Screen, SPINNER, stateMark, theme} from './theme.ts';

/** Shows the work of a command: a line for each finished step, and what is waited for. */
export interface ProgressView {
  /** `runs` names those that the step waits for. */
  onStep(
    step: Pick<Step, 'title'> & Partial<Pick<Step, 'call'>>,
    state: StepState,
    runs?: string,
  ): void;
  onProgress(lines: readonly Progress[], causes: readonly Cause[]): void;
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
export function progressView(
  title: string | undefined,
  {say, draw, screen, now}: ViewDeps,
): ProgressView {
  const {cyan, dim, bold, yellow, green, red} = theme(screen);
  const time = (): number => now().getTime();
  const start = time();
  const rail = title === undefined || !screen.isLive ? '' : railOf(screen);
  const writeLine = lineWriter(say);
  const waitingSince = new Map<string, number>();
  let [rows, doing, begun, isDone]: [readonly Progress[], Activity | undefined, boolean, boolean] =
    [[], undefined, false, false];
  let frame = 0;

  const railed = (mark: string, text: string): string =>
    paragraph(mark, text, {
      ...screen,
      columns: screen.columns && screen.columns - 1 - width(rail),
    }).replace(/^(?=.)/gm, rail);
  const timed = (text: string, since: number): string =>
    `${text} ${dim(`(${durationText(time() - since)})`)}`;
  const rowText = ({object, text, waitingFor}: Progress): string =>
    `${object}: ${text}${waitingFor === undefined ? '' : `, ${waitingFor}`}`;

  function activities(): Activity[] {
    if (doing !== undefined) return [doing];
    const waiting = rows.filter(({state}) => state !== 'ready');
    if (waiting.length > 0)
      return waiting.map((row) => ({
        text: rowText(row),
        since: waitingSince.get(row.object) ?? start,
        isStep: false,
        isRow: true,
      }));
    return rows.length === 0
      ? []
      : [
          {
            text: 'Waiting for the agent to register',
            since: waitingSince.get('') ?? start,
            isStep: false,
          },
        ];
  }

  function redraw(): void {
    if (!screen.isLive || isDone) return;
    const mark = `${rail}${asciiFallback(cyan(SPINNER[frame % SPINNER.length] as string), screen)} `;
    const room = Math.max((screen.columns ?? 80) - 1 - width(mark), 1);
    const all = activities();
    const clock =
      rail === '' || !begun
        ? ''
        : new Date(time() - start).toISOString().slice(11, 19).replace(/^00:/, '');
    const lines = all.slice(0, MOST_LIVE).map(({text, since}, index) => {
      const end = index === 0 ? clock : '';
      const own = cut(
        asciiFallback(timed(text, since), screen),
        room - (end === '' ? 0 : width(end) + 2),
      );
      return `${mark}${own}${end === '' ? '' : ' '.repeat(Math.max(room - width(own) - width(end), 1)) + dim(end)}\n`;
    });
    draw(
      [
        ...lines,
        ...(all.length > MOST_LIVE ? [`${rail}  and ${all.length - MOST_LIVE} more\n`] : []),
      ].join(''),
    );
  }

  const timer = screen.isLive
    ? setInterval(() => {
        frame += 1;
        redraw();
      }, FRAME_MS)
    : setInterval(() => {
        for (const {text, since, isRow} of activities().slice(0, 1))
          say(
            paragraph(
              '',
              timed(`Still working: ${isRow ? 'waiting for ' : ''}${text}`, since),
              screen,
            ),
          );
      }, HEARTBEAT_MS);
  timer.unref();

  /** A step that is not done when the next one begins has failed. */
  const endStep = (isSuccess: boolean): void => {
    if (doing?.isStep)
      say(railed(isSuccess ? `${green('✓')} ` : `${red('×')} `, timed(doing.text, doing.since)));
    doing = undefined;
  };
  const ending = (text: string): void => {
    isDone = true;
    clearInterval(timer);
    if (screen.isLive) draw('');
    if (title !== undefined)
      say(paragraph(rail === '' ? '' : asciiFallback(`${dim('└')}  `, screen), text, screen));
  };
  const elapsed = (): string => (begun ? ` after ${durationText(time() - start)}` : '');

  if (title !== undefined)
    say(paragraph(rail === '' ? '' : asciiFallback(`${cyan('◆')}  `, screen), bold(title), screen));
  return {
    onStep(step, state, runs = '') {
      if (state === 'started') {
        endStep(false);
        [doing, begun] = [{text: step.title, since: time(), isStep: true}, true];
      } else if (state === 'done') endStep(true);
      else if (state === 'waiting') say(railed('  ', `In flight: ${runs}`));
      else
        say(
          railed(
            '',
            `Interrupted: waiting for ${step.call?.tool ?? 'the step'} to finish. Press Ctrl-C again to exit immediately.`,
          ),
        );
      redraw();
    },
    onProgress(lines, causes) {
      doing = undefined;
      rows = lines;
      for (const each of lines) {
        const since = waitingSince.get(each.object) ?? time();
        waitingSince.set(each.object, since);
        const mark = `${stateMark(each.state, screen)} `;
        const line = railed(
          mark,
          each.state === 'ready' && begun ? timed(rowText(each), since) : rowText(each),
        );
        if (!screen.isLive || each.state !== 'waiting')
          writeLine(each.object, line, `${mark}${rowText(each)}`);
      }
      if (lines.every(({state}) => state === 'ready') && !waitingSince.has(''))
        waitingSince.set('', time());
      for (const {object, reason} of causes)
        writeLine(`cause of ${object}`, railed(`  ${yellow('!')} `, `${object}: ${reason}`));
      redraw();
    },
    onWait(text) {
      endStep(false);
      doing = {text, since: time(), isStep: false};
      if (!screen.isLive) say(railed('', `${text} …`));
      redraw();
    },
    done(sentence, more) {
      endStep(true);
      ending([`${sentence}${elapsed()}.`, ...(more === undefined ? [] : [more])].join(' '));
    },
    close(failure) {
      if (isDone) return;
      endStep(failure === undefined);
      const {code} = (failure ?? {}) as Partial<ExpectedError>;
      ending(
        `${failure === undefined ? 'Completed' : (ENDINGS[code ?? ''] ?? 'Failed')}${elapsed()}.`,
      );
    },
  };
}

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

/** Writes the line of an object whenever its state changes; `key` stands for a line that contains a time. */
function lineWriter(
  write: (text: string) => void,
): (object: string, line: string, key?: string) => void {
  const last = new Map<string, string>();
  return (object, line, key = line) => {
    if (last.get(object) !== key) write(line);
    last.set(object, key);
  };
}
