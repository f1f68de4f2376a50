import type {Seed} from './redaction/seeds.ts';
import {isSecret, seed, seedsWithin} from './seeds-within.ts';

export interface Variable {
  name: string;
  value: string;
}

/** NAME=value; undefined for what is none. */
export function variableIn(text: string): Variable | undefined {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : {name, value};
}

export const looksSecret = ({name, value}: Variable): boolean => isSecret(name, value);

/** What must not be found anywhere else: values of variables that look secret, and what is secret inside of others. */
export const seedsOfVariables = (variables: readonly Variable[]): Seed[] =>
  variables.flatMap((variable) => [
    ...(looksSecret(variable) ? [seed(variable.name, variable.value)] : []),
    ...seedsWithin(variable.value, 'proxy-password'),
  ]);

/** `--token VALUE` and `--token=VALUE` among the words of a command, also of one that a shell is given in a word. */
export function seedsOfWords(words: readonly string[]): Seed[] {
  const ofFlag = (flag: string, value: string): Seed[] => (isSecret(flag.replace(/^-+/, ''), value) ? [seed(flag, value)] : []);
  return words.flatMap((word, index) => {
    const [, flag, value = ''] = /^(--?[\w-]+)=(.+)$/s.exec(word) ?? [];
    if (flag !== undefined) return ofFlag(flag, value);
    const variable = variableIn(word);
    if (variable) return seedsOfVariables([variable]);
    const before = words[index - 1] ?? '';
    const named = before.startsWith('-') && !before.includes('=') && !word.startsWith('-') ? ofFlag(before, word) : [];
    if (named.length > 0) return named;
    const parts = word.split(/[\s;|&]+/);
    return parts.length > 1 ? seedsOfWords(parts.map((part) => part.replace(/(^|=)(["'])(.*)\2$/, '$1$3'))) : [];
  });
}
