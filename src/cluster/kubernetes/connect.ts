import {existsSync} from 'node:fs';
import {Agent} from 'node:http';
import {delimiter} from 'node:path';
import {abortReason, anySignal, untilAborted, withTimeout} from '../../ground/async.ts';
import type {ClusterTarget, ProcessResult} from '../../ground/command-line.ts';
import {ExitCode, ExpectedError} from '../../ground/errors.ts';
import type {ReadError} from '../../ground/fact.ts';
import {
  isUnknownToWindows,
  type ToolPaths,
  toolNotFound,
} from '../../ground/system/node-processes.ts';
import {toolFailure} from '../../ground/tool-errors.ts';
import type {KubernetesClient} from './client.ts';
import {type AccessExplainer, accessExplainer} from './explain-access.ts';
import {httpClient, open} from './http-client.ts';
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
export const kubernetesClient = (
  kubeTarget: ClusterTarget,
  options: ClientOptions = {},
): KubernetesClient => new KubectlClient(kubeTarget, options);

class KubectlClient implements KubernetesClient {
  readonly #kubeTarget: ClusterTarget;
  readonly #kubectl: string;
  readonly #isAttended: boolean;
  readonly #closing = new AbortController();
  readonly #output: LoginOutput;
  readonly #heard: KubectlOutput;
  readonly #raw: Omit<KubernetesClient, 'connect'>;
  readonly #explain: AccessExplainer;
  #hasAnswered = false;
  #connection: Promise<Connection> | undefined;
  #closed: Promise<unknown> | undefined;

  constructor(kubeTarget: ClusterTarget, {kubectl = 'kubectl', login}: ClientOptions) {
    const output = new LoginOutput(login);
    this.#kubeTarget = kubeTarget;
    this.#kubectl = kubectl;
    this.#isAttended = login !== undefined;
    this.#output = output;
    this.#heard = {
      hear: (stderr) => output.hear(stderr),
      isLoggingIn: () => login !== undefined && output.text !== '',
    };
    this.#raw = rawClient(kubeTarget, kubectl, this.#heard);
    this.#explain = accessExplainer(kubeTarget, kubectl);
  }

  connect: KubernetesClient['connect'] = async (signal) => {
    const closing = this.#closing.signal;
    await this.#connected(closing, anySignal(signal, closing));
  };

  get: KubernetesClient['get'] = (path, options) =>
    this.#ask(options.signal, (requests) => requests.get(path, options));

  post: KubernetesClient['post'] = (path, body, options) =>
    this.#ask(options.signal, (requests) => requests.post(path, body, options));

  stream: KubernetesClient['stream'] = (path, options) =>
    this.#ask(options.signal, (requests) => requests.stream(path, options));

  send: KubernetesClient['send'] = async (change, options) => {
    const connection = await this.#connected(options.signal);
    if (options.signal.aborted)
      return {error: {kind: 'aborted', message: abortReason(options.signal)}};
    const answer = await proxied(connection, (requests) => requests.send(change, options));
    return answer && this.#explained(answer);
  };

  close: KubernetesClient['close'] = async () => {
    this.#closing.abort();
    this.#closed ??= Promise.all([
      this.#raw.close(),
      this.#connection?.then(
        ({close}) => close(),
        () => undefined,
      ),
    ]);
    await this.#closed;
  };

  async #connected(
    signal: AbortSignal,
    until: AbortSignal = this.#closing.signal,
  ): Promise<Connection> {
    this.#connection ??= connect(this.#kubeTarget, {
      kubectl: this.#kubectl,
      signal: until,
      output: this.#heard,
      isAttended: this.#isAttended,
      explain: this.#explain,
    }).finally(() => this.#output.end());
    // Does not wait for a slow proxy after the signal; the request then ends as `aborted`.
    return (await untilAborted(this.#connection, signal)) ?? NONE;
  }

  async #ask<R extends Answer>(
    signal: AbortSignal,
    question: (requests: Requests) => Promise<R>,
  ): Promise<R | {error: ReadError}> {
    let connection: Connection;
    try {
      connection = await this.#connected(signal);
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      return {error: unconnected(error)};
    }
    return this.#explained((await proxied(connection, question)) ?? (await question(this.#raw)));
  }

  async #explained<R extends Answer>(answer: R): Promise<R> {
    const {error} = answer;
    this.#hasAnswered ||=
      error === undefined || error.kind === 'forbidden' || error.kind === 'not-found';
    if (error === undefined) return answer;
    const situation = {output: this.#output.text, hasAnswered: this.#hasAnswered};
    return {...answer, error: await this.#explain.request(error, situation)};
  }
}

type Answer = {error?: ReadError | undefined};

/** Undefined if the proxy does not run, or has ended before it answered. */
async function proxied<R extends Answer>(
  connection: Connection,
  question: (requests: Requests) => Promise<R | undefined>,
): Promise<R | undefined> {
  if (connection.proxied === undefined || !connection.isAlive()) return undefined;
  const answer = await question(connection.proxied);
  return answer?.error?.kind === 'unreachable' && !connection.isAlive() ? undefined : answer;
}

const unconnected = (failure: ExpectedError): ReadError => ({
  kind: failure.code === 'NOT_LOGGED_IN' ? 'not-logged-in' : 'unreachable',
  message: failure.message.replace(/\.$/, ''),
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
  if (!outcome.isTimedOut) throw failure;
}

const isOfPlugin = ({stderr}: ProcessResult): boolean => /exec plugin|Please enter /.test(stderr);
