import type {Trouble} from '../ports/cluster-api.ts';
import {whyOver} from '../ports/why-over.ts';

/** Why something was ended from outside. */
class Ended extends Error {
  readonly trouble: Trouble;
  constructor(trouble: Trouble) {
    super(trouble.message);
    this.trouble = trouble;
  }
}

/** Looks after one request: ends it when it says nothing for too long, or when nobody wants it any more. */
export class Vigil {
  /** Why it ended the request. */
  trouble: Trouble | undefined;
  readonly #over: AbortSignal;
  readonly #idleMs: number;
  #timer: NodeJS.Timeout | undefined;
  #end: (why: Ended) => void = () => undefined;

  constructor(over: AbortSignal, idleMs: number) {
    this.#over = over;
    this.#idleMs = idleMs;
    over.addEventListener('abort', this.#giveUp, {once: true});
  }

  /** From now on this is how it is ended. */
  endWith(end: (why: Error) => void): void {
    this.#end = end;
    if (this.#over.aborted) this.#giveUp();
  }

  /** It is the other side's turn. */
  wait(): void {
    clearTimeout(this.#timer);
    const seconds = this.#idleMs / 1000;
    this.#timer = setTimeout(() => this.#stop({kind: 'stalled', message: `there was no answer for ${seconds} s`}), this.#idleMs);
  }

  /** The other side said something; how long we take is no fault of it. */
  heard(): void {
    clearTimeout(this.#timer);
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#over.removeEventListener('abort', this.#giveUp);
  }

  /** What a failure means: `before` where no answer had begun. A mistake of ours stays an exception. */
  explain(error: unknown, before: 'unreachable' | 'truncated'): Trouble {
    if (this.trouble) return this.trouble;
    if (error instanceof Ended) return error.trouble;
    const {code, message} = error as NodeJS.ErrnoException;
    if (code === undefined || error instanceof TypeError) throw error;
    return {kind: before, message};
  }

  readonly #giveUp = (): void => this.#stop({kind: 'over', message: whyOver(this.#over)});

  #stop(trouble: Trouble): void {
    this.trouble ??= trouble;
    this.release();
    this.#end(new Ended(this.trouble));
  }
}
