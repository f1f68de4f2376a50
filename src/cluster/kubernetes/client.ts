import type {Readable} from 'node:stream';
import {abortReason} from '../../ground/async.ts';
import type {ApiRequest} from '../../ground/call.ts';
import type {ReadError} from '../../ground/fact.ts';
import {readAtMost} from '../../ground/line-streams.ts';
import type {LogStream} from '../../ground/system/system.ts';

/** Maximum size of a response in memory; a page of a list is much smaller. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

interface Afterwards {
  /** Called when the source ends; reports whether the response is complete. */
  verdict?: () => Promise<ReadError | undefined>;
  /** Always called at the end. */
  release?: () => void;
}

/** Data of a source, and how it ended. */
export function logFrom(
  source: Readable,
  timeout: IdleTimeout,
  {verdict, release}: Afterwards = {},
): LogStream {
  let settle: (error: ReadError | undefined) => void = () => undefined;
  const end = new Promise<ReadError | undefined>((resolve) => {
    settle = resolve;
  });
  const leave = (error: ReadError | undefined): void => {
    timeout.release();
    release?.();
    settle(error);
  };
  // An unread log must also end.
  timeout.endWith((why) => {
    source.destroy(why);
    leave(timeout.error);
  });
  async function* read(): AsyncGenerator<Buffer> {
    let error: ReadError | undefined;
    try {
      timeout.start();
      for await (const chunk of source) {
        timeout.stop();
        yield chunk;
        timeout.start();
      }
      error = await verdict?.();
    } catch (thrown) {
      error = timeout.explain(thrown, 'truncated');
    } finally {
      leave(error);
    }
  }
  return {chunks: read(), end};
}

export async function answerFrom(
  status: number,
  {chunks, end}: LogStream,
  {date, isText = false}: {date?: Date | undefined; isText?: boolean} = {},
): Promise<ApiResult> {
  const bytes = await readAtMost(MAX_ANSWER_BYTES, chunks);
  if (bytes === undefined)
    return {
      error: {
        kind: 'too-large',
        message: `the response is larger than ${MAX_ANSWER_BYTES >> 20} MiB`,
      },
    };
  const error = await end;
  if (error) return {error};
  const text = bytes.toString('utf8');
  return {status, body: isText ? text : parsed(text), ...(date ? {date} : {})};
}

/** The content type is unreliable: the API server labels logs as plain text, and some plain text as JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

class Ended extends Error {
  readonly error: ReadError;
  constructor(error: ReadError) {
    super(error.message);
    this.error = error;
  }
}

/** Aborts a request if the server is silent for too long, or if its signal is aborted. */
export class IdleTimeout {
  error: ReadError | undefined;
  readonly #signal: AbortSignal;
  readonly #idleMs: number;
  #timer: NodeJS.Timeout | undefined;
  #end: (why: Ended) => void = () => undefined;

  constructor(signal: AbortSignal, idleMs: number) {
    this.#signal = signal;
    this.#idleMs = idleMs;
    signal.addEventListener('abort', this.#giveUp, {once: true});
  }

  endWith(end: (why: Error) => void): void {
    this.#end = end;
    if (this.#signal.aborted) this.#giveUp();
  }

  /** Starts the timer: a response is expected. */
  start(): void {
    clearTimeout(this.#timer);
    const seconds = this.#idleMs / 1000;
    this.#timer = setTimeout(
      () => this.#stop({kind: 'stalled', message: `no response for ${seconds} s`}),
      this.#idleMs,
    );
  }

  /** Stops the timer: data has arrived. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#giveUp);
  }

  /** Meaning of an error; `before` if no response had started. Bugs stay exceptions. */
  explain(error: unknown, before: 'unreachable' | 'truncated'): ReadError {
    if (this.error) return this.error;
    if (error instanceof Ended) return error.error;
    const {code, message} = error as NodeJS.ErrnoException;
    if (code === undefined || error instanceof TypeError) throw error;
    // Node.js calls a connection that ends within a response "aborted".
    return {
      kind: before,
      message:
        message === 'aborted'
          ? 'the connection was closed before the response was complete'
          : message,
    };
  }

  readonly #giveUp = (): void => this.#stop({kind: 'aborted', message: abortReason(this.#signal)});

  #stop(error: ReadError): void {
    this.error ??= error;
    this.release();
    this.#end(new Ended(this.error));
  }
}

/** Parsed JSON, or other content as a string. `date` is the clock of the server, if it sends one. */
export type ApiResult =
  | {status: number; body: unknown; date?: Date; error?: undefined}
  | {error: ReadError};

export interface RequestOptions {
  /** Aborts the request and its retries. */
  signal: AbortSignal;
  /** Milliseconds without data from the server; time without a reader does not count. */
  idleMs?: number;
}

export interface GetOptions extends RequestOptions {
  /** Requested media types; a server or kubectl without support for them responds with plain JSON. */
  accept?: string;
  /** The body is text even if it looks like JSON. */
  isText?: boolean;
}

/** Reads from the API server of one cluster. Requests never throw; errors are part of the result. */
export interface ApiReader {
  /** `path` is the escaped API path with its query. */
  get(path: string, options: GetOptions): Promise<ApiResult>;
  /** For large responses, which are never held in memory as a whole; with `follows`, for logs without an end. */
  stream(
    path: string,
    options: RequestOptions & {follows?: boolean},
  ): Promise<LogStream | {error: ReadError}>;
  /** Open requests end as `signal`; no process or socket remains. Can be called twice. */
  close(): Promise<void>;
}

/** Starts with the first request. */
export interface KubernetesClient extends ApiReader {
  /** @throws ExpectedError if kubectl or the cluster in the kubeconfig is missing */
  connect(signal: AbortSignal): Promise<void>;
  /** For access reviews and self subject reviews, which change nothing. */
  post(path: string, body: object, options: RequestOptions): Promise<ApiResult>;
  /** For changes. Undefined if no proxy can run, so that only kubectl itself can make them. @throws ExpectedError like connect */
  send(request: ApiRequest, options: RequestOptions): Promise<ApiResult | undefined>;
}
