import {canonicalTextOf} from './canonical.ts';
import {isHexOrUuid, isObjectName, looksStrong} from './harmless.ts';
import {type KnownMatch, KnownValueSearch} from './known-value-search.ts';
import {isSearchable, type KnownValue} from './known-values.ts';

/** Rules that are sure that a value is a secret, and do not know it by its form. */
const SURE = new Set(
  'key,variable,output,resource,secret object,command,account,basic,url'.split(','),
);
const SHORTEST = 12;
const LONGEST = 512;
const MOST_LEARNED = 500;

/** What a rule found is known from then on: the same value can stand again where no rule sees it. */
export class LearnedValues {
  readonly #values = new Map<string, KnownValue>();
  #search: KnownValueSearch | undefined;

  /** Also each word of a value, which can be all the words of a command. */
  learn(found: string, rule: string): void {
    if (!SURE.has(rule) || found.length > LONGEST) return;
    for (const value of found.split(/\s+|\\+n/)) {
      const isKnown = this.#values.has(value) || this.#values.size >= MOST_LEARNED;
      if (isKnown || !isUnmistakable(value)) continue;
      this.#values.set(value, {kind: 'secret', whole: value});
      this.#search = undefined;
    }
  }

  matchesIn(text: Uint8Array, from: number, to: number): KnownMatch[] {
    if (this.#values.size === 0) return [];
    this.#search ??= new KnownValueSearch({known: [...this.#values.values()]}, (known) => [
      {known, text: canonicalTextOf(Buffer.from(known.whole, 'latin1')), isBase64: false},
    ]);
    return this.#search.matchesIn(text, from, to);
  }
}

/** No other text looks like this by chance. */
const isUnmistakable = (value: string): boolean =>
  !/:\/\/|^[/.~]/.test(value) &&
  isSearchable(value) &&
  (looksStrong(value) ||
    isHexOrUuid(value) ||
    (value.length >= SHORTEST && /\d/.test(value) && !isObjectName(value)));
