import {randomBytes} from 'node:crypto';
import {FileRedactor, type SecretSearch} from './file-redactor.ts';
import {KnownValueSearch} from './known-value-search.ts';
import type {KnownSecretSet} from './known-values.ts';
import {LearnedValues} from './learned-values.ts';
import {Pseudonyms} from './pseudonyms.ts';
import {type RedactLevel, ruleScanner} from './scanner.ts';

/*
 * How a bundle is redacted: bytes in, nets, pseudonyms, bytes out.
 *
 * 1. Bytes in (`file-redactor.ts`). A file comes in chunks of any size. What a log writes around its text (colors, times, JSON of an event)
 *    is taken off and put back later (`wrappers.ts`). The text is scanned in batches at fixed offsets, so the result does not depend on
 *    the chunks. Each batch is seen with the bytes before and after it. Memory and work are bounded by LIMITS and Budget in `rule.ts`.
 * 2. Nets. Each reports ranges of bytes:
 *    - Known values (`known-values.ts`): values of Secrets, variables and arguments, which `find-secrets.ts` collects. Values and text are
 *      compared in one canonical form (`canonical.ts`) without escapes, quotes and line breaks, so that most encodings are no different
 *      from the value. Base64 and hex are spellings of their own. The time is linear, whatever a Secret holds.
 *    - Structure (`structure-rules.ts`): a reader of brackets and of lines (`structure.ts`) that survives damage finds what Terraform marks
 *      as sensitive, objects with a name and a value, resources, printed Secrets, and lists and maps below a secret key.
 *    - Shapes: tokens with a prefix and private keys (`token-shapes.ts` and `token-shapes.json` of `ground`, from betterleaks; `shapes.ts`), URLs and commands (`text-rules.ts`).
 *    - Keys (`key-rules.ts`): `key-names.ts` classifies key names, `read-value.ts` finds the end of a value, and `harmless.ts` lists
 *      values that are not secrets: references, placeholders, error texts, code.
 *    - Random strings (`random-strings.ts`): long strings that look random and do not follow the name of a digest or an identifier.
 *    All rules are data: anchors for one search (`scanner.ts`, `pattern-search.ts`), and a function that reads around an anchor (`rule.ts`). `separators.ts`: what stands between words.
 * 3. Pseudonyms (`pseudonyms.ts`). A value has the same pseudonym everywhere in a bundle, and another one in the next bundle.
 * 4. Bytes out. Overlapping ranges are merged; bytes that can belong to an unfinished secret are held back.
 *
 * Objects of Kubernetes lose data of Secrets before they become text (`find-secrets.ts`). The finished archive is searched again for known
 * values by code that shares only `pattern-search.ts` with the above (`leak-check.ts`).
 */

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

/** What finds and names the secrets of one bundle. */
export function secretSearch({knownSecrets, level, key}: Required<Options>): SecretSearch {
  const knownValues = new KnownValueSearch(knownSecrets);
  const pseudonyms = new Pseudonyms(key, knownSecrets, knownValues);
  return {
    isStrict: level === 'strict',
    rules: ruleScanner(level),
    knownValues,
    learnedValues: new LearnedValues(),
    pseudonymOf: (value) => pseudonyms.nameOf(value),
  };
}

/** Redacts everything in one bundle; without `key`, pseudonyms are valid only in this bundle. */
export function redactor({
  knownSecrets,
  level = 'standard',
  key = randomBytes(32),
}: Options): Redactor {
  const search = secretSearch({knownSecrets, level, key});
  const files = new Map<string, FileRedactor[]>();
  const file = (name: string): FileRedactor => {
    const made = new FileRedactor(search);
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
        .map(([name, made]): [string, Record<string, number>] => [
          name,
          sum(made.map(({counts}) => counts)),
        ]);
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

/** A text without secrets that nobody told, such as the messages of another program. */
export const redactText = (text: string): string =>
  redactor({knownSecrets: {known: [], notUsed: []}}).text('text', text);

/** Why a part of a line is redacted, or is not. */
export interface RedactionDecision {
  /** Undefined for a value that is no secret. */
  rule?: string;
  /** A line that is decided in the same way. */
  example?: string;
}

/** What the rules decide about a line: each secret that they find, and each value of a key that is none. */
export function decisionsOf(
  line: string,
  level: RedactLevel,
): {redacted: string; decisions: readonly RedactionDecision[]} {
  const search = secretSearch({
    knownSecrets: {known: [], notUsed: []},
    level,
    key: randomBytes(32),
  });
  const decisions: RedactionDecision[] = [];
  let verdict: RedactionDecision = {};
  const add = ({rule, example}: RedactionDecision): void => {
    // A key can hold several words that lead to it.
    const isNew = !decisions.some((each) => each.rule === rule && each.example === example);
    if (isNew)
      decisions.push({...(rule !== undefined && {rule}), ...(example !== undefined && {example})});
  };
  const file = new FileRedactor(search, {
    onSecret: ({rule}) => add(rule === 'key' ? {rule, ...verdict} : {rule}),
    onVerdict: (example, isSecret) => {
      verdict = {example};
      if (!isSecret) add(verdict);
    },
  });
  const redacted = Buffer.concat([file.push(Buffer.from(`${line}\n`)), file.end()]);
  return {redacted: redacted.toString('utf8').trimEnd(), decisions};
}

function sum(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const [rule, count] of all.flatMap(Object.entries<number>))
    total[rule] = (total[rule] ?? 0) + count;
  return Object.fromEntries(
    Object.entries(total).toSorted(([one], [other]) => one.localeCompare(other)),
  );
}
