import {sleep} from '../adapters/clock.ts';
import type {openClusterApi} from '../adapters/cluster-api.ts';
import {hostTools} from '../adapters/host-tools.ts';
import {nodeCharts} from '../adapters/node-charts.ts';
import {nodeFiles} from '../adapters/node-files.ts';
import {takeInterrupts} from '../adapters/node-interrupts.ts';
import {nodeProcesses, type ToolPaths} from '../adapters/node-processes.ts';
import type {Environment} from '../answers/sources.ts';
import type {Archives} from '../ports/archive.ts';
import type {Charts} from '../ports/charts.ts';
import type {Files} from '../ports/files.ts';
import type {HostTools} from '../ports/host-tools.ts';
import type {Interrupts} from '../ports/interrupts.ts';
import type {Processes} from '../ports/processes.ts';
import type {Prompter} from '../ports/prompter.ts';
import {inquirerPrompter} from '../ui/inquirer-prompter.ts';
import {isAsciiOnly, legible} from '../ui/legible.ts';
import {linePrompter} from '../ui/line-prompter.ts';
import type {Screen} from '../ui/theme.ts';

/** The outside world of a command; tests put another in its place. */
export interface App {
  env: Environment;
  files: Files;
  charts: Charts;
  /** Questions on this screen; the signal takes them away. */
  prompter: (screen: Screen, signal?: AbortSignal) => Prompter;
  /** helm and kubectl, at these paths where they are not on PATH. */
  processes: (paths: ToolPaths) => Processes;
  /** The API server for many requests, by kubectl at these paths. */
  clusterApi: typeof openClusterApi;
  /** docker and systemd of this machine. */
  host: HostTools;
  archives: Archives;
  takeInterrupts: () => Interrupts;
  now: () => Date;
  /** Waits, and no longer than until the signal. */
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Somebody can answer: a terminal on both ends of the conversation and no CI. */
  hasTerminal: boolean;
  /** Standard error, where the conversation is. */
  screen: Screen;
  /** Standard output, where the result is. */
  resultScreen: Screen;
  stdout: (text: string) => void;
  stderr: (text: string) => void;
}

const screenOf = (stream: NodeJS.WriteStream): Screen => ({
  hasColor: stream.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb',
  // As wide as it is now.
  get columns() {
    return stream.isTTY === true ? stream.columns : undefined;
  },
  isAscii: isAsciiOnly(process.env, stream.isTTY === true),
});

export function nodeApp(): App {
  const errorScreen = screenOf(process.stderr);
  return {
    env: process.env,
    files: nodeFiles,
    charts: nodeCharts(nodeFiles),
    prompter: (screen, signal) => {
      const streams = {input: process.stdin, output: process.stderr, ...(signal ? {signal} : {})};
      return process.env['TERM'] === 'dumb' ? linePrompter(screen, streams) : inquirerPrompter(screen, streams);
    },
    processes: nodeProcesses,
    async clusterApi(...where) {
      const {openClusterApi} = await import('../adapters/cluster-api.ts');
      return openClusterApi(...where);
    },
    host: hostTools,
    archives: {
      async create(path) {
        const {zipArchives} = await import('../adapters/zip-archive.ts');
        return zipArchives.create(path);
      },
      open: async (path) => (await import('../adapters/zip-archive.ts')).zipArchives.open(path),
    },
    takeInterrupts,
    now: () => new Date(),
    sleep,
    hasTerminal: process.stdin.isTTY === true && process.stderr.isTTY === true && !process.env['CI'],
    screen: errorScreen,
    resultScreen: screenOf(process.stdout),
    stdout: (text) => process.stdout.write(text),
    stderr: (text) => process.stderr.write(legible(text, errorScreen)),
  };
}
