import {type IncomingHttpHeaders, STATUS_CODES} from 'node:http';
import {Agent, type AgentOptions, type RequestOptions, request} from 'node:https';
import type {Duplex} from 'node:stream';
import {type ConnectionOptions, connect, rootCertificates} from 'node:tls';
import {readAtMost, withTimeout} from '../../ground/async.ts';
import {networkReason, openTunnel, ProxyError} from '../../ground/connect.ts';
import {ExpectedError} from '../../ground/errors.ts';
import {retryAfter} from '../../ground/fact.ts';
import {jsonIn} from '../../ground/json.ts';
import type {Secret} from '../../ground/secret.ts';
import {isFields} from '../../ground/tree.ts';
import {type AccountRef, notScalr, type Purpose, responseFailure, unreachable} from './failure.ts';

/** An object of the API (JSON:API). https://docs.scalr.io/reference */
export interface Resource {
  type: string;
  id: string;
  attributes: Readonly<Record<string, unknown>>;
  relationships?: Readonly<Record<string, {data?: ResourceRef | readonly ResourceRef[] | null}>>;
}

export interface ResourceRef {
  type: string;
  id: string;
}

interface ResourceList {
  data: readonly Resource[];
  /** Objects that `include` has requested. */
  included: readonly Resource[];
}

/** A request that changes the account, as data: a plan prints it and runs it. */
export interface AccountRequest {
  method: 'POST' | 'PATCH' | 'DELETE';
  /** Below /api/iacp/v3. */
  path: string;
  body?: {data: object};
}

type Query = Readonly<Record<string, string>>;

/** The API of one Scalr account. Every method throws ExpectedError. */
export interface ScalrClient extends AccountRef {
  get(
    path: string,
    purpose: Purpose,
    query?: Query,
  ): Promise<{data: Resource; included: readonly Resource[]}>;
  /** All pages. */
  list(path: string, purpose: Purpose, query?: Query): Promise<ResourceList>;
  /** The changed object; undefined after DELETE. POST is never repeated after it may have arrived. */
  send(change: AccountRequest, purpose: Purpose): Promise<Resource | undefined>;
}

export interface ScalrClientOptions extends AccountRef {
  token: Secret;
  route: ScalrRoute;
  /** Of this program, for the User-Agent header. */
  version: string;
  signal: AbortSignal;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** For one attempt. */
  timeoutMs?: number;
}

const BASE = '/api/iacp/v3';
const PAGE_SIZE = '100';
const MEDIA_TYPE = 'application/vnd.api+json';
const TIMEOUT_MS = 30_000;
/** Scalr's clients make five attempts too. */
const MAX_ATTEMPTS = 5;
const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 32_000;
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends nothing before the first call. */
export function scalrClient({
  host,
  source,
  token,
  route,
  version,
  signal,
  sleep,
  timeoutMs = TIMEOUT_MS,
}: ScalrClientOptions): ScalrClient {
  const at: AccountRef = {host, source};
  const agent = agentFor(route);

  const once = (method: string, url: URL, body: string | undefined): Promise<HttpResponse> =>
    withTimeout(timeoutMs, signal, (either) => {
      const headers = {
        authorization: `Bearer ${token.reveal()}`,
        accept: MEDIA_TYPE,
        'user-agent': `scalr-agent-install/${version}`,
        ...(body === undefined
          ? {}
          : {'content-type': MEDIA_TYPE, 'content-length': Buffer.byteLength(body)}),
      };
      return new Promise((resolve, reject) => {
        const call = request(url, {method, agent, headers, signal: either}, async (answer) => {
          try {
            const content = await readAtMost(MAX_RESPONSE_BYTES, answer);
            if (content === undefined) throw new Error('the response is too large');
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              body: content.toString('utf8'),
            });
          } catch (error) {
            reject(error);
          }
        });
        call.on('error', reject);
        call.end(body);
      });
    });

  /** GET, PATCH and DELETE have the same result when they are repeated; POST is repeated only if it was turned away (429). */
  const ask = async (
    method: string,
    path: string,
    purpose: Purpose,
    {query = {}, body}: {query?: Query; body?: object} = {},
  ) => {
    const url = new URL(`https://${host}${BASE}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const text = body === undefined ? undefined : JSON.stringify(body);
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await once(method, url, text).catch((error: Error) => error);
      if (signal.aborted) throw unreachable(at, reasonOf(signal.reason));
      if (!(outcome instanceof Error) && outcome.status < 300) return outcome;
      // The object is gone, after an attempt whose answer was lost.
      if (
        method === 'DELETE' &&
        attempt > 1 &&
        !(outcome instanceof Error) &&
        outcome.status === 404
      )
        return outcome;
      const failure =
        outcome instanceof Error
          ? unreachable(at, reasonOf(outcome))
          : responseFailure(outcome, purpose, at);
      const wait = waitBefore(attempt, outcome);
      const isRepeatable =
        !(outcome instanceof Error) && outcome.status === 429
          ? true
          : isTransient(outcome) && method !== 'POST';
      if (!isRepeatable || attempt >= MAX_ATTEMPTS || wait > MAX_WAIT_MS) throw failure;
      await sleep(wait, signal);
    }
  };

  const document = ({
    body,
    status,
  }: HttpResponse): {data: unknown; included?: unknown; meta?: unknown} => {
    const parsed = jsonIn(body);
    if (isFields(parsed) && 'data' in parsed) return parsed as {data: unknown};
    throw notScalr(at, `HTTP ${status} ${STATUS_CODES[status] ?? ''} without a JSON document`);
  };

  const resource = (answer: HttpResponse): {data: Resource; included: readonly Resource[]} => {
    const {data, included} = document(answer);
    if (isResource(data)) return {data, included: resourcesIn(included)};
    throw notScalr(at, 'a JSON document without an object');
  };

  return {
    ...at,
    get: async (path, purpose, query = {}) => resource(await ask('GET', path, purpose, {query})),
    async list(path, purpose, query = {}) {
      const data: Resource[] = [];
      const included: Resource[] = [];
      for (let page: number | null = 1; page !== null; ) {
        const paging = {'page[number]': String(page), 'page[size]': PAGE_SIZE};
        const found = document(await ask('GET', path, purpose, {query: {...query, ...paging}}));
        if (!Array.isArray(found.data) || !found.data.every(isResource))
          throw notScalr(at, 'a JSON document without a list');
        data.push(...found.data);
        included.push(...resourcesIn(found.included));
        page = nextPage(found.meta, page);
      }
      return {data, included};
    },
    async send({method, path, body}, purpose) {
      const answer = await ask(method, path, purpose, body === undefined ? {} : {body});
      return method === 'DELETE' ? undefined : resource(answer).data;
    },
  };
}

const isResource = (value: unknown): value is Resource =>
  isFields(value) &&
  typeof value['id'] === 'string' &&
  typeof value['type'] === 'string' &&
  isFields(value['attributes']);

const resourcesIn = (value: unknown): Resource[] =>
  Array.isArray(value) ? value.filter(isResource) : [];

/** Lists end with `next-page: null`; a page that leads back ends them too. */
function nextPage(meta: unknown, page: number): number | null {
  const pagination = isFields(meta) && isFields(meta['pagination']) ? meta['pagination'] : {};
  const next = pagination['next-page'];
  return typeof next === 'number' && next > page ? next : null;
}

const isTransient = (outcome: HttpResponse | Error): boolean =>
  outcome instanceof Error
    ? !/certificate|issuer|self.signed|ALTNAME/i.test(
        `${(outcome as NodeJS.ErrnoException).code} ${outcome.message}`,
      )
    : outcome.status >= 500;

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

/** How this machine reaches Scalr. */
export interface ScalrRoute {
  /** URL of an HTTP proxy; undefined for a direct connection. */
  proxy: string | undefined;
  /** PEM certificates that are trusted in addition to the public ones. */
  ca: readonly string[];
}

const PROXY_TIMEOUT_MS = 30_000;

/** Connections to one host. They are reused, and an idle one does not keep the program running. */
export function agentFor({proxy, ca}: ScalrRoute): Agent {
  // A list of CAs replaces the default one, which includes NODE_EXTRA_CA_CERTS.
  const options: AgentOptions = {
    keepAlive: true,
    ...(ca.length === 0 ? {} : {ca: [...rootCertificates, ...ca]}),
  };
  return proxy === undefined ? new Agent(options) : new TunnelAgent(proxy, options);
}

/** TLS inside a CONNECT tunnel. `Agent` of Node.js 20 has no option for a proxy. */
class TunnelAgent extends Agent {
  readonly #proxy: string;

  constructor(proxy: string, options: AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const failed = callback as ((error: Error) => void) | undefined;
    const {ca} = this.options;
    const to = {host: String(options.host), port: Number(options.port), proxy: this.#proxy, ca};
    openTunnel(to, AbortSignal.timeout(PROXY_TIMEOUT_MS)).then(
      (socket) => callback?.(null, connect({...options, socket} as ConnectionOptions)),
      failed,
    );
  }
}
