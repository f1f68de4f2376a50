import {execFileSync, spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, relative} from 'node:path';
import {spawn} from '@lydell/node-pty';
import {ROOT} from '../package/built.ts';
import {bundledInputs, readMetafile} from '../package/metafile.ts';
import type {Budget, Start} from './compare.ts';

const VALUES = ['values', '--url', 'https://acme.scalr.io', '--chart', 'agent-job', '--cache', 'pvc'];

const FIRST_QUESTION = /Agent pool token/;

const STARTS: Readonly<Record<string, (env: Record<string, string>) => Promise<void> | void>> = {
  '--version': (env) => inPipe(['--version'], env),
  '--help': (env) => inPipe(['--help'], env),
  values: (env) => inPipe(VALUES, env),
  'validate FILE': (env) => inPipe(['validate', 'test/golden/agent-job-0.6.5-cache-pvc/values.yaml'], env),
  'the first question': (env) => untilFirstQuestion(env),
};

const program = (args: readonly string[]): string[] => [
  '--require',
  join(ROOT, 'test/budget/loaded.cjs'),
  join(ROOT, 'dist/bin/scalr-agent.js'),
  ...args,
];

function inPipe(args: readonly string[], env: Readonly<Record<string, string>>): void {
  const {status, stderr} = spawnSync(process.execPath, program(args), {cwd: ROOT, env, encoding: 'utf8'});
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`);
}

/** Without kubectl, so that it is the same everywhere. */
function untilFirstQuestion(env: Record<string, string>): Promise<void> {
  const pty = spawn(process.execPath, program(['install']), {cols: 80, rows: 24, cwd: ROOT, env: {...env, TERM: 'xterm', LANG: 'C.UTF-8'}});
  let screen = '';
  let hasAnswered = false;
  pty.onData((text) => {
    screen += text;
    if (hasAnswered || !FIRST_QUESTION.test(screen)) return;
    hasAnswered = true;
    pty.write('\u0003');
  });
  return new Promise((resolve, reject) => {
    pty.onExit(({exitCode}) => (exitCode === 130 ? resolve() : reject(new Error(`install ended with ${exitCode}:\n${screen}`))));
  });
}

/** What the built program is like; build first. */
export async function measure(): Promise<Budget> {
  const [{size, unpackedSize}] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'], {cwd: ROOT, encoding: 'utf8'}),
  );
  const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  try {
    const starts: Record<string, Start> = {};
    for (const [name, start] of Object.entries(STARTS)) starts[name] = await loadedBy(start, folder);
    return {packedKilobytes: size / 1000, unpackedKilobytes: unpackedSize / 1000, packages: packagesIn(bundledInputs()), starts};
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}

async function loadedBy(start: (env: Record<string, string>) => Promise<void> | void, folder: string): Promise<Start> {
  const to = join(folder, 'loaded.json');
  const read = (): {files: string[]; builtins: string[]} => JSON.parse(readFileSync(to, 'utf8'));
  // As it usually starts, and as Node.js itself knows which files were loaded.
  await start({HOME: folder, LOADED_TO: to});
  const {builtins} = read();
  await start({HOME: folder, LOADED_TO: to, NODE_DISABLE_COMPILE_CACHE: '1'});
  const files = read().files.filter((file) => file.startsWith(join(ROOT, 'dist')));
  const inputs = bundledInputs(
    readMetafile(),
    files.map((file) => relative(ROOT, file)),
  );
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  return {kilobytes: bytes / 1000, builtins: builtins.toSorted(), modules: [...packagesIn(inputs), ...foldersIn(inputs)]};
}

const sortedOnce = (names: readonly string[]): string[] => [...new Set(names)].toSorted();

const packagesIn = (inputs: readonly string[]): string[] =>
  sortedOnce(inputs.flatMap((path) => /^node_modules\/(?:.*\/node_modules\/)?((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));

const foldersIn = (inputs: readonly string[]): string[] =>
  sortedOnce(inputs.flatMap((path) => /^((?:src|schemas|templates)\/[^/]+)/.exec(path)?.[1] ?? []));
