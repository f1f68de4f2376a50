import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {Flags, Parser} from '@oclif/core';
import type {Target} from '../../src/charts/releases/target.ts';
import {isBroken, newestOf} from '../../src/charts/releases/target.ts';
import {type ErrorCode, failed} from '../../src/ground/errors.ts';
import {commandIn, commands, type Documented, root} from '../docs/commands.ts';
import {certificates} from './certificates.ts';
import {commandsIn, isFailure, type PrintedCommand} from './commands-in.ts';
import {memoryFiles} from './memory-files.ts';
import {runCommand} from './run-command.ts';

/** A command line, and the files and variables that it meets. There is no cluster and no network. */
export interface Situation {
  typed: string;
  /** `-` is standard input. */
  files?: Readonly<Record<string, string>>;
  env?: Readonly<Record<string, string>>;
}

interface Outcome {
  exit: number;
  text: string;
  code: ErrorCode | undefined;
  message: string;
  suggestions: readonly string[];
}

const nowhere = (): never => {
  throw failed('CLUSTER_UNREACHABLE', 'There is no cluster.', ['Start one']);
};
const asyncNowhere = async (): Promise<never> => nowhere();

/** Any request fails. */
const unreachableCluster = new Proxy(
  {},
  {
    get: (_, name) => {
      if (name === 'then') return undefined;
      return name === 'close' ? async () => undefined : asyncNowhere;
    },
  },
);

/** Files of the package. */
const COMPLETIONS = Object.fromEntries(
  ['bash', 'zsh', 'fish', 'ps1']
    .map((shell) => join(root, `templates/completion/scalr-agent.${shell}`))
    .map((path) => [path, readFileSync(path, 'utf8')]),
);

/** The disk of a situation, which its printed commands find as it was left. */
export type Disk = ReturnType<typeof memoryFiles>;

export const diskOf = ({files = {}}: Situation): Disk => ({
  ...memoryFiles({...certificates, ...COMPLETIONS, ...files}, files['-']),
  list: async (directory) =>
    Object.keys(files).flatMap((path) =>
      path.startsWith(`${directory}/`) ? [path.slice(directory.length + 1)] : [],
    ),
});

/** Words of a command line, without a shell. */
export const wordsOf = (text: string): readonly string[] =>
  commandsIn(`scalr-agent ${text}`)[0]?.args ?? text.split(' ');

export async function outcomeOf(
  words: readonly string[],
  disk: Disk,
  env: Situation['env'] = {},
): Promise<Outcome> {
  const {found, rest} = commandIn(words);
  if (found === undefined) throw new Error(`unknown command: ${words.join(' ')}`);
  const {stdout, stderr, exit} = await runCommand(found.command as never, [...rest], {
    env,
    files: disk,
    processes: () => ({run: asyncNowhere, stream: asyncNowhere}) as never,
    kubernetes: async () => unreachableCluster as never,
    host: {run: asyncNowhere, stream: asyncNowhere},
    archives: {open: asyncNowhere} as never,
    connections: {open: async () => ({state: 'dns', detail: ''})},
    registries: {manifest: async () => ({state: 'failed', because: 'no network'})},
  });
  const {error} = (stdout.startsWith('{') ? JSON.parse(stdout) : {}) as {error?: Partial<Outcome>};
  const {code, message = '', suggestions = []} = error ?? {};
  return {exit, text: `${stdout}\n${stderr}`, code, message, suggestions};
}

/** A printed command does not ask for what was not given, and contradicts nothing. */
const REFUSED: ReadonlySet<ErrorCode | undefined> = new Set([
  'USAGE',
  'UNKNOWN_COMMAND',
  'UNKNOWN_FLAG',
  'MISSING_SETTING',
  'INVALID_SETTING',
  'INVALID_ANSWERS_FILE',
  'UNSUPPORTED_SETTING',
  'CONFLICTING_SETTINGS',
  'RESERVED_VARIABLE',
  'NO_CHART_FITS',
  'VERSION_TOO_OLD',
  'VERSION_NOT_RELEASED',
  'UNREADABLE_FILE',
  'NO_CREDENTIAL',
  'BUG',
]);

/** The document on standard output is an error that the command line causes. */
export const isRefused = (stdout: string): boolean =>
  stdout.startsWith('{') &&
  REFUSED.has((JSON.parse(stdout) as {error?: {code: ErrorCode}}).error?.code ?? 'CANCELED');

/** Without settings, install is the wizard, which requires a terminal. */
export const isWizard = (args: readonly string[]): boolean => {
  const flags = args.filter((word) => word.startsWith('--'));
  return (
    args[0] === 'install' &&
    flags.every((flag) =>
      ['--release', '--namespace', '--kube-context', '--kubeconfig'].includes(flag),
    )
  );
};

/** Flags that take the effect from a command, and ask for an answer that programs read. */
export function dryRunFlags(args: readonly string[], {command}: Documented): string[] {
  const known = {...ROOT_FLAGS, ...command.baseFlags, ...command.flags};
  // A dry run of preflight is one of its probe.
  const isChecked = args[0] === 'preflight' && !args.includes('--probe');
  return (isChecked ? ['json'] : ['dry-run', 'json'])
    .filter((flag) => flag in known && !args.includes(`--${flag}`))
    .map((flag) => `--${flag}`);
}

const ROOT_FLAGS = {json: Flags.boolean(), help: Flags.boolean()};

/** What a shell would not take as it is printed. */
const UNTYPABLE = /(?<![|\\])\b\w[\w.-]*\|\w|<[a-z][\w-]*>|…/;

/** The commands of this program in the text, and what is wrong with each. */
export async function problemsIn(
  text: string,
  disk: Disk,
  env: Situation['env'] = {},
): Promise<string[]> {
  const own = commandsIn(text).filter(
    (each) => each.tool === 'scalr-agent' && each.args.length > 0 && !isFailure(each),
  );
  const once = [...new Map(own.map((each) => [each.text, each])).values()];
  const problems = await Promise.all(once.map((each) => problemOf(each, disk, env)));
  return problems.flatMap((problem) => problem ?? []);
}

async function problemOf(
  {text, args}: PrintedCommand,
  disk: Disk,
  env: Situation['env'],
): Promise<string | undefined> {
  if (UNTYPABLE.test(text)) return `${text}: a shell reads it in another way`;
  if (args.includes('--help')) return undefined;
  const {found, rest} = commandIn(args);
  if (found === undefined) return `${text}: unknown command`;
  const {flags, baseFlags, args: takes, strict} = found.command;
  const known = {...ROOT_FLAGS, ...baseFlags, ...flags};
  try {
    await Parser.parse([...rest], {flags: known, args: takes, strict});
  } catch (error) {
    return `${text}: ${(error as Error).message.split('\n')[0]}`;
  }
  const broken = brokenVersion(args);
  if (broken !== undefined) return `${text}: ${broken}`;
  const typed = [...args, ...dryRunFlags(args, found)];
  const {code, message} = await outcomeOf(typed, disk, env);
  if (REFUSED.has(code)) return `${text}: ${code} ${message}`;
  return args[0] === 'install' ? await problemOfSettings(text, rest, disk, env) : undefined;
}

/** Without a cluster, install does not come as far as its settings; `values` takes the same. */
async function problemOfSettings(
  text: string,
  rest: readonly string[],
  disk: Disk,
  env: Situation['env'],
): Promise<string | undefined> {
  if (rest.includes('docker')) return undefined;
  const known = commands.find(({id}) => id === 'values')?.command.flags ?? {};
  const kept: string[] = [];
  let isKept = true;
  for (const word of rest) {
    const [, name] = /^--([a-z-]+)/.exec(word) ?? [];
    if (name !== undefined) isKept = name in known;
    if (isKept) kept.push(word);
  }
  const {code, message} = await outcomeOf(['values', ...kept, '--json'], disk, env);
  return REFUSED.has(code) ? `${text}: ${code} ${message}` : undefined;
}

/** A version that kills every run, or cannot be downloaded. */
function brokenVersion(words: readonly string[]): string | undefined {
  const given = (flag: string): string | undefined => words[words.indexOf(flag) + 1];
  const chart = (words.includes('--chart') ? given('--chart') : undefined) as
    | Target['chart']
    | undefined;
  if (chart === undefined) return undefined;
  const version = words.includes('--chart-version')
    ? (given('--chart-version') as string)
    : newestOf(chart);
  return isBroken({chart, version}) ? `${chart} ${version} is broken` : undefined;
}

/** Flags at the start of a suggestion: "Use --chart agent-k8s, which …". */
const FLAGS =
  /^(?:Use|Add) (--[a-z][a-z-]*(?: (?!--|or\b|and\b|if\b|with\b|for\b|to\b|instead\b)[^\s,;]+)?(?: --[a-z][a-z-]*(?: (?!--|or\b|and\b)[^\s,;]+)?)*)(?:[,;]|$)/;
/** A word in capitals has to be replaced: for programs only. */
export const PLACEHOLDER = /(?<![\w-])[A-Z][A-Z_]+(?![\w-])/;

/** Why the suggestion does not help: it repeats the input, or the same error follows. */
export async function uselessness(
  suggestion: string,
  words: readonly string[],
  {message}: Pick<Outcome, 'message'>,
  disk: Disk,
  env: Situation['env'] = {},
): Promise<string | undefined> {
  const [, text] = FLAGS.exec(suggestion) ?? [];
  if (text === undefined) return undefined;
  if (UNTYPABLE.test(text)) return `${suggestion}: not one value`;
  if (PLACEHOLDER.test(text)) return undefined;
  const added = text.split(' ');
  const changed = withFlags(words, added);
  if (changed.join(' ') === words.join(' ')) return `${suggestion}: already given`;
  const broken = brokenVersion(changed);
  if (broken !== undefined) return `${suggestion}: ${broken}`;
  const again = await outcomeOf(changed, disk, env);
  return again.message !== '' && again.message === message
    ? `${suggestion}: same error`
    : undefined;
}

/** The words with these flags instead of earlier values of them. */
function withFlags(words: readonly string[], added: readonly string[]): string[] {
  const names = added.filter((word) => word.startsWith('--'));
  const kept = words.filter(
    (word, index) =>
      !names.includes(word) && !(names.includes(words[index - 1] ?? '') && !word.startsWith('--')),
  );
  const same = names.every((name) => {
    const at = words.indexOf(name);
    const value = added[added.indexOf(name) + 1];
    return at >= 0 && (value === undefined || value.startsWith('--') || words[at + 1] === value);
  });
  return same ? [...words] : [...kept, ...added];
}

/** Why the command line is still rejected after it got the flags of the suggestion. */
export async function problemAfter(
  suggestion: string,
  words: readonly string[],
  disk: Disk,
): Promise<string | undefined> {
  const [, text = ''] = FLAGS.exec(suggestion) ?? [];
  const {code, message} = await outcomeOf(withFlags(words, text.split(' ')), disk);
  return REFUSED.has(code) ? `${suggestion}: ${code} ${message}` : undefined;
}
