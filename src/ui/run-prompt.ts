import {GoBack, PromptCanceled} from '../ground/errors.ts';
import type {TerminalInput} from './terminal-input.ts';

export interface PromptStreams {
  input: NodeJS.ReadableStream;
  /** Standard error, so that standard output stays the result. */
  output: NodeJS.WritableStream & {rows?: number};
  signal?: AbortSignal;
  /** Ctrl-C while no question is open. */
  interrupt?(): void;
}

/** The context argument of a prompt of @inquirer. */
export interface PromptContext {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  signal: AbortSignal;
  clearPromptOnDone: true;
}

/** What ends a prompt, or draws it again. */
export interface PromptEvents {
  canGoBack?: boolean | 'quit' | undefined;
  /** Called before the prompt hears a key. */
  onText?(text: string | undefined): void;
  /** The prompt is drawn again when it settles. */
  later?: Promise<void> | undefined;
}

/** The prompt must be drawn again. */
class Redraw extends Error {}

/** A window that is dragged changes its size many times. */
const RESIZE_MS = 60;
const CLEAR = '\u001B[H\u001B[2J';

/**
 * Runs a prompt, and again after the process was stopped and continued, the window has another size, or facts have arrived.
 * @throws PromptCanceled, GoBack
 */
export async function runPrompt<T>(
  prompt: (context: PromptContext) => Promise<T>,
  terminal: TerminalInput,
  streams: PromptStreams,
  {later, ...events}: PromptEvents & {above(): string | undefined},
): Promise<T> {
  let facts = later;
  terminal.hold();
  try {
    for (;;) {
      try {
        return await runOnce(prompt, terminal, streams, {...events, later: facts});
      } catch (error) {
        if (error === facts) facts = undefined;
        else if (!(error instanceof Redraw)) throw error;
        else streams.output.write(`${CLEAR}${events.above() ?? ''}`);
      }
    }
  } finally {
    terminal.release();
  }
}

/** Ends the prompt on keys and events that it does not handle. */
async function runOnce<T>(
  prompt: (context: PromptContext) => Promise<T>,
  input: TerminalInput,
  {output, signal}: PromptStreams,
  {canGoBack, onText, later}: PromptEvents,
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
  const hear = (text: string | undefined, {name}: {name?: string}): void => {
    if (canGoBack && name === 'escape') ended.abort(new GoBack());
    else onText?.(text);
  };
  void later?.then(() => ended.abort(later));
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
