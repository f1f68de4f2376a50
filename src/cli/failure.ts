import {ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {
  ANOTHER_FILE,
  ExpectedError,
  failed,
  INSTALL_KUBECTL,
  PromptCanceled,
  RUN_AGAIN,
  TOKEN_REJECTED,
} from '../ground/errors.ts';
import {remedyTexts} from '../ground/finding.ts';
import {type TargetName, target} from '../settings/release.ts';
import {actionRequired, type DecidedLine} from './decisions.ts';
import {type CommandLine, isOclif, usageFailure} from './usage-failure.ts';

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
    return new ExpectedError('Canceled. Nothing was changed.', {code: 'CANCELED'});
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
        : 'Write files for the Linux packages: scalr-agent-install export systemd',
      `For Kubernetes, remove target from the answers file, or unset ${target.env}`,
    ],
  );

const WITHOUT_CLUSTER: ReadonlySet<string> = new Set([INSTALL_KUBECTL, ANOTHER_FILE]);

/** A machine without kubectl or a kubeconfig can have an agent too. */
export const withTargets = (failure: ExpectedError, command: string): ExpectedError =>
  failure.suggestions.some((step) => WITHOUT_CLUSTER.has(step))
    ? failure.with(failure.message, [
        ...failure.suggestions,
        `For an agent outside Kubernetes, add --target docker${command === 'install' ? '' : ' or --target systemd'}`,
      ])
    : failure;

/** What to look at after an install that has left something in the cluster. */
const LOOKS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  INTERRUPTED: [['Show what was installed', 'status']],
  TIMED_OUT: [['Write a bundle for support', 'collect-logs']],
  NOT_READY: [['Write a bundle for support', 'collect-logs']],
};

/** The failure of the wizard, with the saved answers as the only way to continue; its causes are not repeated if the progress has shown them. `name` is the release in the cluster. */
export function resumable(
  error: unknown,
  name: ReleaseName | undefined,
  areCausesShown: boolean,
): unknown {
  if (!(error instanceof ExpectedError)) return error;
  const rejections = error.causes.filter(({code}) => code === TOKEN_REJECTED);
  const passed = [RUN_AGAIN, ...remedyTexts(rejections)];
  const others = error.suggestions.filter((each) => !passed.includes(each));
  const purpose =
    rejections.length > 0
      ? 'To enter a new token of the agent pool, or another URL'
      : 'To continue with your saved answers';
  const looks = name === undefined ? [] : (LOOKS[error.code] ?? []);
  const isRepeated = areCausesShown && error.causes.length > 0;
  return error.with(isRepeated ? (error.message.split('\n')[0] as string) : error.message, [
    ...others,
    ...looks.map(([what, command]) => `${what}: ${ownCommand(command, name as ReleaseName)}`),
    `${purpose}, run the command again with --resume`,
  ]);
}
