import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import type {Socket} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {Call, Outcome} from '../ports/processes.ts';
import {withTimeout} from '../signals.ts';
import {sleep} from './clock.ts';

export interface ApiProxy {
  socketPath: string;
  isAlive(): boolean;
  /** Neither process nor socket stays, and it takes no longer than a second or two. May be called twice. */
  stop(): Promise<void>;
}

/** Why there is no proxy: what kubectl said as it ended, or nothing where a socket cannot be made. */
export interface NoProxy {
  call: Call;
  outcome: Outcome | undefined;
}

/**
 * Runs kubectl for as long as standard input is open. That is a pipe from this program: it ends with it, also when that was killed.
 * All of them are a process group of their own, which is what kill 0 means.
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

const START_MS = 15_000;
const END_MS = 1000;
/** A socket has a path of 104 bytes at most, with the zero at its end; Linux has four more. */
const LONGEST_PATH = 100;

/** Runs `kubectl proxy` on a socket that no other account of this machine can reach. */
export async function startProxy(callFor: (socket: string) => Call, kubectl: string, over: AbortSignal): Promise<ApiProxy | NoProxy> {
  const directory = process.platform === 'win32' ? undefined : privateDirectory();
  const socketPath = join(directory ?? '', SOCKET);
  const call = callFor(socketPath);
  if (directory === undefined) return {call, outcome: undefined};
  const child = spawn('/bin/sh', ['-c', WATCHDOG, 'sh', directory, kubectl, ...call.args], {detached: true, stdio: 'pipe'});
  let isAlive = true;
  const gone = new Promise<void>((resolve) => {
    const end = (): void => {
      isAlive = false;
      child.stdin.destroy();
      resolve();
    };
    child.once('exit', end).once('error', end);
  });
  child.stdin.on('error', () => undefined);
  const stop = async (): Promise<void> => {
    hold(child, true);
    child.stdin.end();
    await noLongerThan(END_MS, gone);
    // Once it has gone its number may be that of somebody else.
    if (isAlive) killGroup(child);
    await rm(directory, {recursive: true, force: true});
    hold(child, false);
  };
  const said = listenTo(child);
  const isServing = await withTimeout(START_MS, over, async (signal) => {
    const aborted = once(signal, 'abort').then(() => false);
    return !signal.aborted && (await Promise.race([said.serving, gone.then(() => false), aborted]));
  });
  if (isServing) {
    hold(child, false);
    return {socketPath, isAlive: () => isAlive, stop};
  }
  if (isAlive) said.stderr += 'error: there was no answer in time';
  // What it said last may still be on its way.
  else await noLongerThan(END_MS, once(child, 'close'));
  await stop();
  return {call, outcome: {exitCode: child.exitCode ?? 1, stdout: '', stderr: said.stderr}};
}

/** What waits no longer must not keep the program from its end either. */
async function noLongerThan(milliseconds: number, event: Promise<unknown>): Promise<void> {
  const heard = new AbortController();
  await Promise.race([event, sleep(milliseconds, heard.signal)]);
  heard.abort();
}

const SOCKET = 'api';

function privateDirectory(): string | undefined {
  for (const parent of new Set([tmpdir(), '/tmp'])) {
    const prefix = join(parent, 'scalr-agent-');
    if (Buffer.byteLength(join(`${prefix}XXXXXX`, SOCKET)) > LONGEST_PATH) continue;
    try {
      return mkdtempSync(prefix);
    } catch {
      // Read-only, full or not there: perhaps the next one.
    }
  }
  return undefined;
}

const MOST_WORDS = 4000;

/** Reads on for as long as it lives, or it would wait for a reader. */
function listenTo({stdout, stderr}: ChildProcess): {serving: Promise<true>; stderr: string} {
  const said = {serving: Promise.resolve<true>(true), stderr: ''};
  said.serving = new Promise((resolve) => {
    let text = '';
    stdout?.on('data', (chunk: Buffer) => {
      if (text.length < MOST_WORDS) text += chunk;
      if (/^Starting to serve on /m.test(text)) resolve(true);
    });
  });
  stderr?.on('data', (chunk: Buffer) => {
    said.stderr = `${said.stderr}${chunk}`.slice(-MOST_WORDS);
  });
  return said;
}

/** Whether this program has to stay for it. */
function hold(child: ChildProcess, isHeld: boolean): void {
  const handles = [child, ...([child.stdin, child.stdout, child.stderr] as (Socket | null)[])];
  for (const handle of handles) isHeld ? handle?.ref() : handle?.unref();
}

function killGroup({pid}: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has gone just now.
  }
}
