import {createHmac, randomBytes} from 'node:crypto';
import {shapeOf} from './token-shapes.ts';

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
