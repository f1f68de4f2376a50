import {type ChildProcessByStdio, spawn} from 'node:child_process';
import {once} from 'node:events';
import {PassThrough, pipeline, Readable} from 'node:stream';
import {abortReason, followSignal} from '../async.ts';
import {readAtMost, wholeLines} from '../line-streams.ts';
import {lowerFirst} from '../text.ts';
import type {HostCall, HostError, HostTools, LogStream} from './system.ts';
import {toolEnvironment} from './tool-environment.ts';

/** The messages are parsed, so they must be in English. */
const ENVIRONMENT = {LC_ALL: 'C.UTF-8', LANGUAGE: 'C', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: ''};
const MAX_STDERR_LENGTH = 8 * 1024;
/** Maximum size of a result that is not a log; docker and systemd print kilobytes. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const PIPE_CLOSE_DELAY_MS = 1000;
const abortedBy = (signal: AbortSignal): HostError => ({
  kind: 'aborted',
  message: abortReason(signal),
});

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Runs docker, journalctl and systemctl of this machine with the environment of the user. */
export const hostTools: HostTools = {
  async run(call, {signal}) {
    const opened = await open(call, {signal});
    if (opened.error) return {stdout: '', error: opened.error};
    const output = await readAtMost(MAX_OUTPUT_BYTES, opened.chunks);
    if (output === undefined)
      return {
        stdout: '',
        error: {
          kind: 'too-large',
          message: `the output of ${call.tool} ${subcommandOf(call)} is too large`,
        },
      };
    const error = await opened.end;
    return {stdout: output.toString('utf8'), ...(error ? {error} : {})};
  },
  stream: open,
};

/** No idle timeout, because a tool can search a large log for a long time. Only `signal` stops it. */
async function open(
  call: HostCall,
  {signal, isLogOnBoth = false}: {signal: AbortSignal; isLogOnBoth?: boolean},
): Promise<LogStream | {error: HostError}> {
  if (signal.aborted) return {error: abortedBy(signal)};
  const child = spawn(call.tool, [...call.args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {...toolEnvironment(), ...ENVIRONMENT},
  });
  try {
    await once(child, 'spawn');
  } catch (error) {
    const {code, message} = error as NodeJS.ErrnoException;
    return {error: code === 'ENOENT' ? missingTool(call) : {kind: 'refused', message}};
  }
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = `${stderr}${chunk.toString('utf8')}`.slice(-MAX_STDERR_LENGTH);
  });
  const output: AsyncIterable<Buffer> = isLogOnBoth
    ? mergedLines([child.stdout, child.stderr])
    : bufferedOutput(child.stdout);
  const {signal: stopped, release} = followSignal(signal);
  const stop = (): void => end(child);
  stopped.addEventListener('abort', stop, {once: true});
  let resolveEnd: (error: HostError | undefined) => void = () => undefined;
  const ended = new Promise<HostError | undefined>((resolve) => {
    resolveEnd = resolve;
  });
  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      yield* output;
      const code = await exit;
      const hasFailed = code !== 0 || (!isLogOnBoth && knownError(stderr) !== undefined);
      if (!stopped.aborted) resolveEnd(hasFailed ? hostErrorIn(call, stderr) : undefined);
    } catch (error) {
      if (!stopped.aborted) resolveEnd({kind: 'truncated', message: (error as Error).message});
    } finally {
      // Has no effect on a log that has ended.
      resolveEnd(abortedBy(stopped));
      stopped.removeEventListener('abort', stop);
      release();
      end(child);
    }
  }
  return {chunks: chunks(), end: ended};
}

/** Also destroys the pipes, because child processes may keep them open. */
function end(child: Child): void {
  const destroyPipes = (): void => {
    child.stdout.destroy();
    child.stderr.destroy();
  };
  if (child.exitCode === null && child.signalCode === null) {
    child.kill();
    setTimeout(destroyPipes, PIPE_CLOSE_DELAY_MS).unref();
  } else destroyPipes();
}

/** Merges the lines of several streams in order of arrival. A slow reader slows down all of them. */
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
  // The reader attaches its own handler, possibly later.
  merged.on('error', () => undefined);
  return merged;
}

interface Known {
  pattern: RegExp;
  kind: HostError['kind'];
  /** Instead of the original message. */
  reason: string;
  remedy: string;
}

/** Messages of docker and systemd in English locales. */
const KNOWN: readonly Known[] = [
  {
    pattern: /permission denied.*docker|docker.*permission denied/i,
    kind: 'forbidden',
    reason: 'no permission to use Docker',
    remedy: 'Run the command with sudo, or as a member of the docker group',
  },
  {
    pattern:
      /cannot connect to the docker daemon|is the docker daemon running|error during connect/i,
    kind: 'unreachable',
    reason: 'cannot connect to the Docker daemon',
    remedy: 'Start Docker, or check DOCKER_HOST and docker context ls',
  },
  {
    pattern: /no such (container|object)/i,
    kind: 'not-found',
    reason: 'the container does not exist',
    remedy:
      'List containers: docker ps --all. A container started with --rm is deleted together with its log',
  },
  {
    pattern: /logging driver does not support reading/i,
    kind: 'refused',
    reason: 'the logging driver of the container does not support docker logs',
    remedy: 'Read the log at the destination of the driver',
  },
  {
    pattern: /not seeing messages from (other users|the system)|insufficient permissions/i,
    kind: 'forbidden',
    reason: 'no permission to read the whole journal',
    remedy: 'Run the command with sudo, or as a member of the systemd-journal group',
  },
  {
    pattern: /no journal files were found/i,
    kind: 'not-found',
    reason: 'no journal found on this machine',
    remedy: 'Check /var/log, and Storage= in /etc/systemd/journald.conf',
  },
  {
    pattern: /not been booted with systemd|failed to connect to bus/i,
    kind: 'unreachable',
    reason: 'systemd is not available',
    remedy: 'Run the command on the machine where the agent runs, not in a container',
  },
  {
    pattern: /no files found for/i,
    kind: 'not-found',
    reason: 'the unit does not exist',
    remedy: 'List units: systemctl list-units --all "scalr*"',
  },
];

/** Meaning of the error output; undefined if it is harmless. */
const knownError = (stderr: string): HostError | undefined => {
  const known = KNOWN.find((each) => each.pattern.test(stderr));
  if (known === undefined) return undefined;
  const {kind, reason, remedy} = known;
  return {kind, message: `${reason}: ${lowerFirst(remedy)}`, reason, remedy};
};

/** Without the flags of docker that select its engine. */
const subcommandOf = ({args}: HostCall): string | undefined =>
  args.find(
    (each, index) =>
      !/^--(host|context)$/.test(each) && !/^--(host|context)$/.test(args[index - 1] ?? ''),
  );

export const hostErrorIn = (call: HostCall, stderr: string): HostError =>
  knownError(stderr) ?? {
    kind: 'refused',
    message:
      stderr.trim().split('\n').at(-1) ||
      `${call.tool} ${subcommandOf(call)} failed without an error message`,
  };

const missingTool = ({tool}: HostCall): HostError => ({
  kind: 'not-found',
  message: `${tool} not found on PATH`,
  isToolMissing: true,
});

/** Buffers the output of a process for a later reader: Node.js drops unread data of its own streams when the process exits. */
export const bufferedOutput = (output: Readable): Readable =>
  pipeline(output, new PassThrough(), () => undefined);
