import type {Socket} from 'node:net';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {Call, Outcome, Processes, Running} from '../ports/processes.ts';

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
  const outcomeOf = (tool: Call['tool'], {code, exitCode, stdout, stderr}: Ended): Outcome => {
    if (code === 'ENOENT' || code === 'EACCES') throw notThere(tool, pathOf(tool), code === 'EACCES');
    return {exitCode: exitCode ?? ExitCode.failed, stdout, stderr};
  };
  return {
    async run(call, {over} = {}) {
      const {execa} = await import('execa');
      const result = await execa(pathOf(call.tool), [...call.args], {...optionsFor(call), ...(over ? {cancelSignal: over} : {})});
      const outcome = outcomeOf(call.tool, result);
      return result.isCanceled ? {...outcome, stderr: `${outcome.stderr}\nerror: there was no answer in time`} : outcome;
    },
    start(call) {
      const controller = new AbortController();
      let interrupt = (): void => controller.abort();
      let leave = (): void => undefined;
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
        leave = () => {
          running.unref();
          // Pipes of processes are sockets, which keep a program alive too.
          for (const pipe of [running.stdin, running.stdout, running.stderr]) (pipe as Socket | null)?.unref();
        };
        if (controller.signal.aborted) interrupt();
        return outcomeOf(call.tool, await running);
      })();
      return {outcome, interrupt: () => interrupt(), leave: () => leave()} satisfies Running;
    },
  };
};

const notThere = (tool: Call['tool'], path: string, isForbidden: boolean): ExpectedError =>
  new ExpectedError(path === tool ? `${tool} is not on PATH.` : `${path} cannot be run${isForbidden ? '' : ': there is no such file'}.`, {
    code: 'TOOL_NOT_FOUND',
    exit: ExitCode.usage,
    suggestions: [`Install ${tool}, or say where it is with --${tool}`],
  });
