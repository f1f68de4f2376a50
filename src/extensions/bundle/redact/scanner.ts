import {commandRules} from './commands.ts';
import {hexNearKeys, nearKeys, secretKeyRule} from './key-rules.ts';
import {nameThenValue, valueThenName} from './named-values.ts';
import {PatternSearch, type SearchCursor} from './pattern-search.ts';
import type {Extent, RedactionPass, RedactionRule} from './rule.ts';
import {privateKeys, tokenShapes} from './shapes.ts';
import {marked, named, printedSecret, resources} from './structure-rules.ts';
import {addressRules, awsPair, textRules} from './text-rules.ts';

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
  hexNearKeys,
];

export interface FoundSecret extends Extent {
  rule: string;
}

interface Anchor {
  text: string;
  rule: RedactionRule;
}

/** Applies rules to a text. One search finds the anchors of all rules, so that the bytes are scanned once. */
export class RuleScanner {
  readonly #anchors: readonly Anchor[];
  #search: PatternSearch | undefined;

  constructor(rules: readonly RedactionRule[]) {
    this.#anchors = rules.flatMap((rule) => rule.anchors.map((text) => ({text, rule})));
  }

  /** Reads to the next anchor. Built with the first text, because the wizard asks before it writes one. */
  get anchors(): PatternSearch {
    this.#search ??= new PatternSearch(
      this.#anchors.map(({text}) => text),
      true,
    );
    return this.#search;
  }

  /** Secrets around the anchors that end where the search is. `isCovered` tells whether a place is already redacted. */
  secretsAt(
    text: string,
    {state, position: end}: SearchCursor,
    pass: RedactionPass,
    isCovered: (position: number) => boolean,
  ): FoundSecret[] {
    const found: FoundSecret[] = [];
    for (const pattern of this.anchors.patternsAt(state)) {
      const {text: literal, rule} = this.#anchors[pattern] as Anchor;
      const start = end - literal.length;
      if (rule.onlyOutside && isCovered(start)) continue;
      for (const extent of rule.find(text, {start, end}, pass))
        if (extent.end > extent.start) found.push({...extent, rule: rule.name});
    }
    return found;
  }
}

const SCANNERS: Readonly<Record<RedactLevel, RuleScanner>> = {
  standard: new RuleScanner(RULES),
  strict: new RuleScanner([...RULES, nearKeys, ...addressRules]),
};

export const ruleScanner = (level: RedactLevel): RuleScanner => SCANNERS[level];
