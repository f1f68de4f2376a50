import {spawn} from 'node:child_process';
import {once} from 'node:events';
import type {Readable} from 'node:stream';
import {troubleInWords} from '../ports/api-trouble.ts';
import type {ClusterApi, Trouble} from '../ports/cluster-api.ts';
import {getRaw} from '../ports/kubectl.ts';
import type {Place} from '../ports/place.ts';
import {whyOver} from '../ports/why-over.ts';
import {apiFrom, type Opened, type Request} from './api-from.ts';
import {logFrom} from './read-answer.ts';
import {saidBy} from './said-by.ts';
import {turns} from './turns.ts';
import {Vigil} from './vigil.ts';

/** Each is a process of its own that logs in anew; those that follow a log have no end, and hold up nobody else. */
const AT_ONCE = 4;
const FOLLOWED_AT_ONCE = 24;

/** A kubectl for each request: slower, but it works where nothing can listen on a socket. */
export function rawApi(place: Place, kubectl: string): ClusterApi {
  const [takeTurn, takeLongTurn] = [turns(AT_ONCE), turns(FOLLOWED_AT_ONCE)];
  return apiFrom(async (wanted) => {
    const done = await (wanted.sort === 'followed' ? takeLongTurn : takeTurn)(wanted.over);
    if (done === undefined) return {trouble: {kind: 'over', message: `its turn never came: ${whyOver(wanted.over)}`}};
    const opened = await open(wanted, place, kubectl, done);
    if (opened.trouble) done();
    return opened;
  });
}

async function open({path, over, idleMs, release}: Request, place: Place, kubectl: string, done: () => void): Promise<Opened> {
  const vigil = new Vigil(over, idleMs);
  const {source, verdict} = start(kubectl, getRaw(place, path).args);
  vigil.endWith((why) => source.destroy(why));
  try {
    vigil.wait();
    const trouble = (await begins(source)) ? undefined : await verdict();
    vigil.heard();
    if (vigil.trouble) return {trouble: vigil.trouble};
    if (trouble === undefined) {
      const releaseAll = (): void => {
        done();
        release();
      };
      return {status: 200, log: logFrom(source, vigil, {verdict, release: releaseAll})};
    }
    vigil.release();
    return {trouble};
  } catch (error) {
    vigil.release();
    return {trouble: vigil.explain(error, 'unreachable')};
  }
}

interface Started {
  source: Readable;
  /** What it came to, once all was read. */
  verdict: () => Promise<Trouble | undefined>;
}

const MOST_WORDS = 4000;
const FAREWELL_MS = 1000;

function start(kubectl: string, args: readonly string[]): Started {
  const child = spawn(kubectl, args, {stdio: ['ignore', 'pipe', 'pipe']});
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
      return child.exitCode === 0 ? undefined : troubleInWords(stderr);
    },
  };
}

/** False when there is nothing. */
async function begins(source: Readable): Promise<boolean> {
  await Promise.race([once(source, 'readable'), once(source, 'close')]);
  return source.readableLength > 0;
}
