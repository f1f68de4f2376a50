import {createHmac} from 'node:crypto';
import {shapeOf} from './token-shapes.ts';

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
