/** Where a search is, to go on with the next bytes. */
export interface SearchCursor {
  position: number;
  /** The longest beginning of a pattern that ends here; 0 for none. */
  state: number;
}

/** The first states are the shortest beginnings of patterns, where most bytes are read. A table of 4 MiB keeps their transitions. */
const TABLE_STATES = 4096;

/** Finds many patterns in one pass (Aho-Corasick). Patterns have one character per byte; only letters of ASCII have two cases. */
export class PatternSearch {
  /** Next state by state and byte, where the byte makes a beginning longer. */
  readonly #longer = new Map<number, number>();
  /** By state: the longest shorter state that ends in the same bytes, and the longest whole pattern that does. */
  readonly #shorter = [0];
  readonly #whole = [0];
  readonly #patterns = new Map<number, number[]>();
  /** Next state plus one; 0 for transitions that were not needed so far. */
  readonly #table: Int32Array;
  readonly #folded = Uint8Array.from({length: 256}, (_, byte) => byte);

  constructor(patterns: readonly string[], ignoresCase = false) {
    if (ignoresCase) this.#folded.copyWithin(65, 97, 123);
    const states = new Int32Array(patterns.length);
    const longest = patterns.reduce((most, {length}) => Math.max(most, length), 0);
    for (let length = 1; length <= longest; length += 1) {
      for (const [pattern, text] of patterns.entries()) {
        if (text.length < length) continue;
        const state = this.#add(states[pattern] as number, text.charCodeAt(length - 1));
        states[pattern] = state;
        if (text.length === length) this.#addPattern(state, pattern);
      }
    }
    // The shortest come first, so that they are complete when a longer one takes them over.
    for (const [state, patterns] of this.#patterns)
      this.#patterns.set(state, [...patterns, ...this.patternsAt(this.#shorter[state] as number)]);
    this.#table = new Int32Array(256 * Math.min(this.#shorter.length, TABLE_STATES));
  }

  #add(state: number, byte: number): number {
    const folded = this.#folded[byte] as number;
    const key = 256 * state + folded;
    const before = this.#longer.get(key);
    if (before !== undefined) return before;
    const shorter = state === 0 ? 0 : this.#next(this.#shorter[state] as number, folded);
    const added = this.#shorter.push(shorter) - 1;
    this.#whole.push(this.#whole[shorter] as number);
    this.#longer.set(key, added);
    return added;
  }

  #addPattern(state: number, pattern: number): void {
    this.#whole[state] = state;
    const before = this.#patterns.get(state);
    if (before === undefined) this.#patterns.set(state, [pattern]);
    else before.push(pattern);
  }

  /** Reads to the end of the next pattern, or to `to`. Returns whether a pattern ends there. */
  advance(bytes: Uint8Array, cursor: SearchCursor, to: number): boolean {
    const folded = this.#folded;
    const table = this.#table;
    const whole = this.#whole;
    let {position, state} = cursor;
    let isFound = false;
    while (position < to && !isFound) {
      const byte = folded[bytes[position] as number] as number;
      const place = 256 * state + byte;
      const known = place < table.length ? (table[place] as number) : 0;
      if (known === 0) {
        state = this.#next(state, byte);
        if (place < table.length) table[place] = state + 1;
      } else state = known - 1;
      isFound = whole[state] !== 0;
      position += 1;
    }
    cursor.position = position;
    cursor.state = state;
    return isFound;
  }

  #next(state: number, byte: number): number {
    const longer = this.#longer.get(256 * state + byte);
    if (longer !== undefined) return longer;
    return state === 0 ? 0 : this.#next(this.#shorter[state] as number, byte);
  }

  /** Patterns that end in a state, the longest first. */
  patternsAt(state: number): readonly number[] {
    return this.#patterns.get(this.#whole[state] as number) ?? [];
  }
}
