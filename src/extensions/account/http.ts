import type {IncomingHttpHeaders, IncomingMessage} from 'node:http';
import {type Agent, request} from 'node:https';
import {withTimeout} from '../../ground/async.ts';
import {networkReason, ProxyError} from '../../ground/connect.ts';
import {ExpectedError} from '../../ground/errors.ts';
import {retryAfter} from '../../ground/fact.ts';
import {readAtMost} from '../../ground/line-streams.ts';
import type {Secret} from '../../ground/secret.ts';
import {type AccountRef, type Purpose, responseFailure, unreachable} from './failure.ts';
import {agentFor, type ScalrRoute} from './route.ts';

export interface ScalrOptions extends AccountRef {
  token: Secret;
  route: ScalrRoute;
  /** Of this program, for the User-Agent header. */
  version: string;
  signal: AbortSignal;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** For one attempt. */
  timeoutMs?: number;
}

interface HttpRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below /api/iacp/v3. */
  path: string;
  query?: Readonly<Record<string, string>>;
  body?: object | undefined;
}

export interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

const BASE = '/api/iacp/v3';
const MEDIA_TYPE = 'application/vnd.api+json';
const TIMEOUT_MS = 30_000;
/** Scalr's clients make five attempts too. */
const MAX_ATTEMPTS = 5;
const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 32_000;
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** Requests to one account, with retries. Sends nothing before the first call. */
export class ScalrHttp {
  readonly #options: ScalrOptions;
  readonly #agent: Agent;

  constructor(options: ScalrOptions) {
    this.#options = options;
    this.#agent = agentFor(options.route);
  }

  /** @throws ExpectedError */
  async send(
    {method, path, query = {}, body}: HttpRequest,
    purpose: Purpose,
  ): Promise<HttpResponse> {
    const {host, signal, sleep} = this.#options;
    const url = new URL(`https://${host}${BASE}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const text = body === undefined ? undefined : JSON.stringify(body);
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(method, url, text).catch((error: Error) => error);
      if (signal.aborted) throw unreachable(this.#options, reasonOf(signal.reason));
      if (isAnswer(outcome, method, attempt)) return outcome;
      const wait = waitBefore(attempt, outcome);
      if (!isRepeatable(outcome, method) || attempt >= MAX_ATTEMPTS || wait > MAX_WAIT_MS)
        throw this.#failure(outcome, purpose);
      await sleep(wait, signal);
    }
  }

  #failure(outcome: HttpResponse | Error, purpose: Purpose): ExpectedError {
    return outcome instanceof Error
      ? unreachable(this.#options, reasonOf(outcome))
      : responseFailure(outcome, purpose, this.#options);
  }

  #attempt(method: string, url: URL, body: string | undefined): Promise<HttpResponse> {
    const {signal, timeoutMs = TIMEOUT_MS} = this.#options;
    const headers = this.#headers(body);
    return withTimeout(
      timeoutMs,
      signal,
      (either) =>
        new Promise((resolve, reject) => {
          const options = {method, agent: this.#agent, headers, signal: either};
          const call = request(url, options, (answer) => {
            readResponse(answer).then(resolve, reject);
          });
          call.on('error', reject);
          call.end(body);
        }),
    );
  }

  #headers(body: string | undefined): Record<string, string | number> {
    const {token, version} = this.#options;
    const common = {
      authorization: `Bearer ${token.reveal()}`,
      accept: MEDIA_TYPE,
      'user-agent': `scalr-agent-install/${version}`,
    };
    return body === undefined
      ? common
      : {...common, 'content-type': MEDIA_TYPE, 'content-length': Buffer.byteLength(body)};
  }
}

async function readResponse(answer: IncomingMessage): Promise<HttpResponse> {
  const content = await readAtMost(MAX_RESPONSE_BYTES, answer);
  if (content === undefined) throw new Error('the response is too large');
  const {statusCode: status = 0, headers} = answer;
  return {status, headers, body: content.toString('utf8')};
}

/** A success; also an object that is gone, after an attempt whose answer was lost. */
const isAnswer = (
  outcome: HttpResponse | Error,
  method: string,
  attempt: number,
): outcome is HttpResponse =>
  !(outcome instanceof Error) &&
  (outcome.status < 300 || (method === 'DELETE' && attempt > 1 && outcome.status === 404));

/** GET, PATCH and DELETE have the same result when they are repeated; POST is repeated only if it was turned away (429). */
function isRepeatable(outcome: HttpResponse | Error, method: string): boolean {
  if (outcome instanceof Error) return method !== 'POST' && !isUntrusted(outcome);
  return outcome.status === 429 || (method !== 'POST' && outcome.status >= 500);
}

const isUntrusted = ({code, message}: NodeJS.ErrnoException): boolean =>
  /certificate|issuer|self.signed|ALTNAME/i.test(`${code} ${message}`);

/** A wait that Scalr requests, else 1, 2, 4 … seconds with jitter. */
function waitBefore(attempt: number, outcome: HttpResponse | Error): number {
  const header = outcome instanceof Error ? undefined : outcome.headers['retry-after'];
  return (
    retryAfter(header, new Date()) ?? FIRST_WAIT_MS * 2 ** (attempt - 1) * (1 + Math.random() / 4)
  );
}

function reasonOf(error: unknown): string {
  if (typeof error === 'string') return 'interrupted';
  return error instanceof ProxyError || error instanceof ExpectedError
    ? error.message
    : networkReason(error);
}
