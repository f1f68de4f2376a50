import {ExitCode, ExpectedError, PromptCancelled} from '../errors.ts';
import {closest} from '../settings/text.ts';
import {strayArgument} from './stray-argument.ts';

/** The JSON document of a failure. */
export const failureDocument = ({code, message, suggestions, exit}: ExpectedError) => ({
  schemaVersion: 1,
  error: {code, message, suggestions: [...suggestions], exit},
});

/** What was typed, and what exists. */
interface Line {
  argv: readonly string[];
  commands: readonly string[];
  flags?: readonly string[];
}

/** Turns whatever was thrown into a failure with a code and a next step. */
export function asExpected(error: unknown, line: Line): ExpectedError {
  if (error instanceof ExpectedError) return error;
  const {message = String(error)} = error as Error;
  if (error instanceof PromptCancelled) {
    return new ExpectedError('Cancelled. Nothing was changed.', {code: 'CANCELLED', exit: ExitCode.interrupted, cause: error});
  }
  if (isOclif(error)) return usage(error, line);
  if (message.includes('uv_cwd')) {
    return new ExpectedError('The current directory is no more.', {
      code: 'UNREADABLE_FILE',
      exit: ExitCode.usage,
      suggestions: ['Change into one that is there: cd'],
      cause: error,
    });
  }
  return new ExpectedError(`This is a bug in scalr-agent: ${message}`, {
    code: 'BUG',
    exit: ExitCode.failed,
    suggestions: ['Run it again with --verbose and report what it prints'],
    cause: error,
  });
}

interface OclifError extends Error {
  oclif: unknown;
  flags?: readonly string[];
  args?: readonly string[];
}

const isOclif = (error: unknown): error is OclifError => error instanceof Error && 'oclif' in error;

/** oclif's own texts quote argv, which may hold what nobody should see; only names are taken over. */
function usage(error: OclifError, {argv, commands, flags = []}: Line): ExpectedError {
  const help = 'See all flags with --help';
  const [flag] = error.flags ?? [];
  if (flag !== undefined) {
    const name = flag.replace(/^-+/, '').replace(/=.*/, '');
    const near = closest(name.replace(/^no-/, ''), flags);
    return new ExpectedError(`There is no flag --${name}.`, {
      code: 'UNKNOWN_FLAG',
      exit: ExitCode.usage,
      suggestions:
        name === 'token'
          ? ['Give the token in SCALR_AGENT_TOKEN or with --token-file; on a command line everybody could read it']
          : [...(near ? [`Did you mean --${near}?`] : []), help],
    });
  }
  const [command, argument] = /^command (.*) not found$/.exec(error.message)?.[1]?.split(':') ?? [];
  const stray = error.args?.[0] ?? (command !== undefined && commands.includes(command) ? argument : undefined);
  if (stray !== undefined) return strayArgument(stray, argv, commands);
  if (command !== undefined) {
    const near = closest(command, commands);
    return new ExpectedError(`There is no command ${command}.`, {
      code: 'UNKNOWN_COMMAND',
      exit: ExitCode.usage,
      suggestions: [...(near ? [`Did you mean ${near}?`] : []), 'See all commands with --help'],
    });
  }
  const [first = ''] = error.message
    .replace(/^The following errors? occurred:\s*/, '')
    .trim()
    .split('\n');
  return new ExpectedError(first.replace(/^\s+/, ''), {code: 'USAGE', exit: ExitCode.usage, suggestions: [help], cause: error});
}
