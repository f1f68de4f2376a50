import {ExitCode, ExpectedError, failed, PromptCancelled, RUN_AGAIN} from '../ground/errors.ts';
import {type TargetName, target} from '../settings/release.ts';
import {actionRequired, type DecidedLine} from './action-required.ts';
import {type CommandLine, isOclif, usageFailure} from './usage-error.ts';

/** JSON document of an error, with the decision that it asks for if the command line is known. */
export const failureDocument = (failure: ExpectedError, line?: DecidedLine) => {
  const {code, message, suggestions, exit} = failure;
  return {schemaVersion: 1, ...(line && actionRequired(failure, line)), error: {code, message, suggestions: [...suggestions], exit}};
};

/** Converts any thrown value to an error with a code and a next step. */
export function asExpected(error: unknown, line: CommandLine): ExpectedError {
  if (error instanceof ExpectedError) return error;
  const {message = String(error)} = error as Error;
  if (error instanceof PromptCancelled) {
    return new ExpectedError('Cancelled. Nothing was changed.', {code: 'CANCELLED', exit: ExitCode.interrupted, cause: error});
  }
  if (isOclif(error)) return usageFailure(error, line);
  if (message.includes('uv_cwd')) {
    return failed('UNREADABLE_FILE', 'The current directory no longer exists.', ['Change to an existing directory: cd'], {cause: error});
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
  failed('UNSUPPORTED_SETTING', `scalr-agent ${command} supports only Kubernetes, but --target is ${name}.`, [
    name === 'docker'
      ? 'Install or update an agent in Docker: scalr-agent install --target docker'
      : 'Write files for the Linux packages: scalr-agent export systemd',
    `For Kubernetes, remove target from the answers file, or unset ${target.env}`,
  ]);

/** The failure, with the saved answers as the only way to continue. */
export function resumable(error: unknown): unknown {
  if (!(error instanceof ExpectedError)) return error;
  const others = error.suggestions.filter((each) => each !== RUN_AGAIN);
  return error.with(error.message, [...others, 'To continue with your saved answers, run the command again with --resume']);
}
