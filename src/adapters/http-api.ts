import {Agent, type IncomingMessage, request} from 'node:http';
import {retryAfter, troubleOf} from '../ports/api-trouble.ts';
import type {ClusterApi} from '../ports/cluster-api.ts';
import {apiFrom, type Opened, type Request} from './api-from.ts';
import {answerFrom, logFrom} from './read-answer.ts';
import {Vigil} from './vigil.ts';

/** Requests at once of each sort: logs that wait for their readers hold up no question, and logs without end nobody. */
const AT_ONCE = {question: 12, log: 24, followed: 200};

/** HTTP over a unix socket behind which is an API server, with connections that are used again. */
export function httpApi(socketPath: string): ClusterApi {
  // There is no TLS; unless told so Node.js makes its name out of the host of every request, which takes 20 ms the first time.
  const withoutTls = {servername: ''};
  const agentFor = (sort: Request['sort']): Agent => new Agent({keepAlive: true, maxSockets: AT_ONCE[sort], ...withoutTls});
  const agents = {question: agentFor('question'), log: agentFor('log'), followed: agentFor('followed')};
  return apiFrom(
    (wanted) => open(wanted, agents[wanted.sort], socketPath),
    () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  );
}

async function open({path, over, idleMs, release}: Request, agent: Agent, socketPath: string): Promise<Opened> {
  const vigil = new Vigil(over, idleMs);
  try {
    const response = await headersOf(path, agent, socketPath, vigil);
    const status = response.statusCode ?? 0;
    const date = dateOf(response);
    if (status >= 200 && status < 300) return {status, log: logFrom(response, vigil, {release}), ...(date ? {date} : {})};
    const said = await answerFrom(status, logFrom(response, vigil));
    return {trouble: said.trouble ?? troubleOf(status, said.body, retryAfter(response.headers['retry-after'], date ?? new Date()))};
  } catch (error) {
    vigil.release();
    return {trouble: vigil.explain(error, 'unreachable')};
  }
}

function dateOf({headers}: IncomingMessage): Date | undefined {
  const time = Date.parse(headers.date ?? '');
  return Number.isNaN(time) ? undefined : new Date(time);
}

const headersOf = (path: string, agent: Agent, socketPath: string, vigil: Vigil): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    // kubectl proxy listens to nobody who calls it by another name.
    const call = request({socketPath, path, agent, headers: {host: 'localhost', accept: 'application/json, */*'}});
    vigil.endWith((why) => {
      call.destroy(why);
      // One that waits for a free socket reports its end only when it gets one.
      reject(why);
    });
    // Until then it is other requests that it waits for.
    call.once('socket', () => vigil.wait());
    call.once('response', (response) => {
      vigil.heard();
      resolve(response);
    });
    call.on('error', reject);
    call.end();
  });
