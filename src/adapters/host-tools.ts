import {type ChildProcessByStdio, spawn} from 'node:child_process';
import {once, setMaxListeners} from 'node:events';
import {PassThrough, Readable} from 'node:stream';
import type {HostCall, HostTools, HostTrouble} from '../ports/host-tools.ts';
import type {LogStream} from '../ports/log-stream.ts';
import {abortReason, followSignal} from '../signals.ts';
import {saidBy} from './said-by.ts';

/** Their words are read, so they have to be English. */
const ENVIRONMENT = {LC_ALL: 'C.UTF-8', LANGUAGE: 'C', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: ''};
/** What a tool says of its troubles, at most. */
const MOST_WORDS = 8 * 1024;
/** An answer that is no log; docker and systemd have kilobytes. */
const MOST_ANSWER = 16 * 1024 * 1024;
const FAREWELL_MS = 1000;
/** A line that is longer is let go in pieces. */
const LONGEST_LINE = 1024 * 1024;
const overBy = (signal: AbortSignal): HostTrouble => ({kind: 'over', message: abortReason(signal)});

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Runs docker, journalctl and systemctl of this machine with the operator's own environment. */
export const hostTools: HostTools = {
  async run(call, {over}) {
    const opened = await open(call, {over});
    if (opened.trouble) return {stdout: '', trouble: opened.trouble};
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of opened.chunks) {
      bytes += chunk.length;
      if (bytes > MOST_ANSWER) return {stdout: '', trouble: {kind: 'too-large', message: `${call.tool} ${call.args[0]} said too much`}};
      chunks.push(chunk);
    }
    const trouble = await opened.end;
    return {stdout: Buffer.concat(chunks).toString('utf8'), ...(trouble ? {trouble} : {})};
  },
  stream: open,
};

/** A tool that searches a large log is silent for long, so only `over` ends it. */
async function open(
  call: HostCall,
  {over, isLogOnBoth = false}: {over: AbortSignal; isLogOnBoth?: boolean},
): Promise<LogStream | {trouble: HostTrouble}> {
  if (over.aborted) return {trouble: overBy(over)};
  const child = spawn(call.tool, [...call.args], {stdio: ['ignore', 'pipe', 'pipe'], env: {...process.env, ...ENVIRONMENT}});
  try {
    await once(child, 'spawn');
  } catch (error) {
    const {code, message} = error as NodeJS.ErrnoException;
    return {trouble: code === 'ENOENT' ? missingTool(call) : {kind: 'refused', message}};
  }
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  let words = '';
  child.stderr.on('data', (chunk: Buffer) => {
    words = `${words}${chunk.toString('utf8')}`.slice(-MOST_WORDS);
  });
  const output: AsyncIterable<Buffer> = isLogOnBoth ? mergedLines([child.stdout, child.stderr]) : saidBy(child.stdout);
  const {signal, release} = followSignal(over);
  const stop = (): void => end(child);
  signal.addEventListener('abort', stop, {once: true});
  let tell: (trouble: HostTrouble | undefined) => void = () => undefined;
  const ended = new Promise<HostTrouble | undefined>((resolve) => {
    tell = resolve;
  });
  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      yield* output;
      const code = await exit;
      const isTrouble = code !== 0 || (!isLogOnBoth && knownTrouble(words) !== undefined);
      tell(signal.aborted ? overBy(signal) : isTrouble ? hostTrouble(call, words) : undefined);
    } catch (error) {
      tell(signal.aborted ? overBy(signal) : {kind: 'truncated', message: (error as Error).message});
    } finally {
      tell(overBy(signal));
      signal.removeEventListener('abort', stop);
      release();
      end(child);
    }
  }
  return {chunks: chunks(), end: ended};
}

/** Its pipes too: what it started may hold them open. */
function end(child: Child): void {
  const letGo = (): void => {
    child.stdout.destroy();
    child.stderr.destroy();
  };
  if (child.exitCode === null && child.signalCode === null) {
    child.kill();
    setTimeout(letGo, FAREWELL_MS).unref();
  } else letGo();
}

/** Merges the lines of several streams in the order in which they arrive. A slow reader slows all of them down. */
function mergedLines(sources: readonly Readable[]): AsyncIterable<Buffer> {
  const merged = new PassThrough();
  let open = sources.length;
  for (const source of sources) {
    const lines = Readable.from(wholeLines(source), {objectMode: true});
    lines.pipe(merged, {end: false});
    lines.once('end', () => {
      open -= 1;
      if (open === 0) merged.end();
    });
    lines.once('error', (error) => merged.destroy(error));
  }
  // Its reader hears of it, and may come later.
  merged.on('error', () => undefined);
  return merged;
}

async function* wholeLines(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  for await (const chunk of source) {
    held = Buffer.concat([held, chunk]);
    const end = held.lastIndexOf('\n') + 1;
    const ready = end === 0 && held.length > LONGEST_LINE ? held.length : end;
    if (ready > 0) yield held.subarray(0, ready);
    held = held.subarray(ready);
  }
  if (held.length > 0) yield held;
}

/** So many at once. Whoever asks gets what gives the turn back, in the order of asking; undefined when the signal comes first. */
export function turns(count: number): (over: AbortSignal) => Promise<(() => void) | undefined> {
  let free = count;
  const waiting = new Set<() => void>();
  const giveBack = (): void => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  };
  const turn = (): (() => void) => {
    let isMine = true;
    return () => {
      if (isMine) giveBack();
      isMine = false;
    };
  };
  return async (over) => {
    if (over.aborted) return undefined;
    if (free > 0) {
      free -= 1;
      return turn();
    }
    return new Promise((resolve) => {
      const leave = (): void => {
        waiting.delete(next);
        resolve(undefined);
      };
      const next = (): void => {
        waiting.delete(next);
        over.removeEventListener('abort', leave);
        resolve(turn());
      };
      waiting.add(next);
      // Many that wait under the same signal look like a leak to Node.js.
      setMaxListeners(0, over);
      over.addEventListener('abort', leave, {once: true});
    });
  };
}

interface Known {
  words: RegExp;
  kind: HostTrouble['kind'];
  /** What is wrong and what to do, instead of the words of the tool. */
  message: string;
}

/** What docker and systemd say in plain English locales when they cannot answer. */
const KNOWN: readonly Known[] = [
  {
    words: /permission denied.*docker|docker.*permission denied/i,
    kind: 'forbidden',
    message: 'this account may not use docker: repeat it with sudo, or as a member of the group docker',
  },
  {
    words: /cannot connect to the docker daemon|is the docker daemon running|error during connect/i,
    kind: 'unreachable',
    message: 'no docker daemon answers: start it, or check DOCKER_HOST and docker context ls',
  },
  {
    words: /no such (container|object)/i,
    kind: 'not-found',
    message:
      'the container does not exist. List containers with docker ps --all; a container started with --rm is deleted together with its log',
  },
  {
    words: /logging driver does not support reading/i,
    kind: 'refused',
    message: 'its logging driver keeps no log that docker can read: take it from where the driver sends it',
  },
  {
    words: /not seeing messages from (other users|the system)|insufficient permissions/i,
    kind: 'forbidden',
    message: 'this account may not read the whole journal: repeat it with sudo, or as a member of the group systemd-journal',
  },
  {
    words: /no journal files were found/i,
    kind: 'not-found',
    message: 'this machine keeps no journal: look in /var/log, and at Storage= in /etc/systemd/journald.conf',
  },
  {
    words: /not been booted with systemd|failed to connect to bus/i,
    kind: 'unreachable',
    message: 'systemd does not answer here: run it on the machine of the agent, not in a container',
  },
  {
    words: /no files found for/i,
    kind: 'not-found',
    message: 'the unit does not exist. List units with systemctl list-units --all "scalr*"',
  },
];

/** What the words of a failed tool mean; undefined for those that are no trouble. */
const knownTrouble = (words: string): HostTrouble | undefined => {
  const known = KNOWN.find((each) => each.words.test(words));
  return known && {kind: known.kind, message: known.message};
};

/** Why a call that failed did so. */
export const hostTrouble = ({tool, args}: HostCall, words: string): HostTrouble =>
  knownTrouble(words) ?? {kind: 'refused', message: words.trim().split('\n').at(-1) || `${tool} ${args[0]} failed without a word`};

const missingTool = ({tool}: HostCall): HostTrouble => ({kind: 'not-found', message: `${tool} is not on PATH`, isToolMissing: true});
