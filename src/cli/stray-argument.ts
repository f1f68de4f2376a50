import {ExitCode, ExpectedError} from '../ground/errors.ts';

/**
 * An unexpected argument. Text after the value of a flag can be part of that value, and of a password, so the message
 * contains the flag instead.
 */
export function strayArgument(argument: string, argv: readonly string[], commands: readonly string[]): ExpectedError {
  if (commands.includes(argument)) return usage(`Unexpected argument "${argument}": it is a command.`, [`Run: scalr-agent ${argument}`]);
  const index = argv.indexOf(argument);
  const at = argv.slice(0, Math.max(index, 0)).findLastIndex((word) => word.startsWith('-'));
  const flag = argv[at]?.replace(/=.*/s, '');
  const suggestions = [
    ...(flag === undefined ? [] : ['Boolean flags do not accept a value: use --debug or --no-debug', 'Quote values that contain spaces']),
    'List all flags with --help',
  ];
  const isRest = flag !== undefined && (at < index - 1 || argv[at] !== flag);
  return usage(isRest ? `Unexpected argument after the value of ${flag}.` : `Unexpected argument "${argument}".`, suggestions);
}

const usage = (message: string, suggestions: string[]): ExpectedError =>
  new ExpectedError(message, {code: 'USAGE', exit: ExitCode.usage, suggestions});
