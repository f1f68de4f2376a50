import {setTimeout as wait} from 'node:timers/promises';
import {abortReason, anySignal, followSignal, semaphore} from '../../ground/async.ts';
import type {ApiRequest, Call} from '../../ground/call.ts';
import type {ProcessResult} from '../../ground/command-line.ts';
import {onFailure} from '../../ground/errors.ts';
import type {ReadError, ReadErrorKind} from '../../ground/fact.ts';
import type {LogStream, Processes} from '../../ground/system/system.ts';
import {isRetryable} from '../../ground/tool-errors.ts';
import {isWebPage} from '../../ground/web-page.ts';
import {webPageError} from './api-error.ts';
import {type ApiResult, answerFrom, type KubernetesClient} from './client.ts';

export interface Request {
  path: string;
  /** GET by default. */
  method?: ApiRequest['method'];
  body?: string;
  /** Of the body; JSON by default. */
  contentType?: string;
  accept?: string;
  /** Log requests can wait for their reader, queries cannot; followed logs have no end. */
  kind: 'query' | 'log' | 'followed';
  signal: AbortSignal;
  idleMs: number;
  /** Called when the opened stream has ended. */
  release: () => void;
}

/** A success whose content is still unread, or an error. */
export type OpenedStream =
  | {status: number; log: LogStream; date?: Date; error?: undefined}
  | {error: ReadError};

const IDLE_MS = 20_000;

/** Adds retries to `open`, which makes a single attempt. */
export function clientFrom(
  open: (request: Request) => Promise<OpenedStream>,
  end: () => void = () => undefined,
): Omit<KubernetesClient, 'connect'> {
  const closing = new AbortController();
  const retry = retries();
  const ask = async (
    request: Pick<Request, 'method' | 'path' | 'body' | 'contentType' | 'accept'>,
    {
      signal,
      idleMs = IDLE_MS,
      isText = false,
    }: {signal: AbortSignal; idleMs?: number; isText?: boolean},
  ) => {
    const {signal: either, release} = followSignal(signal, closing.signal);
    try {
      return await retry(async () => {
        const opened = await open({
          ...request,
          kind: 'query',
          signal: either,
          idleMs,
          release: () => undefined,
        });
        if (opened.error) return opened;
        const answer = await answerFrom(opened.status, opened.log, {date: opened.date, isText});
        return isText ? answer : withoutWebPage(answer);
      }, either);
    } finally {
      release();
    }
  };
  return {
    get: (path, {accept, ...options}) =>
      ask({path, ...(accept === undefined ? {} : {accept})}, options),
    post: (path, body, options) => ask({method: 'POST', path, body: JSON.stringify(body)}, options),
    send: ({method, path, contentType, body}, options) =>
      ask({method, path, contentType, body: body.reveal()}, options),
    async stream(path, {signal, idleMs = IDLE_MS, follows = false}) {
      const {signal: either, release} = followSignal(signal, closing.signal);
      const opened = await retry(
        () => open({path, kind: follows ? 'followed' : 'log', signal: either, idleMs, release}),
        either,
      );
      if (opened.error === undefined) return opened.log;
      release();
      return opened;
    },
    async close() {
      closing.abort();
      end();
    },
  };
}

/** kubectl itself tells no content type. */
function withoutWebPage(answer: ApiResult): ApiResult {
  if (answer.error || typeof answer.body !== 'string' || !isWebPage(answer.body)) return answer;
  return {error: webPageError({status: answer.status, body: answer.body})};
}

/**
 * Maximum attempts per kind; kubectl refreshes expired credentials after a rejection. A stalled request has used up its time,
 * and all other errors would repeat.
 */
const MAX_ATTEMPTS: Readonly<Partial<Record<ReadErrorKind, number>>> = {
  busy: 5,
  unreachable: 4,
  server: 3,
  truncated: 3,
  'not-logged-in': 2,
};

/** A load balancer without a healthy API server responds with a web page. */
const attemptsFor = ({kind, status = 0}: ReadError): number =>
  MAX_ATTEMPTS[kind === 'web-page' && status >= 500 ? 'server' : kind] ?? 1;

const FIRST_WAIT_MS = 250;
/** If the server requests a longer delay, there is no retry. */
const MAX_WAIT_MS = 30_000;
/** A slow attempt would be slow again: the API server waits for a node. */
const LONG_ATTEMPT_MS = 5000;
/** After this many consecutive requests without a connection, each request gets one attempt until one succeeds. */
const MAX_UNANSWERED = 3;

type Attempt<R> = () => Promise<R>;

/** Shared by all requests of one client. */
function retries(): <R extends {error?: ReadError | undefined}>(
  attempt: Attempt<R>,
  signal: AbortSignal,
) => Promise<R> {
  let unanswered = 0;
  return async (attempt, signal) => {
    for (let tried = 1; ; tried += 1) {
      const start = Date.now();
      const result = await attempt();
      const {error} = result;
      if (error?.kind !== 'unreachable') unanswered = 0;
      if (error === undefined) return result;
      const pause = Math.max(error.retryAfterMs ?? 0, FIRST_WAIT_MS * 2 ** (tried - 1));
      const isLast =
        tried >= attemptsFor(error) ||
        pause > MAX_WAIT_MS ||
        Date.now() - start > LONG_ATTEMPT_MS ||
        unanswered >= MAX_UNANSWERED ||
        signal.aborted;
      if (isLast) {
        if (error.kind === 'unreachable') unanswered += 1;
        return result;
      }
      // Rejected requests must not be retried at the same time.
      await wait(pause * (1 + Math.random() / 4), undefined, {signal}).catch(() => undefined);
      if (signal.aborted) return result;
    }
  };
}

/** Reads with at most `width` requests at once. */
export function limitedClient(client: KubernetesClient, width: number): KubernetesClient {
  const acquire = semaphore(width);
  return {
    ...client,
    async get(path, options) {
      const done = await acquire(options.signal);
      if (done === undefined)
        return {error: {kind: 'aborted', message: `not started: ${abortReason(options.signal)}`}};
      return client.get(path, options).finally(done);
    },
  };
}

/** Sends equal requests only once, unless one was aborted, and does not wait for the response after `until`. */
export function cachedClient(client: KubernetesClient, until: AbortSignal): KubernetesClient {
  const answers = new Map<string, Promise<ApiResult>>();
  const once = (
    question: unknown,
    signal: AbortSignal,
    ask: (signal: AbortSignal) => Promise<ApiResult>,
  ): Promise<ApiResult> => {
    const key = JSON.stringify(question);
    const known = answers.get(key);
    if (known) return known;
    const {signal: either, release} = followSignal(signal, until);
    const answer = ask(either)
      .then((result) => {
        if (result.error?.kind === 'aborted') answers.delete(key);
        return result;
      })
      .finally(release);
    answers.set(key, answer);
    return answer;
  };
  return {
    ...client,
    get: (path, options) =>
      once([path, options.accept], options.signal, (signal) =>
        client.get(path, {...options, signal}),
      ),
    post: (path, body, options) =>
      once([path, body], options.signal, (signal) => client.post(path, body, {...options, signal})),
  };
}

export interface RetryOptions {
  signal: AbortSignal;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

const PAUSES_MS = [500, 1500];

/** For everything that is only read before a plan is created: the same request is sent once. */
export const cachedAccess = <A extends {kubernetes: KubernetesClient; processes: Processes}>(
  access: A,
  options: RetryOptions,
): A => ({
  ...access,
  kubernetes: cachedClient(access.kubernetes, options.signal),
  processes: cachedProcesses(access.processes, options),
});

/**
 * Runs the same call once, retries it while the API server is overloaded, until `signal`; a missing tool counts as a failed call. Only
 * for calls that change nothing.
 */
export function cachedProcesses(processes: Processes, {signal, sleep}: RetryOptions): Processes {
  const outcomes = new Map<string, Promise<ProcessResult>>();

  async function run(call: Call, signal: AbortSignal): Promise<ProcessResult> {
    for (const pause of PAUSES_MS) {
      const outcome = await runOnce(call, signal, processes);
      if (outcome.exitCode === 0 || signal.aborted || !isRetryable(outcome)) return outcome;
      await sleep(pause, signal);
    }
    return runOnce(call, signal, processes);
  }

  const cached = (call: Call, signal: AbortSignal): Promise<ProcessResult> => {
    const key = JSON.stringify(call);
    const known = outcomes.get(key);
    if (known) return known;
    const outcome = run(call, signal).then((result) => {
      if (signal.aborted) outcomes.delete(key);
      return result;
    });
    outcomes.set(key, outcome);
    return outcome;
  };

  return {
    run: (call, {signal: sooner} = {}) => cached(call, sooner ? anySignal(signal, sooner) : signal),
    start(call) {
      const controller = new AbortController();
      const outcome = cached(call, anySignal(signal, controller.signal));
      return {outcome, interrupt: () => controller.abort(), leave: () => undefined};
    },
  };
}

const runOnce = (call: Call, signal: AbortSignal, processes: Processes): Promise<ProcessResult> =>
  processes
    .run(call, {signal})
    .catch(onFailure(({message}) => ({exitCode: 1, stdout: '', stderr: message})));
