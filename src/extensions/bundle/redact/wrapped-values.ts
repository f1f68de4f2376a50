import {matchAt} from '../../../ground/token-shapes.ts';
import {isObjectName} from './harmless.ts';
import {type Extent, LIMITS} from './rule.ts';

const OF_TOKEN = /^[\w+/=.-]{16,}$/;
/** A line of nothing but the characters of a token. */
const NEXT = /\r?\n[ \t]*([\w+/.-]{8,}={0,2})(?=[ \t]*(?:\r?\n|$))/dy;

/** The rest of a token that was broken over several lines: each next line is one run of its characters. */
export function restOfToken(text: string, {start, end}: Extent): Extent[] {
  const found: Extent[] = [];
  if (end - start > LIMITS.value || !OF_TOKEN.test(text.slice(start, end))) return found;
  const isHex = /^[0-9a-f]+$/i.test(text.slice(start, end));
  for (let at = end; at - end < LIMITS.ahead / 4; ) {
    const [from = 0, to = 0] = matchAt(NEXT, text, at)?.indices?.[1] ?? [];
    const line = text.slice(from, to);
    const isRest = isHex ? /^[0-9a-f]{8,}$/i.test(line) : /\d/.test(line) && /[A-Z]/.test(line);
    if (!isRest || (!isHex && isObjectName(line))) break;
    found.push({start: from, end: to});
    at = to;
  }
  return found;
}
