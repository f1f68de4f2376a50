import {createHmac} from 'node:crypto';
import {canonicalOf} from './canonical.ts';
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
    const digest = createHmac('sha256', key)
      .update(canonicalOf(Buffer.from(value, 'latin1')))
      .digest('hex')
      .slice(0, 8);
    const name = `[redacted:${kind ?? shapeOf(value) ?? 'secret'}:${digest}]`;
    if (named.size > 500) named.clear();
    named.set(`${kind}:${value}`, name);
    return name;
  };
}
