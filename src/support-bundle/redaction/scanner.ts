import {type Automaton, automaton} from './automaton.ts';
import {LIMITS} from './limits.ts';
import {anchorsOf, type NeedleAnchor, written} from './needles.ts';
import type {Pseudonyms} from './pseudonyms.ts';
import type {Extent, Rule} from './rule.ts';
import {RULES} from './rules.ts';
import type {SeedSet} from './seeds.ts';

/** What an anchor stands for: a rule, or a value that is known. */
type Meaning = {rule: Rule} | {anchor: NeedleAnchor};

export interface Found extends Extent {
  rule: string;
  instead: string;
  known: boolean;
}

export interface Scanner {
  automaton: Automaton<Meaning>;
  /** What begins or ends at the literals of an accepting state that end before `end`. */
  look: (text: string, state: number, end: number, covered: (place: number) => boolean) => readonly Found[];
  /** The pseudonym of a value. */
  nameOf: (value: string) => string;
}

/** One automaton for the anchors of all rules and of all known values: the bytes are passed over once. */
export function scannerFor(seeds: SeedSet, pseudonyms: Pseudonyms): Scanner {
  const machine = automaton<Meaning>([
    ...anchorsOf(seeds).map((anchor) => ({text: anchor.text, means: {anchor}})),
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
    nameOf: (value) => pseudonyms(value, seeds.known.find(({whole}) => whole === value.trim())?.kind),
    look: (text, state, end, covered) =>
      machine.literalsAt(state).flatMap(({text: literal, means}) => {
        const start = end - literal.length;
        if ('anchor' in means) return ofKnown(text, start, means.anchor);
        return means.rule.onlyOutside && covered(start) ? [] : ofRule(text, start, end, means.rule);
      }),
  };
}
