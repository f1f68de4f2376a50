import {createHmac, randomBytes} from 'node:crypto';
import {FileRedactor} from './file-redactor.ts';
import type {SeedSet} from './known-values.ts';
import {scannerFor} from './scanner.ts';
import {shapeOf} from './token-shapes.ts';

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

export type Pseudonyms = (value: string, kind?: string) => string;

/**
 * Names for values that may not be shown. The key dies with the bundle, so nobody can try values until one fits; within
 * the bundle equal values have equal names, which is what support needs to see that two places hold the same one. The
 * kind comes from the value, never from where it stood, or the same value would have two names.
 */
export function pseudonyms(key: Buffer = randomBytes(32)): Pseudonyms {
  // A log says the same secret in every line.
  const named = new Map<string, string>();
  return (value, kind) => {
    const before = named.get(`${kind}:${value}`);
    if (before !== undefined) return before;
    const digest = createHmac('sha256', key).update(canonical(value), 'latin1').digest('hex').slice(0, 8);
    const name = `[redacted:${kind ?? shapeOf(value) ?? 'secret'}:${digest}]`;
    if (named.size > 500) named.clear();
    named.set(`${kind}:${value}`, name);
    return name;
  };
}

/** The value without what its place added: escapes of JSON and shells, percent signs of URLs. */
function canonical(value: string): string {
  const plain = value
    .replace(/\\+u00([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\+([nrt])/g, (_, letter: string) => ({n: '\n', r: '\r', t: '\t'})[letter] as string)
    .replace(/\\/g, '');
  return plain.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))).trim();
}
