import {createHmac} from 'node:crypto';
import {type Automaton, automaton} from './automaton.ts';
import {canonicalOf} from './canonical.ts';
import {nameThenValue, nearKeys, secretKeyRule, valueThenName} from './key-rules.ts';
import {type KnownMatch, type KnownSecretSet, KnownValueSearch} from './known-values.ts';
import {privateKeys} from './private-keys.ts';
import {type Extent, LIMITS, type RedactionRule} from './rule.ts';
import {marked, named, printedSecret, resources} from './structure-rules.ts';
import {addressRules, awsPair, commandRules, textRules} from './text-rules.ts';
import {shapeOf, tokenShapes} from './token-shapes.ts';

/** `strict` also hides values that the rules are unsure of, host names and addresses. */
export type RedactLevel = 'standard' | 'strict';

const RULES: readonly RedactionRule[] = [
  ...tokenShapes,
  ...textRules,
  ...privateKeys,
  secretKeyRule,
  nameThenValue,
  valueThenName,
  named,
  marked,
  resources,
  printedSecret,
  ...commandRules,
  awsPair,
];

export interface FoundSecret extends Extent {
  rule: string;
  instead: string;
  known: boolean;
}

export interface Scanner {
  isStrict: boolean;
  automaton: Automaton<RedactionRule>;
  /** Secrets at the anchors of an accepting state that end before `end`. */
  rulesAt: (text: string, state: number, end: number, covered: (position: number) => boolean) => readonly FoundSecret[];
  findKnown: (bytes: Buffer, from: number, to: number, report: (found: FoundSecret) => void) => void;
  /** Pseudonym of a value. */
  nameOf: (value: string) => string;
}

/** One automaton for the anchors of all rules, so that the bytes are scanned once. */
const automatonOf = (rules: readonly RedactionRule[]): Automaton<RedactionRule> =>
  automaton(rules.flatMap((rule) => rule.anchors.map((text) => ({text, means: rule}))));
const STANDARD = automatonOf(RULES);

export function scannerFor(knownSecrets: KnownSecretSet, pseudonyms: Pseudonyms, level: RedactLevel): Scanner {
  const isStrict = level === 'strict';
  const machine = isStrict ? automatonOf([...RULES, nearKeys, ...addressRules]) : STANDARD;
  const search = new KnownValueSearch(knownSecrets);
  /** A name that is no secret itself: neither its kind nor its digits. */
  const nameFor = (value: string, kind?: string): string => {
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const name = pseudonyms(value, attempt === 0 ? kind : 'secret', attempt);
      const known: KnownMatch[] = [];
      search.search(Buffer.from(name), 0, name.length, (match) => known.push(match));
      if (known.length === 0) return name;
    }
    return '[redacted]';
  };
  const kinds = new Map(knownSecrets.known.map(({whole, kind}) => [whole, kind]));
  return {
    isStrict,
    automaton: machine,
    nameOf: (value) => nameFor(value, kinds.get(value.trim())),
    findKnown: (bytes, from, to, report) => {
      const found: KnownMatch[] = [];
      search.search(bytes, from, to, (match) => found.push(match));
      for (const {start, end, known} of found)
        report({start, end, rule: 'known value', instead: nameFor(known.whole, known.kind), known: true});
    },
    rulesAt: (text, state, end, covered) => {
      const found: FoundSecret[] = [];
      for (const {text: literal, means: rule} of machine.literalsAt(state)) {
        const start = end - literal.length;
        if (rule.onlyOutside && covered(start)) continue;
        for (const extent of rule.find(text, start, end, isStrict)) {
          if (extent.end <= extent.start) continue;
          const instead = nameFor(text.slice(extent.start, Math.min(extent.end, extent.start + LIMITS.ahead)));
          found.push({...extent, rule: rule.name, instead, known: false});
        }
      }
      return found;
    },
  };
}

/** `attempt` gives another name to the same value. */
export type Pseudonyms = (value: string, kind?: string, attempt?: number) => string;

/**
 * Pseudonyms of redacted values. The key is not stored, so values cannot be guessed; within the bundle, equal values have equal pseudonyms,
 * so that support can recognize them. The kind depends only on the value, otherwise one value would have two pseudonyms.
 */
export function pseudonyms(key: Buffer): Pseudonyms {
  // A log can repeat the same secret in every line.
  const named = new Map<string, string>();
  return (value, kind, attempt = 0) => {
    const id = `${attempt}:${kind}:${value}`;
    const before = named.get(id);
    if (before !== undefined) return before;
    const digest = createHmac('sha256', key)
      .update(canonicalOf(Buffer.from(value, 'latin1')))
      .digest('hex')
      .slice(8 * attempt, 8 * attempt + 8);
    const name = `[redacted:${kind ?? shapeOf(value) ?? 'secret'}:${digest}]`;
    if (named.size > 500) named.clear();
    named.set(id, name);
    return name;
  };
}
