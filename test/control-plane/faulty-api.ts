import {EventEmitter, once} from 'node:events';
import {mkdtemp, readFile, rm} from 'node:fs/promises';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {createServer} from 'node:https';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pipeline} from 'node:stream/promises';
import {setTimeout as wait} from 'node:timers/promises';
import {onTestFinished} from 'vitest';
import {issueCertificates} from './certificates.ts';
import {forwarder} from './forwarder.ts';
import {writeKubeconfig} from './kubeconfig.ts';

/**
 * Fault of a request: an error response, a delay, no response (`stall`), no response although the request was executed (`lose`),
 * half of a response and then the end (`cut`) or silence (`hang`), a response that ends or falls silent after a time, a closed
 * connection (`reset`), or the page of a proxy that requires a login.
 */
export type Fault =
  | Refusal
  | {delayMs: number}
  | {breakAfterMs: number}
  | {silentAfterMs: number}
  | 'stall'
  | 'lose'
  | 'cut'
  | 'hang'
  | 'reset'
  | 'login-page';

interface Refusal {
  status: keyof typeof STATUS_TEXTS;
  retryAfter?: number;
}

export interface InjectedFault {
  /** Resolves at the first affected request; with `lose`, after the API server has executed it. */
  hit: Promise<unknown>;
  count(): number;
  /** Removes the fault, and continues stalled requests. */
  end(): void;
}

export interface FaultyApi {
  /** Path of a kubeconfig with the permissions of the original one. */
  kubeconfig: string;
  /**
   * Injects a fault into at most `times` requests with this method (`POST|PATCH`, or `*` for any) and path. Older faults apply first.
   * Dry runs are met only by a path that contains `dryRun`.
   */
  inject(method: string, path: RegExp, fault: Fault, times?: number): InjectedFault;
  /** Stops listening until `start`. */
  stop(): void;
  start(): Promise<void>;
}

type Ask = () => Promise<IncomingMessage>;

interface Rule {
  matches(incoming: IncomingMessage): boolean;
  play(ask: Ask, outgoing: ServerResponse): Promise<void>;
}

/** Proxy in front of the API server until the test ends; forwards requests that have no fault. */
export async function faultyApi(kubeconfig: string): Promise<FaultyApi> {
  const directory = await mkdtemp(join(tmpdir(), 'faulty-api-'));
  const {ca, server: own, admin} = await issueCertificates(directory);
  const [cert, key, forward] = await Promise.all([
    readFile(own.cert),
    readFile(own.key),
    forwarder(kubeconfig),
  ]);
  const rules: Rule[] = [];
  const server = createServer({cert, key}, (incoming, outgoing) => {
    const ask: Ask = () => forward(incoming);
    const rule = rules.find((each) => each.matches(incoming));
    // The client or the server closed the connection.
    (rule?.play ?? pass)(ask, outgoing).catch(() => outgoing.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(async () => {
    stop();
    await rm(directory, {recursive: true});
  });
  const {port} = server.address() as AddressInfo;
  return {
    kubeconfig: await writeKubeconfig(
      join(directory, 'kubeconfig'),
      `https://127.0.0.1:${port}`,
      ca,
      admin,
    ),
    stop,
    start: async () => void (await once(server.listen(port, '127.0.0.1'), 'listening')),
    inject(method, path, fault, times = Number.POSITIVE_INFINITY) {
      const news = new EventEmitter().setMaxListeners(0);
      let count = 0;
      let isOver = false;
      rules.push({
        matches({method: asked, url = ''}) {
          const isMet =
            !isOver &&
            count < times &&
            (method === '*' || method.split('|').includes(asked ?? '')) &&
            (path.source.includes('dryRun') || !url.includes('dryRun=')) &&
            path.test(url);
          if (isMet) count += 1;
          return isMet;
        },
        play: (ask, outgoing) => play(fault, ask, outgoing, news),
      });
      const end = (): void => {
        isOver = true;
        news.emit('end');
      };
      return {hit: once(news, 'met'), count: () => count, end};
    },
  };
}

async function pass(ask: Ask, outgoing: ServerResponse): Promise<void> {
  const answer = await ask();
  outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
  await pipeline(answer, outgoing);
}

async function play(
  fault: Fault,
  ask: Ask,
  outgoing: ServerResponse,
  news: EventEmitter,
): Promise<void> {
  if (fault === 'lose') {
    const answer = await ask();
    await withheld(news);
    return pass(async () => answer, outgoing);
  }
  if (fault === 'stall') {
    await withheld(news);
    return pass(ask, outgoing);
  }
  news.emit('met');
  if (fault === 'reset') return void outgoing.socket?.resetAndDestroy();
  if (fault === 'login-page') return void outgoing.writeHead(403, PAGE).end(LOGIN_PAGE);
  if (fault === 'cut' || fault === 'hang') return half(await ask(), outgoing, fault === 'cut');
  if ('breakAfterMs' in fault || 'silentAfterMs' in fault)
    return pieces(await ask(), outgoing, fault);
  if ('delayMs' in fault) {
    await wait(fault.delayMs);
    return pass(ask, outgoing);
  }
  refuse(fault, outgoing);
}

const PAGE = {'content-type': 'text/html; charset=utf-8'};
const LOGIN_PAGE =
  '<!DOCTYPE html><html><head><title>Sign in to Corp Proxy</title></head><body></body></html>';

async function withheld(news: EventEmitter): Promise<void> {
  const ended = once(news, 'end');
  news.emit('met');
  await ended;
}

async function half(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  ends: boolean,
): Promise<void> {
  const body = Buffer.concat(await answer.toArray());
  outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
  outgoing.write(body.subarray(0, body.length / 2), () => void (ends && outgoing.destroy()));
}

async function pieces(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  fault: {breakAfterMs: number} | {silentAfterMs: number},
) {
  outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
  const [after, end] =
    'breakAfterMs' in fault
      ? [fault.breakAfterMs, () => outgoing.destroy()]
      : [fault.silentAfterMs, () => answer.unpipe(outgoing)];
  outgoing.once('close', () => answer.destroy());
  answer.pipe(outgoing);
  await wait(after);
  end();
}

/** Status messages of a real API server. */
const STATUS_TEXTS = {
  403: {
    reason: 'Forbidden',
    message: 'forbidden: User "system:serviceaccount:ci:reader" cannot do this',
  },
  409: {
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on things "x": the object has been modified; please apply your changes to the latest version and try again',
  },
  410: {
    reason: 'Expired',
    message: 'The provided continue parameter is too old to display a consistent list result.',
  },
  429: {reason: 'TooManyRequests', message: 'Too many requests, please try again later.'},
  500: {reason: 'InternalError', message: 'Internal error occurred: etcdserver: request timed out'},
  503: {
    reason: 'ServiceUnavailable',
    message: 'the server is currently unable to handle the request',
  },
} as const;

function refuse({status, retryAfter}: Refusal, outgoing: ServerResponse): void {
  if (retryAfter !== undefined) outgoing.setHeader('retry-after', retryAfter);
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    ...STATUS_TEXTS[status],
    code: status,
  };
  outgoing.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(body));
}
