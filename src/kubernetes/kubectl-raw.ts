import {spawn} from 'node:child_process';
import {once} from 'node:events';
import type {Readable} from 'node:stream';
import {bufferedOutput} from '../adapters/host-tools.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import {semaphore} from '../ground/concurrency.ts';
import type {ReadError} from '../ground/fact.ts';
import {abortReason} from '../ground/signals.ts';
import {apiErrorInText} from './api-error.ts';
import type {KubernetesClient} from './client.ts';
import {createRaw, getRaw} from './kubectl.ts';
import {IdleTimeout, logFrom} from './response.ts';
import {clientFrom, type Opened, type Request} from './with-retries.ts';

/** Each request is a separate process that logs in again. Followed logs have no end, so they have their own limit. */
const MAX_REQUESTS = 4;
const MAX_FOLLOWED_LOGS = 24;

/** Runs one kubectl per request: slower, but works where no socket can be used. */
export function rawClient(kubeTarget: ClusterTarget, kubectl: string): Omit<KubernetesClient, 'connect'> {
  const [acquire, acquireFollowed] = [semaphore(MAX_REQUESTS), semaphore(MAX_FOLLOWED_LOGS)];
  const client = clientFrom(async (wanted) => {
    const done = await (wanted.kind === 'followed' ? acquireFollowed : acquire)(wanted.signal);
    if (done === undefined) return {error: {kind: 'aborted', message: `not started: ${abortReason(wanted.signal)}`}};
    const opened = await open(wanted, kubeTarget, kubectl, done);
    if (opened.error) done();
    return opened;
  });
  // kubectl sends a raw GET, POST, PUT or DELETE, but no PATCH.
  return {...client, send: async () => undefined};
}

async function open(
  {path, body, signal, idleMs, release}: Request,
  kubeTarget: ClusterTarget,
  kubectl: string,
  done: () => void,
): Promise<Opened> {
  const timeout = new IdleTimeout(signal, idleMs);
  const {source, verdict} = start(kubectl, body === undefined ? getRaw(kubeTarget, path).args : createRaw(kubeTarget, path).args, body);
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

interface Started {
  source: Readable;
  /** Result after everything was read. */
  verdict: () => Promise<ReadError | undefined>;
}

const MAX_STDERR_LENGTH = 4000;
const KILL_DELAY_MS = 1000;

function start(kubectl: string, args: readonly string[], input: string | undefined): Started {
  const child = spawn(kubectl, args, {stdio: ['pipe', 'pipe', 'pipe']});
  // A process that has exited no longer reads.
  child.stdin.on('error', () => undefined).end(input);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = `${stderr}${chunk}`.slice(-MAX_STDERR_LENGTH);
  });
  // A kubectl that cannot be executed is detected at start-up, by the first call of every command.
  child.once('error', ({message}) => {
    stderr = `error: ${message}`;
  });
  // Not the end of its pipes, because a credential plugin may keep them open.
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => setImmediate(resolve)).once('close', resolve);
  });
  child.stdout.once('close', () => void setTimeout(() => child.kill(), child.stdout.readableEnded ? KILL_DELAY_MS : 0).unref());
  return {
    source: bufferedOutput(child.stdout),
    verdict: async () => {
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
