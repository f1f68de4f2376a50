import {createHmac} from 'node:crypto';
import {canonicalOf} from './canonical.ts';
import type {KnownValueSearch} from './known-value-search.ts';
import type {KnownSecretSet} from './known-values.ts';
import {shapeOf} from './shapes.ts';

/** A log can repeat the same secret in every line. */
const MOST_REMEMBERED = 500;
const MOST_ATTEMPTS = 8;

/**
 * Pseudonyms of redacted values. The key is not stored, so values cannot be guessed; within the bundle, equal values have equal pseudonyms,
 * so that support can recognize them. The kind depends only on the value, otherwise one value would have two pseudonyms.
 */
export class Pseudonyms {
  readonly #key: Buffer;
  readonly #search: KnownValueSearch;
  readonly #kinds: ReadonlyMap<string, string>;
  readonly #names = new Map<string, string>();

  constructor(key: Buffer, {known}: KnownSecretSet, search: KnownValueSearch) {
    this.#key = key;
    this.#search = search;
    this.#kinds = new Map(known.map(({whole, kind}) => [whole, kind]));
  }

  nameOf(value: string): string {
    const before = this.#names.get(value);
    if (before !== undefined) return before;
    const name = this.#newName(value);
    if (this.#names.size > MOST_REMEMBERED) this.#names.clear();
    this.#names.set(value, name);
    return name;
  }

  /** Neither its kind nor its digits are a known secret themselves. */
  #newName(value: string): string {
    const digest = createHmac('sha256', this.#key)
      .update(canonicalOf(Buffer.from(value, 'latin1')))
      .digest('hex');
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const kind = attempt === 0 ? this.#kindOf(value) : 'secret';
      const name = `[redacted:${kind}:${digest.slice(8 * attempt, 8 * attempt + 8)}]`;
      if (this.#search.matchesIn(Buffer.from(name)).length === 0) return name;
    }
    return '[redacted]';
  }

  #kindOf(value: string): string {
    const known = this.#kinds.get(value) ?? this.#kinds.get(value.trim());
    return known ?? shapeOf(value) ?? 'secret';
  }
}
