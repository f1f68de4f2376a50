import {Agent, type IncomingMessage, request} from 'node:http';
import {retryAfter} from '../../ground/fact.ts';
import {isWebPage} from '../../ground/web-page.ts';
import {apiErrorOf} from './api-error.ts';
import {answerFrom, IdleTimeout, type KubernetesClient, logFrom} from './client.ts';
import {clientFrom, type OpenedStream, type Request} from './with-retries.ts';

/** Concurrent requests per kind, so that logs do not block queries. */
const MAX_SOCKETS = {query: 16, log: 24, followed: 200};

/** HTTP with keep-alive over a unix socket to an API server. */
export function httpClient(socketPath: string): Omit<KubernetesClient, 'connect'> {
  // There is no TLS. By default, Node.js derives a server name from every request, which takes 20 ms the first time.
  const withoutTls = {servername: ''};
  const agentFor = (kind: Request['kind']): Agent =>
    new Agent({keepAlive: true, maxSockets: MAX_SOCKETS[kind], ...withoutTls});
  const agents = {query: agentFor('query'), log: agentFor('log'), followed: agentFor('followed')};
  return clientFrom(
    (desired) => open(desired, agents[desired.kind], socketPath),
    () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  );
}

export async function open(
  desired: Request,
  agent: Agent,
  socketPath: string,
): Promise<OpenedStream> {
  const timeout = new IdleTimeout(desired.signal, desired.idleMs);
  try {
    const response = await headersOf(desired, agent, socketPath, timeout);
    const status = response.statusCode ?? 0;
    const time = Date.parse(response.headers.date ?? '');
    const date = Number.isNaN(time) ? undefined : new Date(time);
    const isAnswered = status >= 200 && status < 300;
    if (isAnswered && !isWebPage('', response.headers['content-type']))
      return {
        status,
        log: logFrom(response, timeout, {release: desired.release}),
        ...(date ? {date} : {}),
      };
    const answer = await answerFrom(status, logFrom(response, timeout));
    return {
      error:
        answer.error ??
        apiErrorOf(status, answer.body, {
          retryAfterMs: retryAfter(response.headers['retry-after'], date ?? new Date()),
          contentType: response.headers['content-type'],
          location: response.headers.location,
        }),
    };
  } catch (error) {
    timeout.release();
    return {error: timeout.explain(error, 'unreachable')};
  }
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
      ...(body === undefined
        ? {}
        : {'content-type': contentType, 'content-length': Buffer.byteLength(body)}),
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
