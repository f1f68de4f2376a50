import {ExitCode, ExpectedError} from '../errors.ts';

/**
 * A word that belongs to no flag. What stands behind the value of a flag may be the rest of it, and of a password, so there
 * the flag is named instead.
 */
export function strayArgument(argument: string, argv: readonly string[], commands: readonly string[]): ExpectedError {
  if (commands.includes(argument))
    return usage(`"${argument}" belongs to no flag; it is a command of its own.`, [`Write: scalr-agent ${argument}`]);
  const index = argv.indexOf(argument);
  const at = argv.slice(0, Math.max(index, 0)).findLastIndex((word) => word.startsWith('-'));
  const flag = argv[at]?.replace(/=.*/s, '');
  const suggestions = [
    ...(flag === undefined ? [] : ['Switches take no value: write --debug or --no-debug', 'Put values with blanks in quotes']),
    'See all flags with --help',
  ];
  const isRest = flag !== undefined && (at < index - 1 || argv[at] !== flag);
  return usage(isRest ? `A word behind the value of ${flag} belongs to no flag.` : `"${argument}" belongs to no flag.`, suggestions);
}

const usage = (message: string, suggestions: string[]): ExpectedError =>
  new ExpectedError(message, {code: 'USAGE', exit: ExitCode.usage, suggestions});
