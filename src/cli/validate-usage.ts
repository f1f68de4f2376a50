import {ExitCode, ExpectedError} from '../errors.ts';
import type {Files} from '../ports/files.ts';

interface Arguments {
  /** Files to check each on its own. */
  given: readonly string[];
  /** Layers to check as one file. */
  layers: readonly string[];
  format: string | undefined;
  isJson: boolean;
}

/** Refuses ambiguous arguments. @throws ExpectedError */
export function refuseUnclear({given, layers, format, isJson}: Arguments): void {
  const [file, layer] = [given[0], layers[0]];
  if (file === undefined && layer === undefined) {
    throw usage('There is no file to check.', [
      'Name one: scalr-agent validate values.yaml',
      'Read standard input: scalr-agent validate -',
    ]);
  }
  if (file !== undefined && layer !== undefined) {
    throw usage(`${file} would be checked on its own, and ${layer} after -f is a layer of a file: both together is not clear.`, [
      `Check all as one, the last winning: ${[...layers, ...given].map((each) => `-f ${each}`).join(' ')}`,
      `Check each on its own: ${[...given, ...layers].join(' ')}`,
    ]);
  }
  if ([...given, ...layers].filter((each) => each === '-').length > 1) {
    throw usage('Standard input can be read once.', ['Give - once, and the other files by name']);
  }
  if (isJson && format !== undefined && format !== 'json') {
    throw usage(`--json and --format ${format} are two forms of one result.`, ['Leave out one of them']);
  }
}

/** Only a file can be rewritten. @throws ExpectedError */
export async function refuseStandardInput(names: readonly string[], {kindOf}: Pick<Files, 'kindOf'>): Promise<void> {
  for (const name of names) {
    if (name !== '-' && (await kindOf(name)) !== 'stream') continue;
    throw usage(`--fix rewrites files, and ${name === '-' ? 'standard input' : name} is none.`, [
      'Save it as a file and name that: scalr-agent validate values.yaml --fix',
      'Leave out --fix to check it only',
    ]);
  }
}

/** --format json is the same as --json, even where the arguments cannot be parsed. */
export function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  return words.some((word, index) => word === '--format=json' || (word === '--format' && words[index + 1] === 'json'));
}

const usage = (message: string, suggestions: readonly string[]): ExpectedError =>
  new ExpectedError(message, {code: 'USAGE', exit: ExitCode.usage, suggestions});
