import {ExitCode, ExpectedError, PromptCancelled} from '../ground/errors.ts';
import {type TargetName, target} from '../settings/release.ts';
import {type CommandLine, isOclif, usageFailure} from './usage-error.ts';

/** JSON document of an error. */
export const failureDocument = ({code, message, suggestions, exit}: ExpectedError) => ({
  schemaVersion: 1,
  error: {code, message, suggestions: [...suggestions], exit},
});

/** Converts any thrown value to an error with a code and a next step. */
export function asExpected(error: unknown, line: CommandLine): ExpectedError {
  if (error instanceof ExpectedError) return error;
  const {message = String(error)} = error as Error;
  if (error instanceof PromptCancelled) {
    return new ExpectedError('Cancelled. Nothing was changed.', {code: 'CANCELLED', exit: ExitCode.interrupted, cause: error});
  }
  if (isOclif(error)) return usageFailure(error, line);
  if (message.includes('uv_cwd')) {
    return new ExpectedError('The current directory no longer exists.', {
      code: 'UNREADABLE_FILE',
      suggestions: ['Change to an existing directory: cd'],
      cause: error,
    });
  }
  return new ExpectedError(`Unexpected error: ${message}`, {
    code: 'BUG',
    suggestions: ['This is a bug in scalr-agent. Run the command again with --verbose, and report the output'],
    cause: error,
  });
}

/** The command supports only agents in Kubernetes. */
export const unsupportedTarget = (command: string, name: TargetName): ExpectedError =>
  new ExpectedError(`scalr-agent ${command} supports only Kubernetes, but --target is ${name}.`, {
    code: 'UNSUPPORTED_SETTING',
    suggestions: [
      name === 'docker'
        ? 'Install or update an agent in Docker: scalr-agent install --target docker'
        : 'Write files for the Linux packages: scalr-agent export systemd',
      `For Kubernetes, remove target from the answers file, or unset ${target.env}`,
    ],
  });
