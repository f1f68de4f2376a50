import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import type {Socket} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {Readable} from 'node:stream';
import {abortReason, semaphore, sleep, untilAborted, withTimeout} from '../../ground/async.ts';
import type {Call} from '../../ground/call.ts';
import {argumentsOf} from '../../ground/call-arguments.ts';
import type {ClusterTarget, ProcessResult} from '../../ground/command-line.ts';
import type {ReadError} from '../../ground/fact.ts';
import {bufferedOutput} from '../../ground/system/host-tools.ts';
import {toolEnvironment} from '../../ground/system/tool-environment.ts';
import {apiErrorInText} from './api-error.ts';
import {IdleTimeout, type KubernetesClient, logFrom} from './client.ts';
import {createRaw, getRaw} from './kubectl.ts';
import {clientFrom, type OpenedStream, type Request} from './with-retries.ts';

export interface ApiProxy {
  socketPath: string;
  isAlive(): boolean;
  /** Leaves no process and no socket, and takes at most two seconds. Can be called twice. */
  stop(): Promise<void>;
}

/** Reason why no proxy is running: the last message of kubectl, or nothing if no socket can be created. */
export interface NoProxy {
  call: Call;
  outcome: ProcessResult | undefined;
}

/**
 * Runs kubectl while standard input is open. Standard input is a pipe from this program, so kubectl stops when this program ends or is killed.
 * All of them are one process group, which is the meaning of kill 0.
 */
const WATCHDOG = `
directory=$1; shift
exec 3<&0 </dev/null
"$@" 3<&- &
kubectl=$!
{ while read -r _; do :; done; rm -rf "$directory"; kill -KILL 0; } <&3 >/dev/null 2>&1 &
exec 3<&- >/dev/null 2>&1
wait $kubectl
status=$?
rm -rf "$directory"
exit $status
`;

/** What kubectl and its credential plugin print. */
export interface KubectlOutput {
  /** Also after the start. */
  hear(stderr: string): void;
  /** The plugin has printed something, and a person sees it. */
  isLoggingIn(): boolean;
}

const UNHEARD: KubectlOutput = {hear: () => undefined, isLoggingIn: () => false};

export const START_MS = 15_000;
/** For a login in the browser. Only on a terminal, where the person sees what the plugin waits for. */
export const LOGIN_MS = 300_000;
const END_MS = 1000;
/** The path of a socket has at most 104 bytes, including the trailing zero; Linux allows four more. */
const MAX_SOCKET_PATH = 100;

/** Runs `kubectl proxy` on a socket that other accounts of this machine cannot access. */
export async function startProxy(
  callFor: (socket: string) => Call,
  kubectl: string,
  signal: AbortSignal,
  {hear, isLoggingIn}: KubectlOutput = UNHEARD,
): Promise<ApiProxy | NoProxy> {
  const directory = process.platform === 'win32' ? undefined : privateDirectory();
  const socketPath = join(directory ?? '', SOCKET);
  const call = callFor(socketPath);
  if (directory === undefined) return {call, outcome: undefined};
  const child = spawn('/bin/sh', ['-c', WATCHDOG, 'sh', directory, kubectl, ...argumentsOf(call)], {
    detached: true,
    stdio: 'pipe',
    env: toolEnvironment(),
  });
  let isAlive = true;
  const gone = new Promise<void>((resolve) => {
    const end = (): void => {
      isAlive = false;
      child.stdin.destroy();
      resolve();
    };
    child.once('exit', end).once('error', end);
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.stdin.on('error', () => undefined);
  const stop = async (): Promise<void> => {
    hold(child, true);
    child.stdin.end();
    await withTimeLimit(END_MS, gone);
    // After the exit, another process can have the same process ID.
    if (isAlive) killGroup(child);
    await rm(directory, {recursive: true, force: true});
    hold(child, false);
  };
  const output = listenTo(child, hear);
  const served = Promise.race([output.serving, gone.then(() => false)]);
  const servedWithin = (milliseconds: number): Promise<boolean | undefined> =>
    withTimeout(milliseconds, signal, (either) => untilAborted(served, either));
  let isServing = await servedWithin(START_MS);
  // Some distributions of kubectl run the plugin before anything else.
  if (isServing === undefined && isLoggingIn()) isServing = await servedWithin(LOGIN_MS);
  if (isServing) {
    hold(child, false);
    return {socketPath, isAlive: () => isAlive, stop};
  }
  const isTimedOut = isAlive;
  if (isTimedOut) output.stderr += 'error: timed out waiting for a response';
  // The last message may not have arrived yet.
  else await withTimeLimit(END_MS, closed);
  await stop();
  const outcome = {exitCode: child.exitCode ?? 1, stdout: '', stderr: output.stderr};
  return {call, outcome: isTimedOut ? {...outcome, isTimedOut} : outcome};
}

/** Must not keep the program running either. */
async function withTimeLimit(milliseconds: number, event: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  await Promise.race([event, sleep(milliseconds, timer.signal)]);
  timer.abort();
}

const SOCKET = 'api';

function privateDirectory(): string | undefined {
  for (const parent of new Set([tmpdir(), '/tmp'])) {
    const prefix = join(parent, 'scalr-agent-');
    if (Buffer.byteLength(join(`${prefix}XXXXXX`, SOCKET)) > MAX_SOCKET_PATH) continue;
    try {
      return mkdtempSync(prefix);
    } catch {
      // Read-only, full or missing: try the next directory.
    }
  }
  return undefined;
}

const MAX_OUTPUT_LENGTH = 4000;

/** Keeps reading, because a full pipe would block the process. */
function listenTo(
  {stdout, stderr}: ChildProcess,
  hear: KubectlOutput['hear'],
): {serving: Promise<true>; stderr: string} {
  const output = {serving: Promise.resolve<true>(true), stderr: ''};
  output.serving = new Promise((resolve) => {
    let text = '';
    stdout?.on('data', (chunk: Buffer) => {
      if (text.length < MAX_OUTPUT_LENGTH) text += chunk;
      if (/^Starting to serve on /m.test(text)) resolve(true);
    });
  });
  stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    output.stderr = `${output.stderr}${chunk}`.slice(-MAX_OUTPUT_LENGTH);
    hear(chunk);
  });
  return output;
}

/** Whether this program must stay alive for it. */
function hold(child: ChildProcess, isHeld: boolean): void {
  const handles = [child, ...([child.stdin, child.stdout, child.stderr] as (Socket | null)[])];
  for (const handle of handles) isHeld ? handle?.ref() : handle?.unref();
}

function killGroup({pid}: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has just exited.
  }
}

/** Each request is a separate process that logs in again. Followed logs have no end, so they have their own limit. */
const MAX_REQUESTS = 4;
const MAX_FOLLOWED_LOGS = 24;

/** Runs one kubectl per request: slower, but works where no socket can be used. */
export function rawClient(
  kubeTarget: ClusterTarget,
  kubectl: string,
  {hear}: Pick<KubectlOutput, 'hear'> = UNHEARD,
): Omit<KubernetesClient, 'connect'> {
  const acquire = semaphore(MAX_REQUESTS);
  const acquireFollowed = semaphore(MAX_FOLLOWED_LOGS);
  const client = clientFrom(async (desired) => {
    const done = await (desired.kind === 'followed' ? acquireFollowed : acquire)(desired.signal);
    if (done === undefined)
      return {error: {kind: 'aborted', message: `not started: ${abortReason(desired.signal)}`}};
    const run = (args: readonly string[]) => start(kubectl, args, desired.body, hear);
    const opened = await open(desired, kubeTarget, run, done);
    if (opened.error) done();
    return opened;
  });
  // kubectl sends a raw GET, POST, PUT or DELETE, but no PATCH.
  return {...client, send: async () => undefined};
}

async function open(
  {path, body, signal, idleMs, release}: Request,
  kubeTarget: ClusterTarget,
  run: (args: readonly string[]) => Started,
  done: () => void,
): Promise<OpenedStream> {
  const timeout = new IdleTimeout(signal, idleMs);
  const call = body === undefined ? getRaw(kubeTarget, path) : createRaw(kubeTarget, path);
  const {source, verdict} = run(argumentsOf(call));
  timeout.endWith((why) => source.destroy(why));
  try {
    timeout.start();
    const error = (await begins(source)) ? undefined : await verdict();
    timeout.stop();
    if (timeout.error) return {error: timeout.error};
    if (error === undefined) {
      const releaseAll = (): void => {
        done();
        release();
      };
      return {status: 200, log: logFrom(source, timeout, {verdict, release: releaseAll})};
    }
    timeout.release();
    return {error};
  } catch (error) {
    timeout.release();
    return {error: timeout.explain(error, 'unreachable')};
  }
}

const MAX_STDERR_LENGTH = 4000;
const KILL_DELAY_MS = 1000;

interface Started {
  source: Readable;
  /** Result after everything was read. */
  verdict(): Promise<ReadError | undefined>;
}

function start(
  kubectl: string,
  args: readonly string[],
  input: string | undefined,
  hear: KubectlOutput['hear'],
): Started {
  const child = spawn(kubectl, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: toolEnvironment(),
  });
  // A process that has exited no longer reads.
  child.stdin.on('error', () => undefined).end(input);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr = `${stderr}${chunk}`.slice(-MAX_STDERR_LENGTH);
    hear(chunk);
  });
  // A kubectl that cannot be executed is detected at start-up, by the first call of every command.
  child.once('error', ({message}) => {
    stderr = `error: ${message}`;
  });
  // Not the end of its pipes, because a credential plugin may keep them open.
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => setImmediate(resolve)).once('close', resolve);
  });
  child.stdout.once(
    'close',
    () =>
      void setTimeout(() => child.kill(), child.stdout.readableEnded ? KILL_DELAY_MS : 0).unref(),
  );
  return {
    source: bufferedOutput(child.stdout),
    async verdict() {
      await ended;
      return child.exitCode === 0 ? undefined : apiErrorInText(stderr);
    },
  };
}

/** False if there is no output. */
async function begins(source: Readable): Promise<boolean> {
  await Promise.race([once(source, 'readable'), once(source, 'close')]);
  return source.readableLength > 0;
}
