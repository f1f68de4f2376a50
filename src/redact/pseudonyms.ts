import {createHmac} from 'node:crypto';
import {canonicalOf} from './canonical.ts';
import {shapeOf} from './token-shapes.ts';

/** `attempt` gives another name to the same value. */
export type Pseudonyms = (value: string, kind?: string, attempt?: number) => string;

/**
 * Pseudonyms of redacted values. The key is not stored, so values cannot be guessed; within
 * the bundle, equal values have equal pseudonyms, so that support can recognize them. The
 * kind depends only on the value, otherwise one value would have two pseudonyms.
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
