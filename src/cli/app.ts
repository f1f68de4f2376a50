import type {Interfaces} from '@oclif/core';
import type {Environment} from '../answers/sources.ts';
import type {KubernetesClient} from '../cluster/kubernetes/client.ts';
import type {ClientOptions} from '../cluster/kubernetes/connect.ts';
import {type Clock, sleep} from '../ground/async.ts';
import {isCi} from '../ground/ci.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import {withInvokedName} from '../ground/program.ts';
import {DockerTarget} from '../ground/system/docker-target.ts';
import {HelmDirectories} from '../ground/system/helm-directories.ts';
import {hostTools} from '../ground/system/host-tools.ts';
import {NodeFiles, nodeCharts, readPageTemplate} from '../ground/system/node-files.ts';
import {nodeProcesses, requireTool, type ToolPaths} from '../ground/system/node-processes.ts';
import type {
  Archives,
  Charts,
  Connections,
  Files,
  HostTools,
  Interrupts,
  Processes,
  Prompter,
  Registries,
} from '../ground/system/system.ts';
import {handleInterrupts} from '../ground/system/this-process.ts';
import {LaterPrompter} from '../ui/later-prompter.ts';
import {LiveLines} from '../ui/live-lines.ts';
import type {ProgramOrigin} from '../ui/messages.ts';
import {printable} from '../ui/printable.ts';
import {asciiFallback, isAsciiOnly, type Screen, USUAL_COLUMNS} from '../ui/theme.ts';
import {withoutSecretsOf, withoutSecretsOfClient, withoutSecretsOfHost} from './foreign-output.ts';

/** External dependencies of a command; tests replace them. */
export interface App extends Clock {
  env: Environment;
  files: Files;
  charts: Charts;
  /** Prompts on this screen; the signal cancels them. */
  prompter: (screen: Screen, signal?: AbortSignal) => Prompter;
  /** helm and kubectl, with their paths if they are not on PATH. */
  processes: (paths: ToolPaths) => Processes;
  /** Nothing runs. @throws ExpectedError if the tool is not at its path or on PATH */
  requireTool: typeof requireTool;
  /** The API server, through kubectl at these paths. */
  kubernetes: (kubeTarget: ClusterTarget, options: ClientOptions) => Promise<KubernetesClient>;
  /** docker and systemd of this machine. */
  host: HostTools;
  registries: Registries;
  connections: Connections;
  archives: Archives;
  /** The empty page of a bundle, which the build compresses into the package in this directory. @throws Error if it is missing */
  pageTemplate: (root: string) => Promise<string>;
  /** False if nothing on this machine opens files. */
  openInBrowser: (path: string) => Promise<boolean>;
  handleInterrupts: () => Interrupts;
  /** Prompts are possible: input and output are terminals, and CI is not set. */
  hasTerminal: boolean;
  /** Standard error, which shows prompts and messages. */
  screen: Screen;
  /** Standard output, which shows results. */
  resultScreen: Screen;
  stdout: (text: string) => void;
  /** Printed above the live lines. */
  stderr: (text: string) => void;
  /** Replaces the live lines, the last lines of standard error on a terminal. */
  draw: (text: string) => void;
  exit: (code: number) => void;
  exitCode: () => number;
}

const USUAL_ROWS = 24;

const screenOf = (stream: NodeJS.WriteStream, isAccessible: boolean): Screen => ({
  hasColor:
    stream.isTTY === true &&
    !process.env['NO_COLOR'] &&
    process.env['TERM'] !== 'dumb' &&
    !isAccessible,
  // The current size; 0 where the terminal has none.
  get columns() {
    return stream.isTTY === true ? stream.columns || USUAL_COLUMNS : undefined;
  },
  get rows() {
    return this.isLive === true ? stream.rows || USUAL_ROWS : undefined;
  },
  isAscii: isAsciiOnly(process.env, stream.isTTY === true),
  isLive: stream.isTTY === true && process.env['TERM'] !== 'dumb' && !isAccessible,
  isAccessible: stream.isTTY === true && isAccessible,
});

/** What few commands use is loaded when it is called. */
const LOADED_LATER: Pick<
  App,
  'kubernetes' | 'registries' | 'connections' | 'archives' | 'pageTemplate' | 'openInBrowser'
> = {
  kubernetes: async (...where) => {
    const {kubernetesClient} = await import('../cluster/kubernetes/connect.ts');
    return withoutSecretsOfClient(kubernetesClient(...where));
  },
  registries: {
    manifest: async (...about) =>
      (await import('../ground/system/connections.ts')).registries.manifest(...about),
  },
  connections: {
    open: async (...about) =>
      (await import('../ground/system/connections.ts')).connections.open(...about),
  },
  archives: {
    create: async (path) =>
      (await import('../ground/system/zip-archive.ts')).zipArchives.create(path),
    open: async (path) => (await import('../ground/system/zip-archive.ts')).zipArchives.open(path),
  },
  pageTemplate: readPageTemplate,
  openInBrowser: async (path) =>
    (await import('../ground/system/node-processes.ts')).openInBrowser(path),
};

export function nodeApp(given = {isAccessible: false}): App {
  const isAccessible =
    given.isAccessible || !/^(|0|false|no)$/i.test(process.env['ACCESSIBLE'] ?? '');
  const errorScreen = screenOf(process.stderr, isAccessible);
  const live = new LiveLines(process.stderr);
  const docker = new DockerTarget(hostTools, process.env);
  const helm = new HelmDirectories();
  const files = new NodeFiles();
  return {
    ...LOADED_LATER,
    env: process.env,
    files,
    charts: nodeCharts(files),
    prompter: (screen, signal) => nodePrompter(screen, isAccessible, signal),
    processes: (paths) => docker.guard(withoutSecretsOf(nodeProcesses(paths, helm))),
    requireTool,
    host: withoutSecretsOfHost(docker.tools()),
    handleInterrupts,
    now: () => new Date(),
    sleep,
    hasTerminal:
      process.stdin.isTTY === true && process.stderr.isTTY === true && !isCi(process.env),
    screen: errorScreen,
    resultScreen: screenOf(process.stdout, isAccessible),
    stdout: (text) => process.stdout.write(printable(text)),
    stderr: (text) => live.print(withInvokedName(asciiFallback(text, errorScreen), process.env)),
    draw: live.draw,
    exit: (code) => {
      process.exitCode = code;
    },
    exitCode: () => Number(process.exitCode ?? 0),
  };
}

function nodePrompter(
  screen: Screen,
  isAccessible: boolean,
  signal: AbortSignal | undefined,
): Prompter {
  const streams = {
    input: process.stdin,
    output: process.stderr,
    interrupt: () => process.kill(process.pid, 'SIGINT'),
    isEchoed: process.env['INSIDE_EMACS'] !== undefined,
    ...(signal ? {signal} : {}),
  };
  const isByLine = process.env['TERM'] === 'dumb' || isAccessible;
  return new LaterPrompter(!isByLine, async () => {
    if (isByLine) return new (await import('../ui/line-prompter.ts')).LinePrompter(screen, streams);
    const {InquirerPrompter} = await import('../ui/inquirer-prompter.ts');
    return new InquirerPrompter(screen, streams);
  });
}

interface Addresses {
  repository: {url: string};
  bugs: {url: string};
}

/** The addresses of package.json as URLs for a browser. */
export function originOf(pjson: Interfaces.PJSON): ProgramOrigin {
  const {repository, bugs} = pjson as unknown as Addresses;
  return {
    version: pjson.version,
    repository: repository.url.replace(/^git\+|\.git$/g, ''),
    bugs: bugs.url,
  };
}
