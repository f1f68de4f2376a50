import {createHmac} from 'node:crypto';
import {keyRule, nameThenValue, valueThenName} from './key-rules.ts';
import type {KnownSecretSet} from './known-values.ts';
import {anchorsOf, type NeedleAnchor, written} from './needles.ts';
import {namedOutput, sensitiveOutput} from './output-rules.ts';
import {type Extent, LIMITS, type Rule} from './rule.ts';
import {commandRules, textRules} from './text-rules.ts';
import {shapeOf, tokenShapes} from './token-shapes.ts';

/** Meaning of an anchor: a rule or a known value. */
type Meaning = {rule: Rule} | {anchor: NeedleAnchor};

export interface Found extends Extent {
  rule: string;
  instead: string;
  known: boolean;
}

export interface Scanner {
  automaton: Automaton<Meaning>;
  /** Matches that start or end at the literals of an accepting state that end before `end`. */
  look: (text: string, state: number, end: number, covered: (place: number) => boolean) => readonly Found[];
  /** Pseudonym of a value. */
  nameOf: (value: string) => string;
}

/** One automaton for the anchors of all rules and known values, so that the bytes are scanned once. */
export function scannerFor(knownSecrets: KnownSecretSet, pseudonyms: Pseudonyms): Scanner {
  const machine = automaton<Meaning>([
    ...anchorsOf(knownSecrets).map((anchor) => ({text: anchor.text, means: {anchor}})),
    ...RULES.flatMap((rule) => rule.anchors.map((text) => ({text, means: {rule}}))),
  ]);
  const ofKnown = (text: string, start: number, anchor: NeedleAnchor): Found[] => {
    const extent = written(text, start, anchor);
    if (extent === undefined) return [];
    const {known} = anchor.needle;
    return [{...extent, rule: 'known value', instead: pseudonyms(known.whole, known.kind), known: true}];
  };
  const ofRule = (text: string, start: number, end: number, rule: Rule): Found[] =>
    rule
      .find(text, start, end)
      .filter((extent) => extent.end > extent.start)
      .map((extent) => ({
        ...extent,
        rule: rule.name,
        instead: pseudonyms(text.slice(extent.start, extent.end).slice(0, LIMITS.ahead)),
        known: false,
      }));
  return {
    automaton: machine,
    nameOf: (value) => pseudonyms(value, knownSecrets.known.find(({whole}) => whole === value.trim())?.kind),
    look: (text, state, end, covered) =>
      machine.literalsAt(state).flatMap(({text: literal, means}) => {
        const start = end - literal.length;
        if ('anchor' in means) return ofKnown(text, start, means.anchor);
        return means.rule.onlyOutside && covered(start) ? [] : ofRule(text, start, end, means.rule);
      }),
  };
}

/** Candidates that do not depend on known values. */
export const RULES: readonly Rule[] = [
  ...tokenShapes,
  ...textRules,
  keyRule,
  nameThenValue,
  valueThenName,
  namedOutput,
  sensitiveOutput,
  ...commandRules,
];

interface Literal<T> {
  text: string;
  means: T;
}

export interface Automaton<T> {
  /** Next state by `state + class of the byte`; states are multiples of the number of classes. */
  table: Int32Array;
  classes: Uint8Array;
  /** Accepting states start here. */
  accepting: number;
  literalsAt: (state: number) => readonly Literal<T>[];
}

/**
 * Aho-Corasick as one dense table: a byte costs two look-ups regardless of the number of literals. It is twice as fast as one
 * regular expression with the same literals without known values, and stays so with hundreds.
 * Latin letters are case-insensitive; matches are checked in detail later.
 */
export function automaton<T>(literals: readonly Literal<T>[]): Automaton<T> {
  const {classes, count} = classesOf(literals);
  const next: Int32Array[] = [new Int32Array(count).fill(-1)];
  const ends: Literal<T>[][] = [[]];
  for (const literal of literals) {
    let state = 0;
    for (const byte of Buffer.from(literal.text, 'latin1')) {
      const row = next[state] as Int32Array;
      const kind = classes[byte] as number;
      if (row[kind] === -1) row[kind] = next.push(new Int32Array(count).fill(-1)) - 1;
      if (row[kind] === ends.length) ends.push([]);
      state = row[kind] as number;
    }
    ends[state]?.push(literal);
  }
  const order = withFailures(next, ends);
  const quiet = order.filter((state) => ends[state]?.length === 0);
  const loud = order.filter((state) => ends[state]?.length !== 0);
  const number = new Int32Array(next.length);
  for (const [index, state] of [...quiet, ...loud].entries()) number[state] = index * count;
  const table = new Int32Array(next.length * count);
  for (const [state, row] of next.entries()) {
    for (let kind = 0; kind < count; kind += 1) table[(number[state] as number) + kind] = number[row[kind] as number] as number;
  }
  const accepting = quiet.length * count;
  return {table, classes, accepting, literalsAt: (state) => ends[loud[(state - accepting) / count] as number] as Literal<T>[]};
}

function classesOf(literals: readonly Literal<unknown>[]): {classes: Uint8Array; count: number} {
  const classes = new Uint8Array(256);
  let count = 1;
  const take = (byte: number): void => {
    if (classes[byte] !== 0) return;
    classes[byte] = count;
    const letter = String.fromCharCode(byte);
    if (/[a-z]/i.test(letter)) classes[letter.toLowerCase().charCodeAt(0)] = classes[letter.toUpperCase().charCodeAt(0)] = count;
    count += 1;
  };
  for (const {text} of literals) Buffer.from(text, 'latin1').forEach(take);
  return {classes, count};
}

/** Fills missing transitions with those of the longest suffix; returns all states, nearest first. */
function withFailures<T>(next: readonly Int32Array[], ends: Literal<T>[][]): number[] {
  const failure = new Int32Array(next.length);
  const order = [0];
  for (const state of order) {
    const row = next[state] as Int32Array;
    const fallback = next[failure[state] as number] as Int32Array;
    if (state !== 0) ends[state]?.push(...(ends[failure[state] as number] as Literal<T>[]));
    for (let kind = 0; kind < row.length; kind += 1) {
      const child = row[kind] as number;
      if (child === -1) row[kind] = state === 0 ? 0 : (fallback[kind] as number);
      else {
        failure[child] = state === 0 ? 0 : (fallback[kind] as number);
        order.push(child);
      }
    }
  }
  return order;
}

export type Pseudonyms = (value: string, kind?: string) => string;

/**
 * Pseudonyms of redacted values. The key is not stored, so values cannot be guessed; within
 * the bundle, equal values have equal pseudonyms, so that support can recognize them. The
 * kind depends only on the value, otherwise one value would have two pseudonyms.
 */
export function pseudonyms(key: Buffer): Pseudonyms {
  // A log can repeat the same secret in every line.
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

/** The value without the encoding of its context: escapes of JSON and shells, percent encoding of URLs. */
function canonical(value: string): string {
  const plain = value
    .replace(/\\+u00([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\+([nrt])/g, (_, letter: string) => ({n: '\n', r: '\r', t: '\t'})[letter] as string)
    .replace(/\\/g, '');
  return plain.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))).trim();
}
