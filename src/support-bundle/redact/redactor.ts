import {randomBytes} from 'node:crypto';
import {FileRedactor} from './file-redactor.ts';
import type {KnownSecretSet} from './known-values.ts';
import {pseudonyms} from './pseudonyms.ts';
import {type RedactLevel, scannerFor} from './scanner.ts';

/** Content of `redactions.json`: only numbers. */
export interface RedactionReport {
  total: number;
  rules: Readonly<Record<string, number>>;
  files: Readonly<Record<string, Readonly<Record<string, number>>>>;
  knownValues: {used: number; notUsed: number};
  /** Values of Secrets that are too short, common or public to search for: `secret/key`. */
  notSearched: readonly string[];
}

export interface Redactor {
  /** A file of the bundle, in chunks of any size. */
  file: (name: string) => Pick<FileRedactor, 'push' | 'end' | 'hide' | 'counts'>;
  /** A complete text, such as a file name. */
  text: (name: string, text: string) => string;
  report: () => RedactionReport;
}

interface Options {
  knownSecrets: KnownSecretSet;
  level?: RedactLevel;
  key?: Buffer;
}

/** Redacts everything in one bundle; without `key`, pseudonyms are valid only in this bundle. */
export function redactor({knownSecrets, level = 'standard', key = randomBytes(32)}: Options): Redactor {
  const scanner = scannerFor(knownSecrets, pseudonyms(key), level);
  const files = new Map<string, FileRedactor[]>();
  const file = (name: string): FileRedactor => {
    const made = new FileRedactor(scanner);
    files.set(name, [...(files.get(name) ?? []), made]);
    return made;
  };
  return {
    file,
    text(name, text) {
      const made = file(name);
      return Buffer.concat([made.push(Buffer.from(text, 'utf8')), made.end()]).toString('utf8');
    },
    report() {
      const counted = [...files]
        .toSorted(([one], [other]) => one.localeCompare(other))
        .map(([name, made]): [string, Record<string, number>] => [name, sum(made.map(({counts}) => counts))]);
      const rules = sum(counted.map(([, counts]) => counts));
      return {
        total: Object.values(rules).reduce((total, count) => total + count, 0),
        rules,
        files: Object.fromEntries(counted.filter(([, counts]) => Object.keys(counts).length > 0)),
        knownValues: {used: knownSecrets.known.length, notUsed: knownSecrets.notUsed.length},
        notSearched: knownSecrets.notUsed,
      };
    },
  };
}

function sum(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const [rule, count] of all.flatMap(Object.entries<number>)) total[rule] = (total[rule] ?? 0) + count;
  return Object.fromEntries(Object.entries(total).toSorted(([one], [other]) => one.localeCompare(other)));
}
