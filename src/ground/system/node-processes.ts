import {type ChildProcess, spawn} from 'node:child_process';
import {accessSync, constants, statSync} from 'node:fs';
import type {Socket} from 'node:net';
import {delimiter, join} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {followSignal, untilAborted} from '../async.ts';
import type {Call} from '../call.ts';
import {argumentsOf} from '../call-arguments.ts';
import type {ProcessResult} from '../command-line.ts';
import {ExitCode, type ExpectedError, failed, INSTALL_KUBECTL} from '../errors.ts';
import {HelmDirectories} from './helm-directories.ts';
import type {Processes, Running} from './system.ts';
import {toolEnvironment} from './tool-environment.ts';

/** Paths of tools that are not on PATH. */
export type ToolPaths = Readonly<Partial<Record<Call['tool'], string>>>;

/** What calls need besides their arguments. */
interface ToolSetup {
  paths: ToolPaths;
  helm: HelmDirectories;
}

const optionsFor = ({tool, input}: Call, {helm}: ToolSetup) => {
  const text = typeof input === 'object' ? input.reveal() : input;
  return {
    reject: false,
    stripFinalNewline: false,
    extendEnv: false,
    env: {...toolEnvironment(), ...(tool === 'helm' ? helm.variables(process.env) : {})},
    ...(text === undefined ? {stdin: 'ignore' as const} : {input: text}),
  } as const;
};

interface Ended {
  code?: string | undefined;
  exitCode?: number | undefined;
  stdout: string;
  stderr: string;
}

/** Runs the tools with the environment of the user, except for variables that select another cluster. */
export function nodeProcesses(paths: ToolPaths = {}, helm = new HelmDirectories()): Processes {
  const setup = {paths, helm};
  return {
    run: (call, {signal} = {}) =>
      signal === undefined ? runToEnd(call, setup) : runWithin(call, setup, signal),
    start: (call) => new StartedCall(call, setup),
  };
}

const pathOf = (tool: Call['tool'], paths: ToolPaths): string => paths[tool] ?? tool;

/** @throws ExpectedError for a missing tool */
async function outcomeOf(
  tool: Call['tool'],
  paths: ToolPaths,
  ended: Ended,
): Promise<ProcessResult> {
  const {code, exitCode, stdout, stderr} = ended;
  const path = pathOf(tool, paths);
  const isForbidden = code === 'EACCES';
  const isMissing = code === 'ENOENT' || isForbidden;
  if (isMissing || (exitCode !== ExitCode.ok && (await isUnknownToWindows(path))))
    throw toolNotFound(tool, path, isForbidden);
  return {exitCode: exitCode ?? ExitCode.failed, stdout, stderr};
}

async function runToEnd(call: Call, setup: ToolSetup): Promise<ProcessResult> {
  const {execa} = await import('execa');
  const ended = await execa(
    pathOf(call.tool, setup.paths),
    argumentsOf(call),
    optionsFor(call, setup),
  );
  if (ended.isTerminated) await wait(SIGNAL_MS);
  return outcomeOf(call.tool, setup.paths, ended);
}

async function runWithin(
  call: Call,
  setup: ToolSetup,
  signal: AbortSignal,
): Promise<ProcessResult> {
  const {execa} = await import('execa');
  const {signal: own, release} = followSignal(signal);
  try {
    // A missing tool that is canceled at once has the process ID 0: killing it would kill this program and its process group.
    if (own.aborted) return TIMED_OUT;
    // Otherwise child processes that hold the pipes would keep the program running.
    const ending = {cancelSignal: own, forceKillAfterDelay: FORCE_KILL_DELAY_MS};
    const path = pathOf(call.tool, setup.paths);
    const running = execa(path, argumentsOf(call), {...optionsFor(call, setup), ...ending});
    // Nothing may arrive after the end: a credential plugin can keep the pipes open.
    const ended =
      (await untilAborted(running, own)) ??
      (await untilAborted(running, AbortSignal.timeout(FORCE_KILL_DELAY_MS)));
    if (ended === undefined) {
      leave(running);
      return TIMED_OUT;
    }
    // Ctrl-C goes to the whole process group: the tool can end before this program receives the signal.
    if (ended.isTerminated && !own.aborted) await wait(SIGNAL_MS);
    const outcome = await outcomeOf(call.tool, setup.paths, ended);
    if (!ended.isCanceled) return outcome;
    return {...outcome, stderr: `${outcome.stderr}\n${TIMEOUT_MESSAGE}`, isTimedOut: true};
  } finally {
    release();
  }
}

/** A call with changes, which can be interrupted or left before its process has started. */
class StartedCall implements Running {
  readonly outcome: Promise<ProcessResult>;
  #child: (Child & {kill(signal: 'SIGINT'): boolean}) | undefined;
  #isInterrupted = false;
  #isLeft = false;

  constructor(call: Call, setup: ToolSetup) {
    this.outcome = this.#run(call, setup);
  }

  interrupt = (): void => {
    this.#isInterrupted = true;
    this.#child?.kill('SIGINT');
  };

  leave = (): void => {
    this.#isLeft = true;
    if (this.#child) leave(this.#child);
  };

  async #run(call: Call, setup: ToolSetup): Promise<ProcessResult> {
    const {execa} = await import('execa');
    const running = execa(pathOf(call.tool, setup.paths), argumentsOf(call), {
      ...optionsFor(call, setup),
      // An interrupted Helm marks the release as failed; killing it would leave the release locked.
      forceKillAfterDelay: false,
      // A terminal sends Ctrl-C to the whole process group, but only this program must signal the tool.
      detached: process.platform !== 'win32',
    });
    this.#child = running;
    if (this.#isLeft) leave(running);
    if (this.#isInterrupted) running.kill('SIGINT');
    return outcomeOf(call.tool, setup.paths, await running);
  }
}

const TIMEOUT_MESSAGE = 'error: timed out waiting for a response';
const TIMED_OUT: ProcessResult = {
  exitCode: ExitCode.failed,
  stdout: '',
  stderr: TIMEOUT_MESSAGE,
  isTimedOut: true,
};

interface Child {
  unref(): void;
  stdin: unknown;
  stdout: unknown;
  stderr: unknown;
}

/** Pipes of processes are sockets, which also keep a program alive. */
function leave(running: Child): void {
  running.unref();
  for (const pipe of [running.stdin, running.stdout, running.stderr])
    (pipe as Socket | null)?.unref();
}

const FORCE_KILL_DELAY_MS = 1000;
/** Time for a signal to arrive at all processes of a group. */
const SIGNAL_MS = 500;

export const toolNotFound = (
  tool: Call['tool'],
  path: string,
  isForbidden: boolean,
): ExpectedError =>
  failed(
    'TOOL_NOT_FOUND',
    path === tool
      ? `${tool} not found on PATH.`
      : `${path} cannot be executed: ${isForbidden ? whyForbidden(path) : 'no such file'}.`,
    [
      ...(path.includes(' ') ? [`--${tool} takes one program without arguments`] : []),
      HOW_TO_INSTALL[tool] ?? `Install ${tool}`,
    ],
  );

const whyForbidden = (path: string): string =>
  statSync(path, {throwIfNoEntry: false})?.isDirectory() ? 'is a directory' : 'permission denied';

const HOW_TO_INSTALL: Readonly<Partial<Record<Call['tool'], string>>> = {
  helm: 'Install helm, or set its path with --helm',
  kubectl: INSTALL_KUBECTL,
  docker: 'Install Docker 20.10 or newer, and check: docker ps',
};

/** Checks that a tool can be started, without starting it. @throws ExpectedError */
export async function requireTool(tool: Call['tool'], paths: ToolPaths = {}): Promise<void> {
  const path = paths[tool] ?? tool;
  if (process.platform === 'win32') {
    if (await isUnknownToWindows(path)) throw toolNotFound(tool, path, false);
    return;
  }
  const places = path.includes('/')
    ? [path]
    : (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, path));
  const found = places.filter((each) => allows(each, constants.F_OK));
  if (found.some((each) => statSync(each).isFile() && allows(each, constants.X_OK))) return;
  throw toolNotFound(tool, path, path.includes('/') && found.length > 0);
}

function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** On Windows, a missing tool does not fail with ENOENT: cmd.exe runs, and prints a localized error. True if `path` does not exist there. */
export async function isUnknownToWindows(path: string): Promise<boolean> {
  if (process.platform !== 'win32') return false;
  const {default: which} = await import('which');
  return which.sync(path, {nothrow: true}) === null;
}

/** Standard output of a tool that succeeds in time, otherwise undefined. The tool has no access to the terminal. */
export function execWithTimeout(
  command: string,
  args: readonly string[],
  milliseconds: number,
): Promise<string | undefined> {
  const hasGroups = process.platform !== 'win32';
  return new Promise((resolve) => {
    // Otherwise a credential plugin could prompt for a password on the terminal.
    const child = spawn(command, [...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: toolEnvironment(),
      detached: hasGroups,
      windowsHide: true,
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    const giveUp = setTimeout(() => {
      end(child, hasGroups);
      resolve(undefined);
    }, milliseconds);
    child.once('error', () => {
      clearTimeout(giveUp);
      resolve(undefined);
    });
    child.once('close', (code) => {
      clearTimeout(giveUp);
      resolve(code === 0 ? Buffer.concat(chunks).toString('utf8') : undefined);
    });
  });
}

/** Kills the process group. Processes that left the group are not waited for. */
function end(child: ChildProcess, hasGroups: boolean): void {
  try {
    if (hasGroups && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    else child.kill();
  } catch {
    // The process has just exited.
  }
  child.stdout?.destroy();
  child.unref();
}

/** What opens a file on this platform. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', '""'],
};

/** Opens a file in the browser of the user; false if nothing on this machine can. */
export const openInBrowser = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
    const child = spawn(command as string, [...args, path], {detached: true, stdio: 'ignore'});
    child.on('error', () => resolve(false));
    child.on('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
