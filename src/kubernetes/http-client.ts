import {Agent, type IncomingMessage, request} from 'node:http';
import {retryAfter} from '../ground/retry-after.ts';
import {apiErrorOf} from './api-error.ts';
import type {KubernetesClient} from './client.ts';
import {answerFrom, IdleTimeout, logFrom} from './response.ts';
import {clientFrom, type Opened, type Request} from './with-retries.ts';

/** Concurrent requests per kind, so that logs do not block queries. */
const MAX_SOCKETS = {question: 16, log: 24, followed: 200};

/** HTTP with keep-alive over a unix socket to an API server. */
export function httpClient(socketPath: string): Omit<KubernetesClient, 'connect'> {
  // There is no TLS. By default, Node.js derives a server name from every request, which takes 20 ms the first time.
  const withoutTls = {servername: ''};
  const agentFor = (sort: Request['sort']): Agent => new Agent({keepAlive: true, maxSockets: MAX_SOCKETS[sort], ...withoutTls});
  const agents = {question: agentFor('question'), log: agentFor('log'), followed: agentFor('followed')};
  return clientFrom(
    (wanted) => open(wanted, agents[wanted.sort], socketPath),
    () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  );
}

async function open(wanted: Request, agent: Agent, socketPath: string): Promise<Opened> {
  const timeout = new IdleTimeout(wanted.signal, wanted.idleMs);
  try {
    const response = await headersOf(wanted, agent, socketPath, timeout);
    const status = response.statusCode ?? 0;
    const date = dateOf(response);
    if (status >= 200 && status < 300) return {status, log: logFrom(response, timeout, {release: wanted.release}), ...(date ? {date} : {})};
    const answer = await answerFrom(status, logFrom(response, timeout));
    return {error: answer.error ?? apiErrorOf(status, answer.body, retryAfter(response.headers['retry-after'], date ?? new Date()))};
  } catch (error) {
    timeout.release();
    return {error: timeout.explain(error, 'unreachable')};
  }
}

function dateOf({headers}: IncomingMessage): Date | undefined {
  const time = Date.parse(headers.date ?? '');
  return Number.isNaN(time) ? undefined : new Date(time);
}

const headersOf = (
  {method, path, body, contentType = 'application/json', accept}: Request,
  agent: Agent,
  socketPath: string,
  timeout: IdleTimeout,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = {
      // kubectl proxy accepts no other host name.
      host: 'localhost',
      accept: accept ?? 'application/json, */*',
      ...(body === undefined ? {} : {'content-type': contentType, 'content-length': Buffer.byteLength(body)}),
    };
    const call = request({socketPath, path, agent, headers, method: method ?? 'GET'});
    timeout.endWith((why) => {
      call.destroy(why);
      // A request that waits for a free socket reports its abort only after it gets one.
      reject(why);
    });
    // Until then, it waits for other requests.
    call.once('socket', () => timeout.start());
    call.once('response', (response) => {
      timeout.stop();
      resolve(response);
    });
    call.on('error', reject);
    call.end(body);
  });
