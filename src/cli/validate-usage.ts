import type {Config} from '@oclif/core/config';
import {usageError} from '../ground/errors.ts';
import type {Files} from '../ports/files.ts';
import {findingsText} from '../ui/findings.ts';
import {asciiFallback, type Screen} from '../ui/theme.ts';
import type {CheckedGroup} from '../values/validate/check-files.ts';

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

/** The findings in the format of --format, except JSON. */
export async function inFormat(
  format: string | undefined,
  checked: readonly CheckedGroup[],
  {bin, name, version, pjson}: Pick<Config, 'bin' | 'name' | 'version' | 'pjson'>,
  screen: Screen,
): Promise<string> {
  const program = {name: bin ?? name, version, homepage: pjson['homepage'] as string | undefined};
  if (format === 'sarif') return (await import('../ui/formats/reports.ts')).sarif(checked, program);
  if (format === 'junit') return (await import('../ui/formats/reports.ts')).junit(checked, `${program.name} validate`);
  return asciiFallback(findingsText(checked, screen), screen);
}
