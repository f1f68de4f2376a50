import {canonicalTextOf} from './canonical.ts';
import {isSearchable, type KnownValue} from './known-values.ts';
import {CONTROL} from './separators.ts';

/** One way in which a known value is written. */
export interface Spelling {
  known: KnownValue;
  /** In canonical form. */
  text: string;
  isBase64: boolean;
}

/** Values above have no spelling in base64 of base64. */
const LONGEST_TWICE = 4096;

/** All spellings of a value and of its parts that are not the same in canonical form. */
export function secretSpellings(known: KnownValue): Spelling[] {
  const whole = Buffer.from(known.whole, 'latin1');
  const parts = partsOf(known.whole).map((part) => Buffer.from(part, 'latin1'));
  const spell = (bytes: Buffer, isBase64: boolean): Spelling => ({
    known,
    text: canonicalTextOf(bytes),
    isBase64,
  });
  return [whole, ...parts].flatMap((value) => {
    const once = base64Spellings(value);
    const isLong = value !== whole || value.length > LONGEST_TWICE;
    const twice = isLong ? [] : once.flatMap((text) => alignedBase64(Buffer.from(text)));
    const base64 = [...once, ...twice].map((text) => spell(Buffer.from(text), true));
    const texts = textSpellings(value).map((bytes) => spell(bytes, false));
    const hex = hexSpellings(value).map((text) => spell(Buffer.from(text), false));
    return [...texts, ...base64, ...hex];
  });
}

/** Parts that can stand alone: lines of a file, the two unique parts of a JSON Web Token. */
function partsOf(text: string): string[] {
  const segments = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(text) ? text.split('.').slice(1) : [];
  const lines =
    text.includes('\n') && text.length < 65_536
      ? text.split(/\r?\n/).map((line) => line.trim())
      : [];
  const own = [...segments, ...lines.filter((line) => !line.startsWith('-----'))];
  return [...new Set(own.filter((part) => part.length >= 12 && isSearchable(part)))];
}

/** Base64 characters that depend only on these bytes, for each number of bytes before them. */
const alignedBase64 = (bytes: Buffer): string[] =>
  [0, 1, 2].map((before) => {
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor(((before + bytes.length) * 8) / 6);
    return Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(first, last);
  });

/** Of the value, and of the value in JSON. */
function base64Spellings(value: Buffer): string[] {
  const json = isUtf8(value)
    ? Buffer.from(JSON.stringify(value.toString('utf8')).slice(1, -1))
    : value;
  return [value, ...(json.equals(value) ? [] : [json])].flatMap(alignedBase64);
}

const isUtf8 = (value: Buffer): boolean => Buffer.from(value.toString('utf8')).equals(value);

/** Bytes that are not UTF-8 are printed as Latin-1, or as replacement characters. */
function textSpellings(value: Buffer): Buffer[] {
  const text = value.toString('latin1');
  const others = isUtf8(value)
    ? []
    : [Buffer.from(text, 'utf8'), Buffer.from(value.toString('utf8'))];
  const ofForms = text.includes(' ') ? [Buffer.from(text.replaceAll(' ', '+'), 'latin1')] : [];
  return [value, ...others, ...ofForms, ...withoutControls(text)];
}

/** The value without what `Wrappers` remove: `[1m` looks like a color, also if its bracket is not part of the value. */
function withoutControls(text: string): Buffer[] {
  const own = text.replace(CONTROL, '');
  const behindBracket = `[${text}`.replace(CONTROL, '');
  const rests = behindBracket === `[${own}` ? [own] : [own, behindBracket];
  return rests
    .filter((rest) => rest !== text && isSearchable(rest))
    .map((rest) => Buffer.from(rest, 'latin1'));
}

/** With every byte encoded in a URL, nothing of the value itself looks like an escape. */
function hexSpellings(value: Buffer): string[] {
  const hex = value.toString('hex');
  const ofUrl = /[\\%&]/.test(value.toString('latin1')) ? [hex.replace(/../g, '%$&')] : [];
  return [...ofUrl, hex, hex.toUpperCase()];
}
