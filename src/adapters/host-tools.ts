import {type ChildProcessByStdio, spawn} from 'node:child_process';
import {once} from 'node:events';
import type {Readable} from 'node:stream';
import type {LogStream} from '../ports/cluster-api.ts';
import {follow} from '../ports/follow.ts';
import type {HostCall, HostTools, HostTrouble} from '../ports/host-tools.ts';
import {hostTrouble, knownTrouble, missingTool} from '../ports/host-trouble.ts';
import {whyOver} from '../ports/why-over.ts';
import {saidBy} from './said-by.ts';
import {mergedLines} from './whole-lines.ts';

/** Their words are read, so they have to be English. */
const ENVIRONMENT = {LC_ALL: 'C.UTF-8', LANGUAGE: 'C', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: ''};
/** What a tool says of its troubles, at most. */
const MOST_WORDS = 8 * 1024;
/** An answer that is no log; docker and systemd have kilobytes. */
const MOST_ANSWER = 16 * 1024 * 1024;
const FAREWELL_MS = 1000;
const overBy = (signal: AbortSignal): HostTrouble => ({kind: 'over', message: whyOver(signal)});

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
  const said: AsyncIterable<Buffer> = isLogOnBoth ? mergedLines([child.stdout, child.stderr]) : saidBy(child.stdout);
  const {signal, release} = follow(over);
  const stop = (): void => end(child);
  signal.addEventListener('abort', stop, {once: true});
  let tell: (trouble: HostTrouble | undefined) => void = () => undefined;
  const ended = new Promise<HostTrouble | undefined>((resolve) => {
    tell = resolve;
  });
  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      yield* said;
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
