import type {Seed} from '../redaction/seeds.ts';
import {seed} from '../seeds-within.ts';
import {seedsOfVariables, seedsOfWords, type Variable, variableIn} from '../variables.ts';

/** What a unit of systemd and its drop-ins say, one after the other, as `systemctl cat` prints them. */
export interface UnitFile {
  variables: readonly Variable[];
  /** Files with more of them; `isOptional` may be missing. */
  environmentFiles: readonly {path: string; isOptional: boolean}[];
  seeds: readonly Seed[];
}

/** Pure. */
export function parseUnit(text: string): UnitFile {
  const settings = settingsIn(text);
  const of = (name: string): string[] => settings.flatMap(([key, value]) => (key === name ? [value] : []));
  const variables = of('Environment')
    .flatMap(wordsIn)
    .flatMap((word) => variableIn(word) ?? []);
  return {
    variables,
    environmentFiles: of('EnvironmentFile').flatMap((value) => {
      const path = value.replace(/^-/, '').trim();
      return path === '' ? [] : [{path, isOptional: value.startsWith('-')}];
    }),
    seeds: [
      ...seedsOfVariables(variables),
      ...settings.flatMap(([key, value]) => (key.startsWith('Exec') ? seedsOfWords(wordsIn(value)) : [])),
      ...of('SetCredential').flatMap((value) => {
        const [, name, content] = /^([^:]+):(.+)$/s.exec(value) ?? [];
        return name === undefined || content === undefined ? [] : [seed(name, content)];
      }),
    ],
  };
}

/** The variables of an EnvironmentFile: a value in quotes may go over lines. Pure. */
export const parseEnvironmentFile = (text: string): Variable[] =>
  [...text.matchAll(/^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|'[^']*'|[^\n]*)/gms)].map(
    ([, name = '', raw = '']) => ({
      name,
      value: /^["']/.test(raw) ? unquoted(raw) : raw.trim(),
    }),
  );

/** Key and value of every line; one that ends in a backslash goes on in the next. */
const settingsIn = (text: string): [string, string][] =>
  text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .flatMap((line): [string, string][] => {
      const [, key, value] = /^\s*([A-Za-z]+)\s*=\s*(.*)$/.exec(line) ?? [];
      return key === undefined || value === undefined ? [] : [[key, value.trim()]];
    });

/** Words as systemd takes them: quotes hold blanks together, %% is a percent sign. */
const wordsIn = (text: string): string[] =>
  [...text.matchAll(/(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\\.|[^\s"'])+/g)].map(([word]) => unquoted(word).replaceAll('%%', '%'));

const unquoted = (word: string): string =>
  word
    .replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/gs, (_, double?: string, single?: string) => double ?? single ?? '')
    .replace(/\\(["'\\$`])/g, '$1');
