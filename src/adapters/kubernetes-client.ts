import {once} from 'node:events';
import {ExpectedError} from '../errors.ts';
import type {KubernetesClient} from '../kubernetes/client.ts';
import {httpClient} from '../kubernetes/http-client.ts';
import {proxy} from '../kubernetes/kubectl.ts';
import type {ApiError} from '../ports/log-stream.ts';
import type {Place} from '../ports/processes.ts';
import {anySignal, followSignal} from '../signals.ts';
import {toolFailure} from '../tool-errors.ts';
import {type ApiProxy, type NoProxy, startProxy} from './kubectl-proxy.ts';
import {rawClient} from './kubectl-raw.ts';
import {isUnknownToWindows, notThere, type ToolPaths} from './node-processes.ts';

/** Exit statuses of a shell whose command is not there, or may not be run. */
const NOT_THERE = 127;
const NOT_RUNNABLE = 126;

type Requests = Omit<KubernetesClient, 'connect' | 'close'>;

/**
 * The API server by the operator's own kubectl: one `kubectl proxy` for all requests, and a kubectl for each where no proxy can run.
 * Nothing starts before the first request.
 */
export function kubernetesClient(place: Place, {kubectl = 'kubectl'}: ToolPaths = {}): KubernetesClient {
  const closing = new AbortController();
  const raw = rawClient(place, kubectl);
  let made: Promise<Connection> | undefined;
  const connection = (over: AbortSignal, until: AbortSignal = closing.signal): Promise<Connection> => {
    made ??= connect(place, kubectl, until);
    return orAborted(made, over);
  };
  const ask = async <R extends {trouble?: ApiError | undefined}>(
    over: AbortSignal,
    question: (requests: Requests) => Promise<R>,
  ): Promise<R | {trouble: ApiError}> => {
    let connected: Connection;
    try {
      connected = await connection(over);
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      return {trouble: {kind: 'unreachable', message: error.message, cause: error}};
    }
    const {proxied, isAlive} = connected;
    const answer = proxied && isAlive() ? await question(proxied) : undefined;
    return answer === undefined || (answer.trouble?.kind === 'unreachable' && !isAlive()) ? question(raw) : answer;
  };
  let closed: Promise<unknown> | undefined;
  return {
    async connect(over) {
      await connection(closing.signal, anySignal(over, closing.signal));
    },
    get: (path, options) => ask(options.over, (requests) => requests.get(path, options)),
    post: (path, body, options) => ask(options.over, (requests) => requests.post(path, body, options)),
    stream: (path, options) => ask(options.over, (requests) => requests.stream(path, options)),
    async close() {
      closing.abort();
      closed ??= Promise.all([
        raw.close(),
        made?.then(
          ({close}) => close(),
          () => undefined,
        ),
      ]);
      await closed;
    },
  };
}

interface Connection {
  /** Undefined where no proxy can run. */
  proxied?: Requests;
  isAlive(): boolean;
  close(): Promise<void>;
}

const NONE: Connection = {isAlive: () => false, close: async () => undefined};

/** @throws ExpectedError when there is no kubectl, or no such cluster */
async function connect(place: Place, kubectl: string, over: AbortSignal): Promise<Connection> {
  const started: ApiProxy | NoProxy = await startProxy((socket) => proxy(place, socket), kubectl, over);
  if ('call' in started) {
    refuse(started, kubectl);
    if (await isUnknownToWindows(kubectl)) throw notThere('kubectl', kubectl, false);
    return NONE;
  }
  const {socketPath, isAlive, stop} = started;
  const {close, ...proxied} = httpClient(socketPath);
  return {
    proxied,
    isAlive,
    async close() {
      await Promise.all([close(), stop()]);
    },
  };
}

/** A proxy that starts slowly is not waited for beyond the signal; the request itself then ends as `over`. */
async function orAborted(made: Promise<Connection>, over: AbortSignal): Promise<Connection> {
  const {signal, release} = followSignal(over);
  const aborted = signal.aborted ? Promise.resolve(NONE) : once(signal, 'abort').then(() => NONE);
  try {
    return await Promise.race([made, aborted]);
  } finally {
    release();
  }
}

/** What would be refused to every kubectl fails at once; for anything else there is the other way. */
function refuse({call, outcome}: NoProxy, kubectl: string): void {
  if (outcome === undefined) return;
  const {exitCode} = outcome;
  if (exitCode === NOT_THERE || exitCode === NOT_RUNNABLE) throw notThere('kubectl', kubectl, exitCode === NOT_RUNNABLE);
  const failure = toolFailure(call, outcome);
  if (failure.code !== 'TOOL_FAILED' && !/no answer in time/.test(outcome.stderr)) throw failure;
}
