import {type ExpectedError, failed, usageError} from '../ground/errors.ts';
import {closest} from '../ground/text.ts';
import type {Files} from '../ports/system.ts';
import {type KnownFlags, similarFlag, spellingsOf} from './spellings.ts';

interface Arguments {
  /** Files to validate separately. */
  given: readonly string[];
  /** Files to merge and validate as one. */
  layers: readonly string[];
  format: string | undefined;
  isJson: boolean;
}

/** Rejects ambiguous arguments. @throws ExpectedError */
export function refuseUnclear({given, layers, format, isJson}: Arguments): void {
  const [file, layer] = [given[0], layers[0]];
  if (file === undefined && layer === undefined) {
    throw usageError('No file to validate.', [
      'Validate a file: scalr-agent validate values.yaml',
      'Validate standard input: scalr-agent validate -',
    ]);
  }
  if (file !== undefined && layer !== undefined) {
    throw usageError(`${file} and -f ${layer} cannot be combined: FILE is validated separately, -f is merged.`, [
      `Merge all files, the last one wins: ${[...layers, ...given].map((each) => `-f ${each}`).join(' ')}`,
      `Validate each file separately: ${[...given, ...layers].join(' ')}`,
    ]);
  }
  if ([...given, ...layers].filter((each) => each === '-').length > 1) {
    throw usageError('Standard input can be read only once.', ['Use - once, and file names for the other files']);
  }
  if (isJson && format !== undefined && format !== 'json') {
    throw usageError(`--json cannot be used with --format ${format}.`, ['Omit one of these flags']);
  }
}

/** Rejects --fix for standard input and pipes. @throws ExpectedError */
export async function refuseStandardInput(names: readonly string[], {kindOf}: Pick<Files, 'kindOf'>): Promise<void> {
  for (const name of names) {
    if (name !== '-' && (await kindOf(name)) !== 'stream') continue;
    throw usageError(`--fix requires a file, and ${name === '-' ? 'standard input' : name} is not one.`, [
      'Save the values in a file: scalr-agent validate values.yaml --fix',
      'Omit --fix to validate without changes',
    ]);
  }
}

/** --format json is the same as --json, even if the arguments cannot be parsed. */
export function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  return words.some((word, index) => word === '--format=json' || (word === '--format' && words[index + 1] === 'json'));
}

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

export const isOclif = (error: unknown): error is OclifError => error instanceof Error && 'oclif' in error;

const HELP = 'List all flags with --help';

/** An error of oclif in our words: its own quote the command line, which can contain secrets. */
export function usageFailure(error: OclifError, line: CommandLine): ExpectedError {
  const {commands} = line;
  const [flag] = error.flags ?? [];
  if (flag !== undefined) return unknownFlag(flag, line.flags ?? {});
  const [first, ...others] = /^command (.*) not found\.?$/i.exec(error.message)?.[1]?.split(':') ?? [];
  if (first?.startsWith('-')) return unknownFlag(first, {}, 'List all commands with --help');
  // The rest is part of the command only after a topic, such as pool.
  const isTopic = commands.some((each) => each.startsWith(`${first}:`));
  const [command, argument] = isTopic ? [[first, ...others].join(' ')] : [first, others[0]];
  const [arg] = error.args ?? [];
  const stray = typeof arg === 'string' ? arg : command !== undefined && commands.includes(command) ? argument : undefined;
  if (stray !== undefined) return strayArgument(stray, line);
  if (command !== undefined) return unknownCommand(command, commands);
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
    ([flag = '', value = '', options = ''], _, cause) => notAnOption(`--${flag}: `, value, options.split(', '), `Use --${flag}`, cause),
  ],
  [
    /^Expected (.*) to be one of: (.*)$/s,
    ([value = '', options = ''], _, cause) => notAnOption('', value, options.split(', '), 'Use', cause),
  ],
  [
    /^Flag --([\w-]+) expects (?:a value|one of these values: (.*))$/,
    ([flag = '', options], flags, cause) => {
      const hint = options === undefined ? String(flags[flag]?.helpValue ?? '<VALUE>') : options.replaceAll(', ', '|');
      return usageError(`--${flag} requires a value.`, [`Use --${flag} ${hint.replaceAll(/[<>]/g, '')}`], cause);
    },
  ],
  [
    /^Flag --([\w-]+) can only be specified once$/,
    ([flag = ''], _, cause) => usageError(`--${flag} is set twice.`, ['Remove one of the two'], cause),
  ],
  [
    /^All of the following must be provided when using --([\w-]+): (.*)$/,
    ([flag = '', needed = ''], _, cause) =>
      usageError(`--${flag} requires ${needed.replace(/, (?=[^,]*$)/, ' and ')}.`, [`Add ${needed}, or omit --${flag}`], cause),
  ],
  [
    /^--([\w-]+)(?:=.*)? cannot also be provided when using --([\w-]+)$/s,
    ([one = '', other = ''], _, cause) => usageError(`--${other} cannot be used with --${one}.`, ['Omit one of these flags'], cause),
  ],
];

function notAnOption(before: string, value: string, options: readonly string[], use: string, cause: Error): ExpectedError {
  const near = closest(value.toLowerCase(), options);
  return usageError(
    `${before}"${value}" is not one of ${options.join(', ')}.`,
    [near === undefined ? `${use} ${options.join('|')}` : `Did you mean ${near}?`],
    cause,
  );
}

/** Flags that do not exist, and what to use instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  token: 'Set the token with SCALR_AGENT_TOKEN or --token-file. Other users could read a token on the command line',
  inspect: 'Use the command: scalr-agent inspect FILE',
};

function unknownFlag(word: string, flags: KnownFlags, help = HELP): ExpectedError {
  const typed = word.replace(/=.*/s, '');
  const name = typed.replace(/^-+/, '');
  const near = name.length > 1 ? closest(name.replace(/^no-/, ''), [...Object.keys(flags), ...spellingsOf(flags)]) : undefined;
  const similar = similarFlag(typed, flags) ?? (near && (similarFlag(`--${near}`, flags) ?? `Did you mean --${near}?`));
  const suggestions = name in INSTEAD ? [INSTEAD[name] as string] : [...(similar ? [similar] : []), help];
  return failed('UNKNOWN_FLAG', `Unknown flag: ${typed}.`, suggestions);
}

/** Commands of Helm, kubectl, Docker and Terraform. */
const COMMANDS_OF_OTHERS: Readonly<Record<string, string>> = {
  ...{list: 'status --all-namespaces', ls: 'status --all-namespaces', get: 'status', describe: 'status', show: 'status', ps: 'status'},
  ...{delete: 'uninstall', remove: 'uninstall', rm: 'uninstall', destroy: 'uninstall', down: 'uninstall'},
  ...{apply: 'install', init: 'install', up: 'install', setup: 'install', deploy: 'install', run: 'install', start: 'install'},
  ...{plan: 'install --dry-run', diff: 'install --diff', template: 'values', generate: 'values', config: 'values'},
  ...{lint: 'validate', check: 'preflight', doctor: 'preflight', test: 'preflight', update: 'upgrade'},
  ...{logs: 'collect-logs', log: 'collect-logs', bundle: 'collect-logs', mirror: 'images'},
};

function unknownCommand(command: string, commands: readonly string[]): ExpectedError {
  const near = closest(
    command,
    commands.map((each) => each.replaceAll(':', ' ')),
  );
  const other = COMMANDS_OF_OTHERS[command];
  const step = other === undefined ? near && `Did you mean ${near}?` : `Run: scalr-agent ${other}`;
  return failed('UNKNOWN_COMMAND', `Unknown command: ${command}.`, [...(step ? [step] : []), 'List all commands with --help']);
}

/**
 * An unexpected argument. Text after the value of a flag can be part of that value, and of a password, so the message
 * contains the flag instead.
 */
export function strayArgument(argument: string, {argv, commands}: Omit<CommandLine, 'flags'>): ExpectedError {
  if (commands.includes(argument))
    return usageError(`Unexpected argument "${argument}": it is a command.`, [`Run: scalr-agent ${argument}`]);
  const index = argv.indexOf(argument);
  const at = argv.slice(0, Math.max(index, 0)).findLastIndex((word) => word.startsWith('-'));
  const flag = argv[at]?.replace(/=.*/s, '');
  const suggestions = [
    ...(flag === undefined ? [] : ['Boolean flags do not accept a value: use --debug or --no-debug', 'Quote values that contain spaces']),
    HELP,
  ];
  const isRest = flag !== undefined && (at < index - 1 || argv[at] !== flag);
  return usageError(isRest ? `Unexpected argument after the value of ${flag}.` : `Unexpected argument "${argument}".`, suggestions);
}
