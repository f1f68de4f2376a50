import type {Readable} from 'node:stream';
import type {ApiError, LogStream} from '../ports/log-stream.ts';
import {abortReason} from '../signals.ts';
import type {Answer} from './client.ts';

/** An answer is held as a whole; a page of a list stays far below. */
const LARGEST_ANSWER = 32 * 1024 * 1024;

interface Afterwards {
  /** The source came to its end by itself; whether that was the end of the answer. */
  verdict?: () => Promise<ApiError | undefined>;
  /** Called however it ended. */
  release?: () => void;
}

/** What comes out of a source, and how that ended. */
export function logFrom(source: Readable, timeout: IdleTimeout, {verdict, release}: Afterwards = {}): LogStream {
  let settle: (trouble: ApiError | undefined) => void = () => undefined;
  const end = new Promise<ApiError | undefined>((resolve) => {
    settle = resolve;
  });
  const leave = (trouble: ApiError | undefined): void => {
    timeout.release();
    release?.();
    settle(trouble);
  };
  // A log that nobody reads has to end too.
  timeout.endWith((why) => {
    source.destroy(why);
    leave(timeout.trouble);
  });
  async function* read(): AsyncGenerator<Buffer> {
    let trouble: ApiError | undefined;
    try {
      timeout.start();
      for await (const chunk of source) {
        timeout.stop();
        yield chunk;
        timeout.start();
      }
      trouble = await verdict?.();
    } catch (error) {
      trouble = timeout.explain(error, 'truncated');
    } finally {
      leave(trouble);
    }
  }
  return {chunks: read(), end};
}

/** An answer that is wanted as a whole. */
export async function answerFrom(
  status: number,
  {chunks, end}: LogStream,
  {date, isText = false}: {date?: Date | undefined; isText?: boolean} = {},
): Promise<Answer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > LARGEST_ANSWER) return {trouble: {kind: 'too-large', message: `the answer is larger than ${LARGEST_ANSWER >> 20} MiB`}};
    parts.push(chunk);
  }
  const trouble = await end;
  if (trouble) return {trouble};
  const text = Buffer.concat(parts).toString('utf8');
  return {status, body: isText ? text : parsed(text), ...(date ? {date} : {})};
}

/** JSON cannot be told from the content type: the API server calls logs plain text and some plain text JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Why something was ended from outside. */
class Ended extends Error {
  readonly trouble: ApiError;
  constructor(trouble: ApiError) {
    super(trouble.message);
    this.trouble = trouble;
  }
}

/** Ends one request when the server is silent for too long, or when its signal comes. */
export class IdleTimeout {
  /** Why it ended the request. */
  trouble: ApiError | undefined;
  readonly #over: AbortSignal;
  readonly #idleMs: number;
  #timer: NodeJS.Timeout | undefined;
  #end: (why: Ended) => void = () => undefined;

  constructor(over: AbortSignal, idleMs: number) {
    this.#over = over;
    this.#idleMs = idleMs;
    over.addEventListener('abort', this.#giveUp, {once: true});
  }

  /** How to end the request from now on. */
  endWith(end: (why: Error) => void): void {
    this.#end = end;
    if (this.#over.aborted) this.#giveUp();
  }

  /** Starts the timer: an answer of the server is expected. */
  start(): void {
    clearTimeout(this.#timer);
    const seconds = this.#idleMs / 1000;
    this.#timer = setTimeout(() => this.#stop({kind: 'stalled', message: `there was no answer for ${seconds} s`}), this.#idleMs);
  }

  /** Stops the timer: the server sent something. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#over.removeEventListener('abort', this.#giveUp);
  }

  /** What a failure means: `before` where no answer had begun. A mistake of ours stays an exception. */
  explain(error: unknown, before: 'unreachable' | 'truncated'): ApiError {
    if (this.trouble) return this.trouble;
    if (error instanceof Ended) return error.trouble;
    const {code, message} = error as NodeJS.ErrnoException;
    if (code === undefined || error instanceof TypeError) throw error;
    return {kind: before, message};
  }

  readonly #giveUp = (): void => this.#stop({kind: 'over', message: abortReason(this.#over)});

  #stop(trouble: ApiError): void {
    this.trouble ??= trouble;
    this.release();
    this.#end(new Ended(this.trouble));
  }
}
