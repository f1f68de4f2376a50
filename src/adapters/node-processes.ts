import type {Socket} from 'node:net';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {Call, Outcome, Processes, Running} from '../ports/processes.ts';

/** Where the tools are when it is not on PATH. */
export type ToolPaths = Readonly<Partial<Record<Call['tool'], string>>>;

/** Runs the operator's own tools with the operator's own environment. */
export const nodeProcesses = (paths: ToolPaths = {}): Processes => {
  const start = ({tool, args, input}: Call): Running => {
    const path = paths[tool] ?? tool;
    const controller = new AbortController();
    let interrupt = (): void => controller.abort();
    let leave = (): void => undefined;
    const outcome = (async (): Promise<Outcome> => {
      const {execa} = await import('execa');
      const text = typeof input === 'object' ? input.reveal() : input;
      const running = execa(path, [...args], {
        reject: false,
        stripFinalNewline: false,
        // Helm marks the release as failed when it is interrupted; a kill on top of that would leave it locked.
        forceKillAfterDelay: false,
        // A terminal sends Ctrl-C to the whole group, and the tool must hear of it from us alone.
        detached: process.platform !== 'win32',
        ...(text === undefined ? {stdin: 'ignore' as const} : {input: text}),
      });
      interrupt = () => void running.kill('SIGINT');
      leave = () => {
        running.unref();
        // Pipes of processes are sockets, which keep a program alive too.
        for (const pipe of [running.stdin, running.stdout, running.stderr]) (pipe as Socket | null)?.unref();
      };
      if (controller.signal.aborted) interrupt();
      const result = await running;
      if (result.code === 'ENOENT' || result.code === 'EACCES') throw notThere(tool, path, result.code === 'EACCES');
      return {exitCode: result.exitCode ?? ExitCode.failed, stdout: result.stdout, stderr: result.stderr};
    })();
    return {outcome, interrupt: () => interrupt(), leave: () => leave()};
  };
  return {start, run: (call) => start(call).outcome};
};

const notThere = (tool: Call['tool'], path: string, isForbidden: boolean): ExpectedError =>
  new ExpectedError(path === tool ? `${tool} is not on PATH.` : `${path} cannot be run${isForbidden ? '' : ': there is no such file'}.`, {
    code: 'TOOL_NOT_FOUND',
    exit: ExitCode.usage,
    suggestions: [`Install ${tool}, or say where it is with --${tool}`],
  });
