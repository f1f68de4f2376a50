import {ExitCode, ExpectedError, PromptCancelled, RUN_AGAIN} from '../ground/errors.ts';
import {closest} from '../ground/text.ts';
import {actionRequired, type DecidedLine} from './action-required.ts';

/** JSON document of an error, with the decision that it asks for if the command line is known. */
export const failureDocument = (failure: ExpectedError, line?: DecidedLine) => {
  const {code, message, suggestions, exit} = failure;
  return {schemaVersion: 1, ...(line && actionRequired(failure, line)), error: {code, message, suggestions: [...suggestions], exit}};
};

/** Command line, and existing commands and flags. */
interface Line {
  argv: readonly string[];
  commands: readonly string[];
  flags?: readonly string[];
}

/** Converts any thrown value to an error with a code and a next step. */
export function asExpected(error: unknown, line: Line): ExpectedError {
  if (error instanceof ExpectedError) return error;
  const {message = String(error)} = error as Error;
  if (error instanceof PromptCancelled) {
    return new ExpectedError('Cancelled. Nothing was changed.', {code: 'CANCELLED', exit: ExitCode.interrupted, cause: error});
  }
  if (isOclif(error)) return usage(error, line);
  if (message.includes('uv_cwd')) {
    return new ExpectedError('The current directory no longer exists.', {
      code: 'UNREADABLE_FILE',
      exit: ExitCode.usage,
      suggestions: ['Change to an existing directory: cd'],
      cause: error,
    });
  }
  return new ExpectedError(`Unexpected error: ${message}`, {
    code: 'BUG',
    exit: ExitCode.failed,
    suggestions: ['This is a bug in scalr-agent. Run the command again with --verbose, and report the output'],
    cause: error,
  });
}

interface OclifError extends Error {
  oclif: unknown;
  flags?: readonly string[];
  args?: readonly string[];
}

const isOclif = (error: unknown): error is OclifError => error instanceof Error && 'oclif' in error;

/** Messages of oclif quote argv, which can contain secrets; only names are used. */
function usage(error: OclifError, {argv, commands, flags = []}: Line): ExpectedError {
  const help = 'List all flags with --help';
  const [flag] = error.flags ?? [];
  if (flag !== undefined) {
    const name = flag.replace(/^-+/, '').replace(/=.*/, '');
    const near = closest(name.replace(/^no-/, ''), flags);
    return new ExpectedError(`Unknown flag: --${name}.`, {
      code: 'UNKNOWN_FLAG',
      exit: ExitCode.usage,
      suggestions:
        name === 'token'
          ? ['Set the token with SCALR_AGENT_TOKEN or --token-file. Other users could read a token on the command line']
          : [...(near ? [`Did you mean --${near}?`] : []), help],
    });
  }
  const [first, ...others] = /^command (.*) not found\.?$/i.exec(error.message)?.[1]?.split(':') ?? [];
  // The rest is part of the command only after a topic, such as pool.
  const isTopic = commands.some((each) => each.startsWith(`${first}:`));
  const [command, argument] = isTopic ? [[first, ...others].join(' ')] : [first, others[0]];
  const stray = error.args?.[0] ?? (command !== undefined && commands.includes(command) ? argument : undefined);
  if (stray !== undefined) return strayArgument(stray, argv, commands);
  if (command !== undefined) {
    const near = closest(
      command,
      commands.map((each) => each.replaceAll(':', ' ')),
    );
    return new ExpectedError(`Unknown command: ${command}.`, {
      code: 'UNKNOWN_COMMAND',
      exit: ExitCode.usage,
      suggestions: [...(near ? [`Did you mean ${near}?`] : []), 'List all commands with --help'],
    });
  }
  const [line = ''] = error.message
    .replace(/^The following errors? occurred:\s*/, '')
    .trim()
    .split('\n');
  return new ExpectedError(line.replace(/^\s+/, ''), {code: 'USAGE', exit: ExitCode.usage, suggestions: [help], cause: error});
}

/**
 * An unexpected argument. Text after the value of a flag can be part of that value, and of a password, so the message
 * contains the flag instead.
 */
export function strayArgument(argument: string, argv: readonly string[], commands: readonly string[]): ExpectedError {
  if (commands.includes(argument))
    return usageError(`Unexpected argument "${argument}": it is a command.`, [`Run: scalr-agent ${argument}`]);
  const index = argv.indexOf(argument);
  const at = argv.slice(0, Math.max(index, 0)).findLastIndex((word) => word.startsWith('-'));
  const flag = argv[at]?.replace(/=.*/s, '');
  const suggestions = [
    ...(flag === undefined ? [] : ['Boolean flags do not accept a value: use --debug or --no-debug', 'Quote values that contain spaces']),
    'List all flags with --help',
  ];
  const isRest = flag !== undefined && (at < index - 1 || argv[at] !== flag);
  return usageError(isRest ? `Unexpected argument after the value of ${flag}.` : `Unexpected argument "${argument}".`, suggestions);
}

const usageError = (message: string, suggestions: string[]): ExpectedError =>
  new ExpectedError(message, {code: 'USAGE', exit: ExitCode.usage, suggestions});

/** The failure, with the saved answers as the only way to continue. */
export function resumable(error: unknown): unknown {
  if (!(error instanceof ExpectedError)) return error;
  const others = error.suggestions.filter((each) => each !== RUN_AGAIN);
  return error.with(error.message, [...others, 'To continue with your saved answers, run the command again with --resume']);
}
