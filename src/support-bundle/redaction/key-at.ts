import {keyHolds} from './key-names.ts';
import {COLOUR} from './rule.ts';

export interface Key {
  text: string;
  start: number;
  end: number;
  holds: ReturnType<typeof keyHolds>;
}

const OF_KEY = new Uint8Array(256);
for (const one of Buffer.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-')) OF_KEY[one] = 1;
const isOfKey = (text: string, place: number): boolean => OF_KEY[text.charCodeAt(place)] === 1;

const MOST = 128;
const COLOUR_BEFORE = new RegExp(`${COLOUR}([\\w.-]*)$`);
/** A log repeats a few keys without end. */
const remembered = new Map<string, Key['holds']>();

/** The key around a word in it, unless it holds nothing; longer ones are none. */
export function keyAround(text: string, start: number, end: number): Key | undefined {
  if (goesOn(text.charCodeAt(end - 1), text.charCodeAt(end))) return undefined;
  let last = end;
  while (last - end < MOST && isOfKey(text, last)) last += 1;
  const first = startOfKey(text, start);
  const key = text.slice(first, last);
  let holds = remembered.get(key);
  if (holds === undefined) {
    holds = keyHolds(key);
    if (remembered.size > 2000) remembered.clear();
    // A copy: a slice would keep the whole text it is a slice of.
    remembered.set(Buffer.from(key, 'latin1').toString('latin1'), holds);
  }
  return holds === 'other' ? undefined : {text: key, start: first, end: last, holds};
}

/** `tokens` and `PASSIVE` hold no token and no pass. */
const goesOn = (last: number, next: number): boolean => (isSmall(last) && isSmall(next)) || (isCapital(last) && isCapital(next));
const isSmall = (code: number): boolean => code >= 97 && code <= 122;
const isCapital = (code: number): boolean => code >= 65 && code <= 90;

/** Escapes and colours end in a letter that is no part of the key: `\nTOKEN=`. */
function startOfKey(text: string, start: number): number {
  let place = start;
  while (place > 0 && start - place < MOST && isOfKey(text, place - 1)) place -= 1;
  const before = text.charAt(place - 1);
  if (before === '[' || before === ';') {
    const colour = COLOUR_BEFORE.exec(text.slice(Math.max(0, place - 24), start));
    return colour === null ? place : start - (colour[1] as string).length;
  }
  return before === '\\' && 'nrt'.includes(text.charAt(place)) && place < start ? place + 1 : place;
}
