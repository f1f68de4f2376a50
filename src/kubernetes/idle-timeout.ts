import type {ApiError} from '../ports/log-stream.ts';
import {abortReason} from '../ports/signals.ts';

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
