import {spawn} from 'node:child_process';
import {once} from 'node:events';
import type {Readable} from 'node:stream';
import {apiErrorInText} from '../kubernetes/api-error.ts';
import type {KubernetesClient} from '../kubernetes/client.ts';
import {clientFrom, type Opened, type Request} from '../kubernetes/client-from.ts';
import {createRaw, getRaw} from '../kubernetes/kubectl.ts';
import {IdleTimeout, logFrom} from '../kubernetes/read-answer.ts';
import type {ApiError} from '../ports/log-stream.ts';
import type {Place} from '../ports/processes.ts';
import {abortReason} from '../signals.ts';
import {turns} from './host-tools.ts';
import {saidBy} from './said-by.ts';

/** Each is a process of its own that logs in anew; those that follow a log have no end, and hold up nobody else. */
const AT_ONCE = 4;
const FOLLOWED_AT_ONCE = 24;

/** A kubectl for each request: slower, but it works where nothing can listen on a socket. */
export function rawClient(place: Place, kubectl: string): Omit<KubernetesClient, 'connect'> {
  const [takeTurn, takeLongTurn] = [turns(AT_ONCE), turns(FOLLOWED_AT_ONCE)];
  return clientFrom(async (wanted) => {
    const done = await (wanted.sort === 'followed' ? takeLongTurn : takeTurn)(wanted.over);
    if (done === undefined) return {trouble: {kind: 'over', message: `its turn never came: ${abortReason(wanted.over)}`}};
    const opened = await open(wanted, place, kubectl, done);
    if (opened.trouble) done();
    return opened;
  });
}

async function open({path, body, over, idleMs, release}: Request, place: Place, kubectl: string, done: () => void): Promise<Opened> {
  const timeout = new IdleTimeout(over, idleMs);
  const {source, verdict} = start(kubectl, body === undefined ? getRaw(place, path).args : createRaw(place, path).args, body);
  timeout.endWith((why) => source.destroy(why));
  try {
    timeout.start();
    const trouble = (await begins(source)) ? undefined : await verdict();
    timeout.stop();
    if (timeout.trouble) return {trouble: timeout.trouble};
    if (trouble === undefined) {
      const releaseAll = (): void => {
        done();
        release();
      };
      return {status: 200, log: logFrom(source, timeout, {verdict, release: releaseAll})};
    }
    timeout.release();
    return {trouble};
  } catch (error) {
    timeout.release();
    return {trouble: timeout.explain(error, 'unreachable')};
  }
}

interface Started {
  source: Readable;
  /** What it came to, once all was read. */
  verdict: () => Promise<ApiError | undefined>;
}

const MOST_WORDS = 4000;
const FAREWELL_MS = 1000;

function start(kubectl: string, args: readonly string[], input: string | undefined): Started {
  const child = spawn(kubectl, args, {stdio: ['pipe', 'pipe', 'pipe']});
  // One that has ended reads no more.
  child.stdin.on('error', () => undefined).end(input);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = `${stderr}${chunk}`.slice(-MOST_WORDS);
  });
  // That it cannot be run is found out when the program starts, by the call that every command makes first.
  child.once('error', ({message}) => {
    stderr = `error: ${message}`;
  });
  // Not its pipes: what logged it in may hold them for longer.
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => setImmediate(resolve)).once('close', resolve);
  });
  child.stdout.once('close', () => void setTimeout(() => child.kill(), child.stdout.readableEnded ? FAREWELL_MS : 0).unref());
  return {
    source: saidBy(child.stdout),
    verdict: async () => {
      await ended;
      return child.exitCode === 0 ? undefined : apiErrorInText(stderr);
    },
  };
}

/** False when there is nothing. */
async function begins(source: Readable): Promise<boolean> {
  await Promise.race([once(source, 'readable'), once(source, 'close')]);
  return source.readableLength > 0;
}
