import {setTimeout as wait} from 'node:timers/promises';
import type {ApiError, ApiErrorKind, LogStream} from '../ports/log-stream.ts';
import {followSignal} from '../signals.ts';
import type {Answer, KubernetesClient} from './client.ts';
import {answerFrom} from './read-answer.ts';

export interface Request {
  path: string;
  /** Sent with POST. */
  body?: string;
  accept?: string;
  /** A log may wait for its reader and a question does not; what is followed has no end. */
  sort: 'question' | 'log' | 'followed';
  over: AbortSignal;
  idleMs: number;
  /** Called once what was opened has ended. */
  release: () => void;
}

/** Success whose content is still to be read, or an error. */
export type Opened = {status: number; log: LogStream; date?: Date; trouble?: undefined} | {trouble: ApiError};

const IDLE_MS = 20_000;

/** Requests with retries on top of `open`, which makes a single attempt. */
export function clientFrom(
  open: (request: Request) => Promise<Opened>,
  end: () => void = () => undefined,
): Omit<KubernetesClient, 'connect'> {
  const closing = new AbortController();
  const retry = retries();
  const ask = async (
    request: Pick<Request, 'path' | 'body' | 'accept'>,
    {over, idleMs = IDLE_MS, isText = false}: {over: AbortSignal; idleMs?: number; isText?: boolean},
  ) => {
    const {signal, release} = followSignal(over, closing.signal);
    try {
      return await retry(async () => {
        const opened = await open({...request, sort: 'question', over: signal, idleMs, release: () => undefined});
        return opened.trouble ? opened : answerFrom(opened.status, opened.log, {date: opened.date, isText});
      }, signal);
    } finally {
      release();
    }
  };
  return {
    get: (path, {accept, ...options}) => ask({path, ...(accept === undefined ? {} : {accept})}, options),
    post: (path, body, options) => ask({path, body: JSON.stringify(body)}, options),
    async stream(path, {over, idleMs = IDLE_MS, follows = false}) {
      const {signal, release} = followSignal(over, closing.signal);
      const opened = await retry(() => open({path, sort: follows ? 'followed' : 'log', over: signal, idleMs, release}), signal);
      if (opened.trouble === undefined) return opened.log;
      release();
      return opened;
    },
    async close() {
      closing.abort();
      end();
    },
  };
}

/**
 * How often each is tried in all; kubectl renews a login that has run out when it is refused. A request that stalled has had its time,
 * and all others would be answered the same way.
 */
const TRIES: Readonly<Partial<Record<ApiErrorKind, number>>> = {busy: 5, unreachable: 4, server: 3, truncated: 3, 'not-logged-in': 2};
const FIRST_WAIT_MS = 250;
/** A server that wants to be left alone for longer is not asked again. */
const LONGEST_WAIT_MS = 30_000;
/** An attempt that took so long would do so again: the API server waits for a node. */
const LONG_ATTEMPT_MS = 5000;
/** After so many requests in a row without a connection, each gets one attempt until one succeeds. */
const HOPELESS = 3;

type Attempt<R> = () => Promise<R>;

/** For all requests of one client together. */
function retries(): <R extends {trouble?: ApiError | undefined}>(attempt: Attempt<R>, over: AbortSignal) => Promise<R> {
  let unanswered = 0;
  return async (attempt, over) => {
    for (let tried = 1; ; tried += 1) {
      const start = Date.now();
      const result = await attempt();
      const {trouble} = result;
      if (trouble?.kind !== 'unreachable') unanswered = 0;
      if (trouble === undefined) return result;
      const pause = Math.max(trouble.retryAfterMs ?? 0, FIRST_WAIT_MS * 2 ** (tried - 1));
      const isLast =
        tried >= (TRIES[trouble.kind] ?? 1) ||
        pause > LONGEST_WAIT_MS ||
        Date.now() - start > LONG_ATTEMPT_MS ||
        unanswered >= HOPELESS ||
        over.aborted;
      if (isLast) {
        if (trouble.kind === 'unreachable') unanswered += 1;
        return result;
      }
      // Requests that were refused together must not come back together.
      await wait(pause * (1 + Math.random() / 4), undefined, {signal: over}).catch(() => undefined);
      if (over.aborted) return result;
    }
  };
}

/** Asks the same question once, whoever asks it, and waits for no answer beyond `until`. */
export function cachedClient(client: KubernetesClient, until: AbortSignal): KubernetesClient {
  const answers = new Map<string, Promise<Answer>>();
  const once = (question: unknown, over: AbortSignal, ask: (over: AbortSignal) => Promise<Answer>): Promise<Answer> => {
    const key = JSON.stringify(question);
    const known = answers.get(key);
    if (known) return known;
    const {signal, release} = followSignal(over, until);
    const answer = ask(signal).finally(release);
    answers.set(key, answer);
    return answer;
  };
  return {
    ...client,
    get: (path, options) => once(path, options.over, (over) => client.get(path, {...options, over})),
    post: (path, body, options) => once([path, body], options.over, (over) => client.post(path, body, {...options, over})),
  };
}
