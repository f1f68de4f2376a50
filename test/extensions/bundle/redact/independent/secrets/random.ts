const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
export const ALPHABETS = {
  lower: LOWER,
  digits: DIGITS,
  lowerDigits: LOWER + DIGITS,
  upper: LOWER.toUpperCase(),
  upperDigits: LOWER.toUpperCase() + DIGITS,
  alnum: LOWER + LOWER.toUpperCase() + DIGITS,
  url: `${LOWER}${LOWER.toUpperCase()}${DIGITS}-_`,
  base64: `${LOWER}${LOWER.toUpperCase()}${DIGITS}+/`,
  hex: `${DIGITS}abcdef`,
  base32: `${LOWER.toUpperCase()}234567`,
  bech32: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
} as const;

/** Random numbers that a key decides, so that a new shape changes no value of another one. */
export class Random {
  #state: number;

  constructor(key: string) {
    this.#state = 0x811c9dc5;
    for (const sign of key)
      this.#state = Math.imul(this.#state ^ (sign.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  signs(alphabet: keyof typeof ALPHABETS | (string & {}), length: number): string {
    const known = (ALPHABETS as Record<string, string>)[alphabet] ?? alphabet;
    return Array.from({length}, () => known[this.below(known.length)]).join('');
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({length}, () => this.below(256)));
  }

  uuid(): string {
    const hex = this.signs('hex', 32);
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `4${hex.slice(13, 16)}`,
      `${this.pick(['8', '9', 'a', 'b'])}${hex.slice(17, 20)}`,
      hex.slice(20),
    ].join('-');
  }
}
