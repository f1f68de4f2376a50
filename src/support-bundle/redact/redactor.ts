import {randomBytes} from 'node:crypto';
import {FileRedactor} from './file-redactor.ts';
import type {SeedSet} from './known-values.ts';
import {pseudonyms, scannerFor} from './scanner.ts';

/** What `redactions.json` holds: numbers, and no word of any value. */
export interface RedactionReport {
  total: number;
  rules: Readonly<Record<string, number>>;
  files: Readonly<Record<string, Readonly<Record<string, number>>>>;
  knownValues: {used: number; notUsed: number};
}

export interface Redactor {
  /** A file of the bundle, in chunks of any size. */
  file: (name: string) => Pick<FileRedactor, 'push' | 'end' | 'hide' | 'counts'>;
  /** A text that is there as a whole, such as the name of a file. */
  text: (name: string, text: string) => string;
  report: () => RedactionReport;
}

interface Options {
  seeds: SeedSet;
  key?: Buffer;
}

/** Takes secrets out of everything that goes into one bundle; without `key` pseudonyms mean nothing beyond it. */
export function redactor({seeds, key = randomBytes(32)}: Options): Redactor {
  const scanner = scannerFor(seeds, pseudonyms(key));
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
        knownValues: {used: seeds.known.length, notUsed: seeds.notUsed},
      };
    },
  };
}

function sum(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const [rule, count] of all.flatMap(Object.entries<number>)) total[rule] = (total[rule] ?? 0) + count;
  return Object.fromEntries(Object.entries(total).toSorted(([one], [other]) => one.localeCompare(other)));
}
