import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {Config, type Interfaces} from '@oclif/core';
import type {App} from '../../src/cli/app.ts';
import type {BaseCommand} from '../../src/cli/base-command.ts';
import {nodeCharts} from '../../src/ground/system/node-files.ts';
import type {Prompter} from '../../src/ground/system/system.ts';
import {zipArchives} from '../../src/ground/system/zip-archive.ts';
import {memoryFiles} from './memory-files.ts';
import {TODAY} from './settings-from.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const {oclif, ...pjson} = JSON.parse(
  readFileSync(`${root}/package.json`, 'utf8'),
) as Interfaces.PJSON;
const {commands: _, ...withoutDiscovery} = oclif;
const config = await Config.load({
  root,
  pjson: {...pjson, oclif: withoutDiscovery} as Interfaces.PJSON,
});

const PLAIN = {hasColor: false, columns: undefined};

const unexpected = async (question: string | {message: string}): Promise<never> => {
  throw new Error(
    `nobody expected the question: ${typeof question === 'string' ? question : question.message}`,
  );
};

/** Fails on any question. */
const NOBODY: Prompter = {
  canRedraw: true,
  wait: async (_, promise) => promise,
  session: (work) => work(),
  erase: () => undefined,
  confirm: unexpected,
  input: unexpected,
  password: unexpected,
  select: unexpected,
  search: unexpected,
};

/** The name that oclif gives to a command: PoolCreate is pool:create, CollectLogs is collect-logs. */
function idOf({name}: {name: string}): string {
  const words = name
    .replace(/Command$/, '')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-')
    .toLowerCase();
  return words.startsWith('pool-') ? words.replaceAll('-', ':') : words;
}

/** Runs one command in this process with replaced adapters; requires no build. */
export async function runCommand<Result extends object | undefined>(
  Class: new (argv: string[], config: Config) => BaseCommand<Result>,
  argv: string[],
  {prompter, ...deps}: Partial<Omit<App, 'prompter'>> & {prompter?: Partial<Prompter>} = {},
) {
  const out: string[] = [];
  const err: string[] = [];
  let exit = 0;
  const command = new Class(argv, config);
  command.id ??= idOf(Class);
  command.createApp = () => ({
    env: {},
    files: memoryFiles(),
    charts: nodeCharts(deps.files ?? memoryFiles()),
    prompter: () => ({...NOBODY, ...prompter}),
    processes: () => {
      throw new Error('nobody expected helm or kubectl');
    },
    requireTool: async () => undefined,
    kubernetes: async () => {
      throw new Error('nobody expected the API server');
    },
    host: {
      run: async () => unexpected('docker and systemd'),
      stream: async () => unexpected('docker and systemd'),
    },
    registries: {
      manifest: async () => unexpected('image registries'),
    },
    connections: {
      open: async () => unexpected('connections'),
    },
    archives: zipArchives,
    pageTemplate: async () => '<main><!--first--></main><!--data-->',
    openInBrowser: async () => unexpected('a browser'),
    handleInterrupts: () => ({
      interrupt: new AbortController().signal,
      forceQuit: new AbortController().signal,
      release: () => undefined,
    }),
    now: () => TODAY,
    sleep: async () => undefined,
    hasTerminal: false,
    screen: PLAIN,
    resultScreen: PLAIN,
    stdout: (text) => out.push(text),
    stderr: (text) => err.push(text),
    draw: () => undefined,
    exit: (code) => {
      exit = code;
    },
    exitCode: () => exit,
    ...deps,
  });
  await command['_run']();
  return {stdout: out.join(''), stderr: err.join(''), exit};
}
