import type {Socket} from 'node:net';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {Call, Outcome, Processes, Running} from '../ports/processes.ts';
import {followSignal} from '../signals.ts';

/** Where the tools are when it is not on PATH. */
export type ToolPaths = Readonly<Partial<Record<Call['tool'], string>>>;

const optionsFor = ({input}: Call) => {
  const text = typeof input === 'object' ? input.reveal() : input;
  return {
    reject: false,
    stripFinalNewline: false,
    ...(text === undefined ? {stdin: 'ignore' as const} : {input: text}),
  } as const;
};

interface Ended {
  code?: string | undefined;
  exitCode?: number | undefined;
  stdout: string;
  stderr: string;
}

/** Runs the operator's own tools with the operator's own environment. */
export const nodeProcesses = (paths: ToolPaths = {}): Processes => {
  const pathOf = (tool: Call['tool']): string => paths[tool] ?? tool;
  const outcomeOf = async (tool: Call['tool'], {code, exitCode, stdout, stderr}: Ended): Promise<Outcome> => {
    const isForbidden = code === 'EACCES';
    if (code === 'ENOENT' || isForbidden || (exitCode !== ExitCode.ok && (await isUnknownToWindows(pathOf(tool))))) {
      throw notThere(tool, pathOf(tool), isForbidden);
    }
    return {exitCode: exitCode ?? ExitCode.failed, stdout, stderr};
  };
  return {
    async run(call, {over} = {}) {
      const {execa} = await import('execa');
      const follower = over && followSignal(over);
      const own = follower?.signal;
      try {
        // A tool that is not there and is cancelled at once has the process id 0: killing it kills this program and its group.
        if (own?.aborted) return NOT_IN_TIME;
        // Until then it would hold the program too, where what it left behind has its pipes.
        const ending = own ? {cancelSignal: own, forceKillAfterDelay: FAREWELL_MS} : {};
        const running = execa(pathOf(call.tool), [...call.args], {...optionsFor(call), ...ending});
        const result = await (own ? untilGivenUp(running, own) : running);
        if (result === undefined) return NOT_IN_TIME;
        const outcome = await outcomeOf(call.tool, result);
        return result.isCanceled ? {...outcome, stderr: `${outcome.stderr}\n${NO_ANSWER}`} : outcome;
      } finally {
        follower?.release();
      }
    },
    start(call) {
      const controller = new AbortController();
      let interrupt = (): void => controller.abort();
      let left = (): void => undefined;
      const outcome = (async (): Promise<Outcome> => {
        const {execa} = await import('execa');
        const running = execa(pathOf(call.tool), [...call.args], {
          ...optionsFor(call),
          // Helm marks the release as failed when it is interrupted; a kill on top of that would leave it locked.
          forceKillAfterDelay: false,
          // A terminal sends Ctrl-C to the whole group, and the tool must hear of it from us alone.
          detached: process.platform !== 'win32',
        });
        interrupt = () => void running.kill('SIGINT');
        left = () => leave(running);
        if (controller.signal.aborted) interrupt();
        return outcomeOf(call.tool, await running);
      })();
      return {outcome, interrupt: () => interrupt(), leave: () => left()} satisfies Running;
    },
  };
};

const NO_ANSWER = 'error: there was no answer in time';
const NOT_IN_TIME: Outcome = {exitCode: ExitCode.failed, stdout: '', stderr: NO_ANSWER};

interface Child {
  unref(): void;
  stdin: unknown;
  stdout: unknown;
  stderr: unknown;
}

/** Pipes of processes are sockets, which keep a program alive too. */
function leave(running: Child): void {
  running.unref();
  for (const pipe of [running.stdin, running.stdout, running.stderr]) (pipe as Socket | null)?.unref();
}

const FAREWELL_MS = 1000;

/** Undefined when nothing comes after the end: a tool that was ended may leave a login plugin behind, which holds its pipes. */
async function untilGivenUp<T extends Child & PromiseLike<unknown>>(running: T, over: AbortSignal): Promise<Awaited<T> | undefined> {
  const listeners = new AbortController();
  const givenUp = new Promise<undefined>((resolve) => {
    const giveUp = (): void => {
      leave(running);
      resolve(undefined);
    };
    const wait = (): void => void setTimeout(giveUp, FAREWELL_MS).unref();
    if (over.aborted) wait();
    else over.addEventListener('abort', wait, {once: true, signal: listeners.signal});
  });
  try {
    return await Promise.race([running, givenUp]);
  } finally {
    listeners.abort();
  }
}

export const notThere = (tool: Call['tool'], path: string, isForbidden: boolean): ExpectedError =>
  new ExpectedError(path === tool ? `${tool} is not on PATH.` : `${path} cannot be run${isForbidden ? '' : ': there is no such file'}.`, {
    code: 'TOOL_NOT_FOUND',
    exit: ExitCode.usage,
    suggestions: [`Install ${tool}, or say where it is with --${tool}`],
  });

/** On Windows a missing tool does not fail with ENOENT: cmd.exe runs, and prints a localized error. True when `path` does not exist there. */
export async function isUnknownToWindows(path: string): Promise<boolean> {
  if (process.platform !== 'win32') return false;
  const {default: which} = await import('which');
  return which.sync(path, {nothrow: true}) === null;
}
