import {isChart} from '../charts/releases/chart-name.ts';
import {type ExpectedError, failed, usageError} from '../ground/errors.ts';
import {closest, isMisspelled} from '../ground/similar-text.ts';
import {few, oneOf} from '../ground/text.ts';
import {type KnownFlags, otherSpellings, similarFlag} from './spellings.ts';

/** Command line, and existing commands and flags. */
export interface CommandLine {
  argv: readonly string[];
  commands: readonly string[];
  /** Flags of the command; absent if there is no such command. */
  flags?: KnownFlags;
}

interface OclifError extends Error {
  oclif: unknown;
  flags?: readonly string[];
  args?: readonly (string | {name: string})[];
}

export const isOclif = (error: unknown): error is OclifError =>
  error instanceof Error && 'oclif' in error;

const HELP = 'List all flags with --help';

/** An error of oclif in our words: its own quote the command line, which can contain secrets. */
export function usageFailure(error: OclifError, line: CommandLine): ExpectedError {
  const {commands} = line;
  const [flag] = error.flags ?? [];
  if (flag !== undefined) return unknownFlag(flag, line.flags ?? {});
  const words = /^command (.*) not found\.?$/i.exec(error.message)?.[1]?.split(':') ?? [];
  if (words[0]?.startsWith('-'))
    return unknownFlag(words[0], WITHOUT_COMMAND, 'List all commands with --help');
  // The next word is part of the command only after a topic, such as pool.
  const isTopic = (end: number): boolean =>
    commands.some((each) => each.startsWith(`${words.slice(0, end).join(':')}:`));
  const length = words.findIndex((_, index) => !isTopic(index + 1)) + 1 || words.length;
  const command = words.slice(0, length).join(' ');
  const [arg] = error.args ?? [];
  const isCommand = commands.includes(command.replaceAll(' ', ':'));
  const afterCommand = isCommand ? words[length] : undefined;
  const stray = typeof arg === 'string' ? arg : afterCommand;
  if (stray !== undefined) return unexpectedArgument(stray, line);
  if (command !== '') return unknownCommand(command, commands);
  const reasons = error.message.split('\n').map((each) => each.trim());
  for (const [pattern, explain] of MESSAGES) {
    const match = reasons.map((each) => pattern.exec(each)).find((each) => each !== null);
    if (match) return explain(match.slice(1), line.flags ?? {}, error);
  }
  return usageError('Invalid command line.', [HELP], error);
}

type Explain = (words: string[], flags: KnownFlags, cause: Error) => ExpectedError;

/** Messages of the parser of oclif. */
const MESSAGES: readonly (readonly [RegExp, Explain])[] = [
  [
    /^Expected --([\w-]+)=(.*) to be one of: (.*)$/s,
    ([flag = '', value = '', options = ''], _, cause) =>
      notAnOption(value, options.split(', '), cause, `--${flag}`),
  ],
  [
    /^Expected (.*) to be one of: (.*)$/s,
    ([value = '', options = ''], _, cause) => notAnOption(value, options.split(', '), cause),
  ],
  [
    /^Flag --([\w-]+) expects (?:a value|one of these values: (.*))$/,
    ([flag = '', options], flags, cause) => {
      const hint = String(flags[flag]?.helpValue ?? '<VALUE>').replaceAll(/[<>]/g, '');
      const values = options?.split(', ') ?? hint.split('|');
      return usageError(`--${flag} requires a value.`, [`Use --${flag} ${oneOf(values)}`], cause);
    },
  ],
  said(
    /^Flag --([\w-]+) can only be specified once$/,
    '--$1 is set twice.',
    'Remove one of the two',
  ),
  said(
    /^All of the following must be provided when using --([\w-]+): (.*)$/,
    '--$1 requires $2.',
    'Add $2, or omit --$1',
  ),
  said(
    /^--([\w-]+)(?:=.*)? cannot also be provided when using --([\w-]+)$/s,
    '--$2 cannot be used with --$1.',
    'Omit one of these flags',
  ),
];

function said(pattern: RegExp, message: string, step: string): readonly [RegExp, Explain] {
  const filled = (text: string, words: readonly string[]): string =>
    text.replace(/\$(\d)/g, (_, index) => words[index - 1] ?? '');
  return [
    pattern,
    (words, _, cause) => usageError(filled(message, words), [filled(step, words)], cause),
  ];
}

/** A value of an argument or of a flag. */
function notAnOption(
  value: string,
  options: readonly string[],
  cause: Error,
  flag?: string,
): ExpectedError {
  const typed = value.toLowerCase();
  const words = typed.split(/[-_]/);
  const named = options.filter((option) => words.includes(option));
  const near =
    named.length > 0 ? named : options.filter((option) => isMisspelled(typed, option, options));
  const before = flag === undefined ? '' : `${flag}: `;
  const use = flag === undefined ? 'Use' : `Use ${flag}`;
  return usageError(
    `${before}"${value}" is not one of ${options.join(', ')}.`,
    [near.length === 0 ? `${use} ${oneOf(options)}` : `Did you mean ${oneOf(near)}?`],
    cause,
  );
}

/** Flags that do not exist, and what to use instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  token:
    'Set the token with SCALR_AGENT_TOKEN or --token-file. Other users could read a token on the command line',
  inspect: 'Use the command: scalr-agent inspect FILE',
};

const WITHOUT_COMMAND: KnownFlags = {help: {type: 'boolean'}, version: {type: 'boolean'}};

function unknownFlag(word: string, flags: KnownFlags, help = HELP): ExpectedError {
  const typed = word.replace(/=.*/s, '');
  const name = typed.replace(/^-+/, '');
  const longer = Object.keys(flags).filter((flag) =>
    flag.split('-').includes(name.replace(/s$/, '')),
  );
  const near =
    name.length > 1
      ? closest(name.replace(/^no-/, ''), [...Object.keys(flags), ...otherSpellings(flags)])
      : undefined;
  const meant =
    longer.length > 0
      ? `${longer.length > 1 ? 'one of ' : ''}${few(longer.map((flag) => `--${flag}`))}`
      : near && `--${near}`;
  const similar =
    similarFlag(typed, flags) ?? (meant && (similarFlag(meant, flags) ?? `Did you mean ${meant}?`));
  const suggestions =
    name in INSTEAD ? [INSTEAD[name] as string] : [...(similar ? [similar] : []), help];
  return failed('UNKNOWN_FLAG', `Unknown flag: ${typed}.`, suggestions);
}

/** Commands of Helm, kubectl, Docker and Terraform. */
const COMMANDS_OF_OTHERS: Readonly<Record<string, string>> = {
  list: 'status --all-namespaces',
  ls: 'status --all-namespaces',
  get: 'status',
  describe: 'status',
  show: 'status',
  ps: 'status',

  delete: 'uninstall',
  remove: 'uninstall',
  rm: 'uninstall',
  destroy: 'uninstall',
  down: 'uninstall',

  apply: 'install',
  init: 'install',
  up: 'install',
  setup: 'install',
  deploy: 'install',
  run: 'install',
  start: 'install',

  plan: 'install --dry-run',
  diff: 'install --diff',
  template: 'values',
  generate: 'values',
  config: 'values',

  lint: 'validate',
  check: 'preflight',
  doctor: 'preflight',
  test: 'preflight',
  update: 'upgrade',
  rotate: 'rotate-token',
  token: 'rotate-token',
  logs: 'collect-logs',
  log: 'collect-logs',
  bundle: 'collect-logs',
  mirror: 'images',
};

/** The same inside of a topic, such as pool; the first one that exists is meant. */
const IN_TOPICS: Readonly<Record<string, readonly string[]>> = {
  rm: ['delete', 'revoke'],
  remove: ['delete', 'revoke'],
  delete: ['revoke'],

  ls: ['list'],
  get: ['show', 'list'],
  describe: ['show', 'list'],
  add: ['create'],
  new: ['create'],
};

const RESTART =
  'Run: kubectl rollout restart deployment,daemonset --selector app.kubernetes.io/instance=RELEASE --namespace NAMESPACE';

/** What kubectl and helm do with an installed agent. */
const BY_HAND: Readonly<Record<string, string>> = {
  restart: RESTART,
  rollout: RESTART,
  rollback: 'Run: helm rollback RELEASE --namespace NAMESPACE',
  history: 'Run: helm history RELEASE --namespace NAMESPACE',
  scale:
    'For more concurrent runs of agent-local, run scalr-agent install with --concurrency. For the other charts, add nodes',
};

function unknownCommand(command: string, commands: readonly string[]): ExpectedError {
  const topics = commands.flatMap((each) => /^(.+):/.exec(each)?.[1] ?? []);
  const names = [...new Set([...commands, ...topics])].map((each) => each.replaceAll(':', ' '));
  const begun = names.filter((each) => command.length > 2 && each.startsWith(command));
  const near = begun.length === 1 ? begun[0] : closest(command, names);
  const [, topic, last = ''] = /^(.+) (\S+)$/.exec(command) ?? [];
  const meant = IN_TOPICS[last]?.find((each) =>
    commands.includes(`${topic?.replaceAll(' ', ':')}:${each}`),
  );
  const other = meant === undefined ? COMMANDS_OF_OTHERS[command] : `${topic} ${meant}`;
  const guess = BY_HAND[command] ?? (near && `Did you mean ${near}?`);
  const step = other === undefined ? guess : `Run: scalr-agent ${other}`;
  return failed('UNKNOWN_COMMAND', `Unknown command: ${command}.`, [
    ...(step ? [step] : []),
    'List all commands with --help',
  ]);
}

const isSwitch = (flag: string, flags: KnownFlags): boolean =>
  flags[flag.replace(/^--(no-)?/, '')]?.type === 'boolean';

/** `--yes=false` */
const isAssigned = (word: string, value: string, flags: KnownFlags): boolean =>
  word.endsWith(`=${value}`) && isSwitch(word.slice(0, -value.length - 1), flags);

function noValue(flag: string, flags: KnownFlags): ExpectedError {
  const name = flag.replace(/^--(no-)?/, '');
  const other = flags[name]?.allowNo ? `--no-${name}` : 'omit it';
  return usageError(`${flag} takes no value.`, [`Use --${name}, or ${other}`]);
}

/**
 * An unexpected argument. Text after the value of a flag can be part of that value, and of a password, so the message
 * contains the flag instead.
 */
export function unexpectedArgument(
  argument: string,
  {argv, commands, flags = {}}: CommandLine,
): ExpectedError {
  if (commands.includes(argument))
    return usageError(`Unexpected argument "${argument}": it is a command.`, [
      `Run: scalr-agent ${argument}`,
    ]);
  const assigned = argv.find((word) => isAssigned(word, argument, flags));
  if (assigned !== undefined) return noValue(assigned.replace(/=.*/s, ''), flags);
  const index = argv.indexOf(argument);
  const at = argv.slice(0, Math.max(index, 0)).findLastIndex((word) => word.startsWith('-'));
  const flag = argv[at]?.replace(/=.*/s, '');
  if (flag !== undefined && at === index - 1 && isSwitch(flag, flags)) return noValue(flag, flags);
  // Helm has the name of the release as an argument.
  const isRelease = flags['release'] !== undefined && /^[a-z][a-z0-9-]{0,52}$/.test(argument);
  const suggestions = [
    ...(flag === undefined ? [] : ['Quote values that contain spaces']),
    ...(flag === undefined && flags['chart'] !== undefined && isChart(argument)
      ? [`Set the chart with a flag: --chart ${argument}`]
      : []),
    ...(flag === undefined && isRelease && !isChart(argument)
      ? [`Set the name of the release with a flag: --release ${argument}`]
      : []),
    HELP,
  ];
  const isRest = flag !== undefined && (at < index - 1 || argv[at] !== flag);
  return usageError(
    isRest
      ? `Unexpected argument after the value of ${flag}.`
      : `Unexpected argument "${argument}".`,
    suggestions,
  );
}
