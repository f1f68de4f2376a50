import {clearScreenDown, emitKeypressEvents, type Interface, moveCursor} from 'node:readline';
import {GoBack, PromptCancelled} from '../ground/errors.ts';
import type {CheckboxQuestion, ListQuestion, Prompter, TextQuestion} from '../ports/prompter.ts';
import {answeredText, frameOf, indented, masked, noteOf, questionText} from './prompt-text.ts';
import {type Screen, theme} from './theme.ts';

interface Streams {
  input: NodeJS.ReadableStream;
  /** Standard error, so that standard output stays the result. */
  output: NodeJS.WritableStream & {rows?: number};
  /** Cancels the question. */
  signal?: AbortSignal;
}

/** The context argument of a prompt of @inquirer. */
type Context = Required<Streams> & {clearPromptOnDone: true};

/** Time in which the bytes of one key arrive, even over a slow connection. */
const ESCAPE_MS = 60;

/** Prompts for terminals that can move the cursor. An answered question is replaced by one line with its answer. */
export const inquirerPrompter = (screen: Screen, streams: Streams): Prompter => {
  // Otherwise Esc waits half a second for the rest of a key sequence, and a second Esc is lost.
  emitKeypressEvents(streams.input, {escapeCodeTimeout: ESCAPE_MS} as unknown as Interface);
  const {dim, red} = theme(screen);
  // The last column stays free: terminals differ in when they wrap.
  const inside = (): Screen & {columns: number} => ({...screen, columns: (screen.columns ?? 80) - 1});
  const look = (mark: string, indent: string) => ({
    prefix: mark,
    spinner: {interval: 1000, frames: [mark]},
    style: {
      message: (text: string) => text,
      answer: (text: string) => text,
      defaultAnswer: (text: string) => dim(`(${text})`),
      error: (text: string) => indented(red(text), inside(), indent || '  '),
    },
  });
  /** The wizard shows the answers of a question with a heading itself. */
  const showAnswer = ({message, heading}: {message: string; heading?: readonly string[] | undefined}, answer: string): void => {
    if (heading === undefined) streams.output.write(answeredText(message, answer, undefined, screen));
  };

  /** Prompts for text on a separate line, and toggles help if ? is the first key. */
  async function ask(
    {message, note, help, heading, validate, canGoBack, ...keys}: TextQuestion & {hasTab?: boolean},
    prompt: (
      config: {message: string; validate(text: string): Promise<string | true>; theme: ReturnType<typeof look>},
      context: Context,
    ) => Promise<string>,
    source: Streams = streams,
  ): Promise<string> {
    for (let isHelpOpen = false; ; isHelpOpen = !isHelpOpen) {
      const {mark, first, indent, above} = frameOf(heading && withKeys(heading, canGoBack, inside()), inside());
      const explained = isHelpOpen ? help.map((line) => indented(dim(line), inside(), indent)) : [];
      const question = `${first}${questionText(message, note, inside(), indent)}`;
      const lines = [...above, question, ...explained, indent.slice(0, -1) || ' '].join('\n').slice(1);
      const typed = await run(source, {canGoBack, hasHelp: help.length > 0, ...keys}, (context) => {
        const validated = async (text: string): Promise<string | true> => {
          const problem = await validate?.(text.trim());
          // After Ctrl-C the prompt would write the refused text into its closed readline, which keeps the process alive.
          return context.signal.aborted ? new Promise(() => undefined) : (problem ?? true);
        };
        return prompt({message: lines, validate: validated, theme: look(mark, indent)}, context);
      }).catch((error: unknown) => {
        if (!(error instanceof HelpAsked)) throw error;
      });
      if (typed !== undefined) return typed.trim();
    }
  }

  async function choose(question: ListQuestion | CheckboxQuestion, kind: 'select' | 'search' | 'checkbox'): Promise<string[]> {
    const {listPrompt} = await import('./prompts.ts');
    const config = {question, kind, screen: inside, output: streams.output};
    const chosen = await run(streams, {canGoBack: question.canGoBack, isList: true}, (context) => listPrompt(config, context));
    showAnswer(question, chosen.map(({label}) => label).join(', ') || 'none');
    return chosen.map(({value}) => value);
  }

  return {
    canRedraw: true,
    async confirm(message) {
      const {confirm} = await import('./prompts.ts');
      const config = {message: questionText(message, undefined, inside()), default: false, theme: look(theme(screen).cyan('?'), '  ')};
      const answer = await run(streams, {canGoBack: true}, (context) => confirm(config, context)).catch((error: unknown) => {
        if (error instanceof GoBack) return false;
        throw error;
      });
      showAnswer({message}, answer ? 'yes' : 'no');
      return answer;
    },
    async input({default: preset = '', isPrefilled, complete, ...question}) {
      const {input} = await import('./prompts.ts');
      const {note, validate} = question;
      const defaultAnswer = (text: string): string => dim(`(${text}, Backspace to clear)`);
      const answerOf = (text: string): string => (isPrefilled ? text : text || preset);
      const asked = {
        ...question,
        hasTab: complete !== undefined,
        note: isPrefilled ? note : noteOf(preset, note),
        validate: (text: string) => validate?.(answerOf(text)),
      };
      let completed: string | undefined;
      for (;;) {
        let text = '';
        const filled = isPrefilled || completed !== undefined ? {default: completed ?? preset, prefill: 'editable' as const} : {};
        const transformer = (value: string): string => {
          text = value;
          return value;
        };
        const typed = await ask(asked, (config, context) => {
          const look = {...config.theme, style: {...config.theme.style, defaultAnswer}};
          return input({...config, ...filled, transformer, theme: look}, context);
        }).catch(async (error: unknown) => {
          if (!(error instanceof TabPressed)) throw error;
          completed = commonStart(text.replaceAll('\t', ''), (await complete?.(text.replaceAll('\t', ''))) ?? []);
        });
        if (typed === undefined) continue;
        showAnswer(question, answerOf(typed) || (note ?? 'none'));
        return answerOf(typed);
      }
    },
    async password(question) {
      const {password} = await import('./prompts.ts');
      const {withPastedLine} = await import('./pasted-text.ts');
      const secret = await withPastedLine(streams, (joined) =>
        ask(question, (config, context) => password({...config, mask: '*', toggleMask: false}, context), {...streams, input: joined}),
      );
      showAnswer(question, masked(secret) || (question.note ?? ''));
      return secret;
    },
    select: async (question) => (await choose(question, 'select'))[0] as string,
    search: async (question) => (await choose(question, 'search'))[0] as string,
    checkbox: (question) => choose(question, 'checkbox'),
    async wait(message, promise, heading) {
      const {waitPrompt} = await import('./prompts.ts');
      const config = {message, until: promise, screen: inside, ...(heading === undefined ? {} : {heading})};
      await run(streams, {}, (context) => waitPrompt(config, context));
      return promise;
    },
    erase(lines) {
      moveCursor(streams.output, 0, -lines);
      clearScreenDown(streams.output);
    },
  };
};

/** The heading with the keys of a text question, if they fit on the line. */
function withKeys([step = '', ...lines]: readonly string[], canGoBack: boolean | undefined, {columns}: {columns: number}): string[] {
  const keys = `${canGoBack ? 'Esc to go back · ' : ''}? for help`;
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

/** Tab was pressed. */
class TabPressed extends Error {}

/** The first key was ?. */
class HelpAsked extends Error {}

/** The process was stopped with Ctrl-Z and continued with fg. */
class Continued extends Error {}

/** Runs one prompt, and asks again when the process was stopped and continued. @throws PromptCancelled, GoBack, HelpAsked, TabPressed */
async function run<T>(...args: Parameters<typeof runOnce<T>>): Promise<T> {
  for (;;) {
    try {
      return await runOnce(...args);
    } catch (error) {
      if (!(error instanceof Continued)) throw error;
    }
  }
}

/** Ends the prompt on keys that it does not handle. */
async function runOnce<T>(
  {input, output, signal}: Streams,
  {canGoBack, hasHelp, hasTab, isList}: {canGoBack?: boolean | undefined; hasHelp?: boolean; hasTab?: boolean; isList?: boolean},
  prompt: (context: Context) => Promise<T>,
): Promise<T> {
  // A prompt that starts with an aborted signal leaves the terminal in raw mode.
  if (signal?.aborted) throw new PromptCancelled();
  const ended = new AbortController();
  const cancel = (): void => ended.abort(new PromptCancelled());
  // Before the listener of readline, which pauses the input.
  const redraw = (): void => ended.abort(new Continued());
  let isFirst = true;
  const hear = (typed: string | undefined, {name}: {name?: string}): void => {
    if (canGoBack && (name === 'escape' || (isList && name === 'left'))) ended.abort(new GoBack());
    if (hasTab && name === 'tab') ended.abort(new TabPressed());
    if (hasHelp && isFirst && typed === '?') ended.abort(new HelpAsked());
    isFirst = false;
  };
  signal?.addEventListener('abort', cancel);
  process.on('SIGCONT', redraw);
  // Ctrl-D and end of input close the readline of a prompt, which pauses the input. The prompt itself would never settle.
  input.on('keypress', hear).on('pause', cancel);
  try {
    return await prompt({input, output, signal: ended.signal, clearPromptOnDone: true});
  } catch (error) {
    const {name, cause} = error as Error;
    if (name === 'ExitPromptError') throw new PromptCancelled();
    throw name === 'AbortPromptError' ? cause : error;
  } finally {
    signal?.removeEventListener('abort', cancel);
    process.off('SIGCONT', redraw);
    input.off('keypress', hear).off('pause', cancel);
  }
}
