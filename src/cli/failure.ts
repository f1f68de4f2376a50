import {commandLine, type Program} from '../ground/command-line.ts';
import {
  DECISIONS,
  type DecisionOption,
  ExitCode,
  ExpectedError,
  failed,
  maskSecrets,
  PromptCanceled,
  RUN_AGAIN,
  TOKEN_REJECTED,
  usageError,
} from '../ground/errors.ts';
import {closest} from '../ground/similar-text.ts';
import {few, oneOf} from '../ground/text.ts';
import {extraEnv, set} from '../settings/escape-hatch.ts';
import {type TargetName, target} from '../settings/release.ts';
import {type KnownFlags, similarFlag, spellingsOf} from './spellings.ts';

/** JSON document of an error, with the decision that it asks for if the command line is known. */
export const failureDocument = (failure: ExpectedError, line?: DecidedLine) => {
  const {code, message, suggestions, exit} = failure;
  return {
    schemaVersion: 1,
    ...(line && actionRequired(failure, line)),
    error: {code, message, suggestions: [...suggestions], exit},
  };
};

/** Converts any thrown value to an error with a code and a next step. */
export function toExpectedError(error: unknown, line: CommandLine): ExpectedError {
  if (error instanceof ExpectedError) return error;
  const {message = String(error)} = error as Error;
  if (error instanceof PromptCanceled) {
    return new ExpectedError('Canceled. Nothing was changed.', {
      code: 'CANCELED',
      exit: ExitCode.interrupted,
      cause: error,
    });
  }
  if (isOclif(error)) return usageFailure(error, line);
  if (message.includes('uv_cwd')) {
    return failed(
      'UNREADABLE_FILE',
      'The current directory no longer exists.',
      ['Change to an existing directory: cd'],
      {cause: error},
    );
  }
  return failed(
    'BUG',
    `Unexpected error: ${message}`,
    ['This is a bug in scalr-agent. Run the command again with --verbose, and report the output'],
    {cause: error},
  );
}

/** The command supports only agents in Kubernetes. */
export const unsupportedTarget = (command: string, name: TargetName): ExpectedError =>
  failed(
    'UNSUPPORTED_SETTING',
    `scalr-agent ${command} supports only Kubernetes, but --target is ${name}.`,
    [
      name === 'docker'
        ? 'Install or update an agent in Docker: scalr-agent install --target docker'
        : 'Write files for the Linux packages: scalr-agent export systemd',
      `For Kubernetes, remove target from the answers file, or unset ${target.env}`,
    ],
  );

/** The failure, with the saved answers as the only way to continue. */
export function resumable(error: unknown): unknown {
  if (!(error instanceof ExpectedError)) return error;
  const others = error.suggestions.filter((each) => each !== RUN_AGAIN);
  const purpose = error.findings.includes(TOKEN_REJECTED)
    ? 'To enter a new token'
    : 'To continue with your saved answers';
  return error.with(error.message, [...others, `${purpose}, run the command again with --resume`]);
}

/** The command line that needs a decision. */
export interface DecidedLine {
  /** Without the program: "pool create" */
  command: string;
  argv: readonly string[];
  program: Program;
}

interface ActionRequired {
  status: 'action_required';
  /** What has to be decided. */
  reason: string;
  /** The command line again, with each possible decision. */
  next: {command: string; when: string}[];
}

/** What a calling program has to decide; undefined if the error asks for nothing. */
export function actionRequired(
  {code, options}: Pick<ExpectedError, 'code' | 'options'>,
  line: DecidedLine,
): ActionRequired | undefined {
  if (options.length === 0) return undefined;
  return {
    status: 'action_required',
    reason: (DECISIONS as Partial<Record<typeof code, string>>)[code] ?? 'terminal_required',
    next: options.map((option) => ({command: decidedCommand(option, line), when: option.when})),
  };
}

/** Next steps with the commands of a decision instead of the flags that they contain. A person gets only commands that run as printed. */
export function decisionSteps(
  {code, options, suggestions}: ExpectedError,
  line: DecidedLine,
): string[] {
  const complete = options.filter(
    (each) => !INCOMPLETE.test(each.add) && !/…|\*\*\*/.test(decidedCommand(each, line)),
  );
  const {next = []} = actionRequired({code, options: complete}, line) ?? {};
  const added = complete.map(({add}) => add).join(' ');
  const isCovered = (text: string): boolean => {
    const flags = text.match(/--[a-z][\w-]*/g) ?? [];
    return flags.length > 0 && flags.every((flag) => added.includes(flag));
  };
  return [
    ...next.map(({when, command}) => `${when}: ${command}`),
    ...suggestions.filter((each) => !isCovered(each)),
  ];
}

/** A word in capitals has to be replaced. */
const INCOMPLETE = /(?<![\w-])[A-Z]{2,}(?![\w-])/;

function decidedCommand(
  {add, remove = []}: DecisionOption,
  {command, argv, program}: DecidedLine,
): string {
  const [flag = '', value] = add.split(' ');
  const words = withoutFlag(hideSecrets(argv), flag, value !== undefined).filter(
    (word) => !remove.includes(word),
  );
  const line = commandLine({tool: 'scalr-agent', args: [...command.split(' '), ...words]});
  const own = line.replace(/^scalr-agent( install\b)?/, (_, install) =>
    install ? program.install : program.other,
  );
  return /^[A-Z_]+=/.test(add) ? `${add} ${own}` : `${own} ${add}`.trim();
}

/** The words without a flag that gets another value. */
const withoutFlag = (words: readonly string[], flag: string, hasValue: boolean): string[] =>
  words.filter(
    (word, index) =>
      word !== flag && !word.startsWith(`${flag}=`) && !(hasValue && words[index - 1] === flag),
  );

const FREE_TEXT = [set, extraEnv].map(({id}) => `--${id}`);

/** The words of a command line; free text, which can be a secret, is left out. */
const hideSecrets = (argv: readonly string[]): string[] =>
  argv.map((word, index) => {
    if (FREE_TEXT.includes(argv[index - 1] ?? '')) return '…';
    const [flag = ''] = word.split('=');
    return FREE_TEXT.includes(flag) && word !== flag ? `${flag}=…` : maskSecrets(word);
  });

/** --format json is the same as --json, even if the arguments cannot be parsed. */
export function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  return words.some(
    (word, index) =>
      word === '--format=json' || (word === '--format' && words[index + 1] === 'json'),
  );
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

export const isOclif = (error: unknown): error is OclifError =>
  error instanceof Error && 'oclif' in error;

const HELP = 'List all flags with --help';

/** An error of oclif in our words: its own quote the command line, which can contain secrets. */
export function usageFailure(error: OclifError, line: CommandLine): ExpectedError {
  const {commands} = line;
  const [flag] = error.flags ?? [];
  if (flag !== undefined) return unknownFlag(flag, line.flags ?? {});
  const words = /^command (.*) not found\.?$/i.exec(error.message)?.[1]?.split(':') ?? [];
  if (words[0]?.startsWith('-')) return unknownFlag(words[0], {}, 'List all commands with --help');
  // The next word is part of the command only after a topic, such as pool.
  const isTopic = (end: number): boolean =>
    commands.some((each) => each.startsWith(`${words.slice(0, end).join(':')}:`));
  const length = words.findIndex((_, index) => !isTopic(index + 1)) + 1 || words.length;
  const command = words.slice(0, length).join(' ');
  const [arg] = error.args ?? [];
  const stray =
    typeof arg === 'string' ? arg : commands.includes(command) ? words[length] : undefined;
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
      notAnOption(`--${flag}: `, value, options.split(', '), `Use --${flag}`, cause),
  ],
  [
    /^Expected (.*) to be one of: (.*)$/s,
    ([value = '', options = ''], _, cause) =>
      notAnOption('', value, options.split(', '), 'Use', cause),
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

function notAnOption(
  before: string,
  value: string,
  options: readonly string[],
  use: string,
  cause: Error,
): ExpectedError {
  const near = closest(value.toLowerCase(), options);
  return usageError(
    `${before}"${value}" is not one of ${options.join(', ')}.`,
    [near === undefined ? `${use} ${oneOf(options)}` : `Did you mean ${near}?`],
    cause,
  );
}

/** Flags that do not exist, and what to use instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  token:
    'Set the token with SCALR_AGENT_TOKEN or --token-file. Other users could read a token on the command line',
  inspect: 'Use the command: scalr-agent inspect FILE',
};

function unknownFlag(word: string, flags: KnownFlags, help = HELP): ExpectedError {
  const typed = word.replace(/=.*/s, '');
  const name = typed.replace(/^-+/, '');
  const longer = Object.keys(flags).filter((flag) =>
    flag.split('-').includes(name.replace(/s$/, '')),
  );
  const near =
    name.length > 1
      ? closest(name.replace(/^no-/, ''), [...Object.keys(flags), ...spellingsOf(flags)])
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

/** What kubectl and helm do with an installed agent. */
const BY_HAND: ReadonlySet<string> = new Set([
  'restart',
  'rollout',
  'rollback',
  'scale',
  'history',
]);

function unknownCommand(command: string, commands: readonly string[]): ExpectedError {
  const near = closest(
    command,
    commands.map((each) => each.replaceAll(':', ' ')),
  );
  const [, topic, last = ''] = /^(.+) (\S+)$/.exec(command) ?? [];
  const meant = IN_TOPICS[last]?.find((each) =>
    commands.includes(`${topic?.replaceAll(' ', ':')}:${each}`),
  );
  const other = meant === undefined ? COMMANDS_OF_OTHERS[command] : `${topic} ${meant}`;
  const guess = BY_HAND.has(command)
    ? 'Use kubectl and helm, as in docs/guide/operate.md'
    : near && `Did you mean ${near}?`;
  const step = other === undefined ? guess : `Run: scalr-agent ${other}`;
  return failed('UNKNOWN_COMMAND', `Unknown command: ${command}.`, [
    ...(step ? [step] : []),
    'List all commands with --help',
  ]);
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
  const index = argv.indexOf(argument);
  const at = argv.slice(0, Math.max(index, 0)).findLastIndex((word) => word.startsWith('-'));
  const flag = argv[at]?.replace(/=.*/s, '');
  // Helm has the name of the release as an argument.
  const isRelease = flags['release'] !== undefined && /^[a-z][a-z0-9-]{0,52}$/.test(argument);
  const suggestions = [
    ...(flag === undefined
      ? []
      : [
          'Boolean flags do not accept a value: use --debug or --no-debug',
          'Quote values that contain spaces',
        ]),
    ...(flag === undefined && isRelease
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
