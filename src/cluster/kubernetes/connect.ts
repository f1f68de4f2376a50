import {existsSync} from 'node:fs';
import {Agent, type IncomingMessage, request} from 'node:http';
import {delimiter} from 'node:path';
import {abortReason, anySignal, untilAborted, withTimeout} from '../../ground/async.ts';
import type {ApiRequest, Call} from '../../ground/call.ts';
import type {ClusterTarget, ProcessResult} from '../../ground/command-line.ts';
import {ExitCode, ExpectedError} from '../../ground/errors.ts';
import {type ReadError, retryAfter} from '../../ground/fact.ts';
import {
  isUnknownToWindows,
  type ToolPaths,
  toolNotFound,
} from '../../ground/system/node-processes.ts';
import type {Processes} from '../../ground/system/system.ts';
import {toolFailure} from '../../ground/tool-errors.ts';
import {isWebPage} from '../../ground/web-page.ts';
import {apiErrorOf, errorLine} from './api-error.ts';
import {
  type ApiResult,
  answerFrom,
  IdleTimeout,
  type KubernetesClient,
  logFrom,
  type RequestOptions,
} from './client.ts';
import {type AccessExplainer, accessExplainer} from './explain-access.ts';
import {proxy} from './kubectl.ts';
import {
  type ApiProxy,
  type KubectlOutput,
  LOGIN_MS,
  type NoProxy,
  rawClient,
  START_MS,
  startProxy,
} from './kubectl-processes.ts';
import {LoginOutput, type LoginTerminal} from './login-display.ts';
import {isUserManager} from './objects.ts';
import {REQUIRED_MS} from './resources.ts';
import {clientFrom, type Opened, type Request} from './with-retries.ts';

/** Exit codes of a shell if the command is missing or not executable. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;

type Requests = Omit<KubernetesClient, 'connect' | 'close'>;

/** kubectl, and the terminal of a person who can log in. */
export interface ClientOptions extends ToolPaths {
  login?: LoginTerminal | undefined;
}

/**
 * Connects to the API server with the kubectl of the user: one `kubectl proxy` for all requests, or one kubectl per request if no proxy can run.
 * Nothing starts before the first request.
 */
export function kubernetesClient(
  kubeTarget: ClusterTarget,
  {kubectl = 'kubectl', login}: ClientOptions = {},
): KubernetesClient {
  const closing = new AbortController();
  const output = new LoginOutput(login);
  const heard: KubectlOutput = {
    hear: (stderr) => output.hear(stderr),
    isLoggingIn: () => login !== undefined && output.text !== '',
  };
  const raw = rawClient(kubeTarget, kubectl, heard);
  const explain = accessExplainer(kubeTarget, kubectl);
  let hasAnswered = false;
  const explained = async <R extends {error?: ReadError | undefined}>(answer: R): Promise<R> => {
    const {error} = answer;
    hasAnswered ||= error === undefined || error.kind === 'forbidden' || error.kind === 'not-found';
    return error === undefined
      ? answer
      : {...answer, error: await explain.request(error, {output: output.text, hasAnswered})};
  };
  let made: Promise<Connection> | undefined;
  const connection = async (
    signal: AbortSignal,
    until: AbortSignal = closing.signal,
  ): Promise<Connection> => {
    made ??= connect(kubeTarget, {
      kubectl,
      signal: until,
      output: heard,
      isAttended: login !== undefined,
      explain,
    }).finally(() => output.end());
    // Does not wait for a slow proxy after the signal; the request then ends as `aborted`.
    return (await untilAborted(made, signal)) ?? NONE;
  };
  const ask = async <R extends {error?: ReadError | undefined}>(
    signal: AbortSignal,
    question: (requests: Requests) => Promise<R>,
  ): Promise<R | {error: ReadError}> => {
    let connected: Connection;
    try {
      connected = await connection(signal);
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      return {error: unconnected(error)};
    }
    const {proxied, isAlive} = connected;
    const answer = proxied && isAlive() ? await question(proxied) : undefined;
    const isUnanswered =
      answer === undefined || (answer.error?.kind === 'unreachable' && !isAlive());
    return explained(isUnanswered ? await question(raw) : answer);
  };
  let closed: Promise<unknown> | undefined;
  return {
    async connect(signal) {
      await connection(closing.signal, anySignal(signal, closing.signal));
    },
    get: (path, options) => ask(options.signal, (requests) => requests.get(path, options)),
    post: (path, body, options) =>
      ask(options.signal, (requests) => requests.post(path, body, options)),
    async send(request, options) {
      const {proxied, isAlive} = await connection(options.signal);
      if (options.signal.aborted)
        return {error: {kind: 'aborted', message: abortReason(options.signal)}};
      const answer = isAlive() ? await proxied?.send(request, options) : undefined;
      const isUnanswered =
        answer === undefined || (answer.error?.kind === 'unreachable' && !isAlive());
      return isUnanswered ? undefined : explained(answer);
    },
    stream: (path, options) => ask(options.signal, (requests) => requests.stream(path, options)),
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

const unconnected = (failure: ExpectedError): ReadError => ({
  kind: failure.code === 'NOT_LOGGED_IN' ? 'not-logged-in' : 'unreachable',
  message: failure.message,
  steps: failure.suggestions,
  cause: failure,
});

interface Connection {
  /** Undefined if no proxy can run. */
  proxied?: Requests;
  isAlive(): boolean;
  close(): Promise<void>;
}

const NONE: Connection = {isAlive: () => false, close: async () => undefined};

interface Connecting {
  kubectl: string;
  signal: AbortSignal;
  output: KubectlOutput;
  /** A person can log in. */
  isAttended: boolean;
  explain: AccessExplainer;
}

/** @throws ExpectedError if kubectl or the cluster is missing */
async function connect(
  kubeTarget: ClusterTarget,
  {kubectl, signal, output, isAttended, explain}: Connecting,
): Promise<Connection> {
  refuseMissing(kubeTarget, process.env);
  const started: ApiProxy | NoProxy = await startProxy(
    (socket) => proxy(kubeTarget, socket),
    kubectl,
    signal,
    output,
  );
  if ('call' in started) {
    await refuse(started, kubectl, explain);
    if (await isUnknownToWindows(kubectl)) throw toolNotFound('kubectl', kubectl, false);
    return NONE;
  }
  const {socketPath, isAlive, stop} = started;
  const {close, ...proxied} = httpClient(socketPath);
  if (isAttended) await loggedIn(socketPath, output, signal);
  return {
    proxied,
    isAlive,
    async close() {
      await Promise.all([close(), stop()]);
    },
  };
}

/** kubectl ignores a missing file in KUBECONFIG, and then connects to localhost. In a pod, it uses the service account. */
function refuseMissing(
  kubeTarget: ClusterTarget,
  {KUBECONFIG: paths = '', KUBERNETES_SERVICE_HOST: isInPod}: NodeJS.ProcessEnv,
): void {
  const files = paths.split(delimiter).filter((path) => path !== '');
  if (
    kubeTarget.kubeconfig !== undefined ||
    isInPod ||
    files.length === 0 ||
    files.some((path) => existsSync(path))
  )
    return;
  const stderr = `error: stat ${files.join(', ')}: no such file or directory`;
  throw toolFailure(
    {tool: 'kubectl', verb: 'proxy', kubeTarget},
    {exitCode: ExitCode.failed, stdout: '', stderr},
  );
}

/** Waits until a person has logged in, if the credential plugin asks for it. A failed login is an error of the requests that follow. */
async function loggedIn(
  socketPath: string,
  {isLoggingIn}: KubectlOutput,
  signal: AbortSignal,
): Promise<void> {
  const agent = new Agent();
  const ending = new AbortController();
  const first = open(
    {
      path: '/version',
      kind: 'query',
      signal: anySignal(signal, ending.signal),
      idleMs: START_MS + LOGIN_MS,
      release: () => undefined,
    },
    agent,
    socketPath,
  );
  const answeredWithin = (milliseconds: number) =>
    withTimeout(milliseconds, signal, (either) => untilAborted(first, either));
  if ((await answeredWithin(START_MS)) === undefined && isLoggingIn())
    await answeredWithin(LOGIN_MS);
  ending.abort();
  agent.destroy();
}

/** Errors that every kubectl would report fail at once; for all others, kubectl is run per request. */
async function refuse(
  {call, outcome}: NoProxy,
  kubectl: string,
  explain: AccessExplainer,
): Promise<void> {
  if (outcome === undefined) return;
  const {exitCode} = outcome;
  if (exitCode === NOT_FOUND || exitCode === NOT_RUNNABLE)
    throw toolNotFound('kubectl', kubectl, exitCode === NOT_RUNNABLE);
  const failure = toolFailure(call, outcome);
  if (failure.code === 'TOOL_FAILED' && !isOfPlugin(outcome)) return;
  const explained = await explain.start(outcome);
  if (explained !== undefined) throw explained;
  if (!/timed out waiting for a response/.test(outcome.stderr)) throw failure;
}

const isOfPlugin = ({stderr}: ProcessResult): boolean => /exec plugin|Please enter /.test(stderr);

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

async function open(desired: Request, agent: Agent, socketPath: string): Promise<Opened> {
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

type Client = Pick<KubernetesClient, 'send'>;

const requestsOf = (call: Call): readonly ApiRequest[] | undefined =>
  call.tool === 'kubectl' ? call.requests : undefined;

/** Sends calls that are requests to the API server, and starts kubectl for them only where no proxy can run. */
export const throughApi = (processes: Processes, client: Client): Processes => ({
  async run(call, options) {
    const signal = options?.signal ?? new AbortController().signal;
    return (await outcomeOf(call, client, signal)) ?? processes.run(call, options);
  },
  start(call) {
    if (requestsOf(call) === undefined) return processes.start(call);
    const controller = new AbortController();
    const outcome = outcomeOf(call, client, controller.signal).then(
      (sent) => sent ?? processes.start(call).outcome,
    );
    return {
      outcome,
      interrupt: () => controller.abort('interrupted'),
      leave: () => controller.abort('interrupted'),
    };
  },
});

/** The responses as a list, and the errors as kubectl prints them; undefined if kubectl must make the call. */
async function outcomeOf(
  call: Call,
  client: Client,
  signal: AbortSignal,
): Promise<ProcessResult | undefined> {
  const requests = requestsOf(call);
  if (requests === undefined) return undefined;
  const results = await Promise.all(
    requests.map((each) => sendOne(each, client, {signal, idleMs: REQUIRED_MS})),
  );
  if (results.includes(undefined)) return undefined;
  const items: unknown[] = [];
  const errors: ReadError[] = [];
  for (const result of results as ApiResult[])
    result.error ? errors.push(result.error) : items.push(result.body);
  return {
    exitCode: errors.length === 0 ? ExitCode.ok : ExitCode.failed,
    stdout: JSON.stringify({apiVersion: 'v1', kind: 'List', items}),
    stderr: errors.map((each) => `${errorLine(each)}\n`).join(''),
  };
}

/** Repeats an apply with force if all fields in conflict were set by people or by Helm. */
async function sendOne(
  request: ApiRequest,
  client: Client,
  options: RequestOptions,
): Promise<ApiResult | undefined> {
  const result = await client.send(request, options);
  const managers = [...(result?.error?.message ?? '').matchAll(/\bconflicts? with "([^"]+)"/g)].map(
    ([, manager = '']) => manager,
  );
  return request.takesOver && managers.length > 0 && managers.every(isUserManager)
    ? client.send({...request, path: `${request.path}&force=true`}, options)
    : result;
}
