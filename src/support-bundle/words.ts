import {keyHolds} from './redaction/key-names.ts';
import type {Seed} from './redaction/seeds.ts';
import {seed, seedsWithin} from './seeds-within.ts';

export interface Variable {
  name: string;
  value: string;
}

/** NAME=value; undefined for what is none. */
export function variableIn(text: string): Variable | undefined {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : {name, value};
}

export const looksSecret = ({name, value}: Variable): boolean => value !== '' && keyHolds(name) === 'secret';

/** What must not be found anywhere else: values of variables that look secret, and what is secret inside of others. */
export const seedsOfVariables = (variables: readonly Variable[]): Seed[] =>
  variables.flatMap((variable) => [
    ...(looksSecret(variable) ? [seed(variable.name, variable.value)] : []),
    ...seedsWithin(variable.value, 'proxy-password'),
  ]);

/** `--token VALUE` and `--token=VALUE` among the words of a command. */
export function seedsOfWords(words: readonly string[]): Seed[] {
  const isSecret = (flag: string | undefined): boolean => flag?.startsWith('-') === true && keyHolds(flag.replace(/^-+/, '')) === 'secret';
  return words.flatMap((word, index) => {
    const [, flag, value = ''] = /^(--?[\w-]+)=(.+)$/s.exec(word) ?? [];
    if (isSecret(flag)) return [seed(flag as string, value)];
    const variable = variableIn(word);
    if (variable) return seedsOfVariables([variable]);
    const before = words[index - 1];
    return isSecret(before) && !before?.includes('=') && !word.startsWith('-') ? [seed(before as string, word)] : [];
  });
}
