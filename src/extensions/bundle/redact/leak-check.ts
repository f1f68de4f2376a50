import {PatternSearch} from './pattern-search.ts';

/** A known value in a finished file: its kind, encoding and place, never the value. */
export interface Leak {
  kind: string;
  form: string;
  at: number;
  length: number;
}

/** A secret to search for; one character per byte. */
interface Searched {
  kind: string;
  whole: string;
}

/** A part of a secret in one encoding. */
interface WrittenForm {
  kind: string;
  form: string;
  text: string;
}

/** A file with more of them has to be withheld as a whole. */
const MOST_LEAKS = 10_000;
/** The beginnings of texts are searched, so that the search does not grow with their length. */
const HEAD = 8;

export type LeakFinder = (chunks: AsyncIterable<Buffer> | Iterable<Buffer>) => Promise<Leak[]>;

/**
 * Searches finished files for the encodings of known values. It writes every encoding out and compares bytes. It shares nothing but the
 * search for many patterns with the redactor: a bug in code of the redactor would be a bug of its check as well.
 */
export function leakFinder(known: readonly Searched[]): LeakFinder {
  const forms = known.flatMap(({kind, whole}) =>
    fragmentsOf(whole).flatMap((fragment) =>
      [...formsOf(fragment), ...rareFormsOf(fragment)].map(
        ([form, text]): WrittenForm => ({kind, form, text}),
      ),
    ),
  );
  const heads = new PatternSearch(forms.map(({text}) => text.slice(0, HEAD)));
  const longest = forms.reduce((most, {text}) => Math.max(most, text.length), 0);
  return async (chunks) => {
    const file = new LeakReader(forms, heads, longest);
    for await (const chunk of chunks) file.push(chunk);
    return file.end();
  };
}

/** Reads one file. The end of a chunk is kept until the longest text that can begin there is complete. */
class LeakReader {
  readonly #forms: readonly WrittenForm[];
  readonly #heads: PatternSearch;
  readonly #longest: number;
  readonly #leaks: Leak[] = [];
  /** The held bytes are at the start of this buffer, which is reused, to avoid a new one per chunk. */
  #room = Buffer.alloc(0);
  #held = 0;
  /** Offset in the file of the held bytes. */
  #base = 0;

  constructor(forms: readonly WrittenForm[], heads: PatternSearch, longest: number) {
    this.#forms = forms;
    this.#heads = heads;
    this.#longest = longest;
  }

  push(chunk: Buffer): void {
    if (this.#held + chunk.length > this.#room.length)
      this.#room = Buffer.concat([this.#room.subarray(0, this.#held), chunk]);
    else chunk.copy(this.#room, this.#held);
    this.#held += chunk.length;
    this.#search(this.#held - this.#longest + 1);
  }

  end(): Leak[] {
    this.#search(this.#held);
    return this.#leaks;
  }

  /** Reports texts that begin before `limit`, and forgets the bytes before it. */
  #search(limit: number): void {
    if (limit <= 0) return;
    const bytes = this.#room.subarray(0, this.#held);
    const cursor = {position: 0, state: 0};
    while (this.#heads.advance(bytes, cursor, Math.min(limit + HEAD - 1, this.#held))) {
      for (const pattern of this.#heads.patternsAt(cursor.state)) {
        const {kind, form, text} = this.#forms[pattern] as WrittenForm;
        const at = cursor.position - Math.min(HEAD, text.length);
        if (at < limit && this.#leaks.length < MOST_LEAKS && isAt(bytes, at, text))
          this.#leaks.push({kind, form, at: this.#base + at, length: text.length});
      }
    }
    const passed = Math.min(limit, this.#held);
    this.#room.copyWithin(0, passed, this.#held);
    this.#held -= passed;
    this.#base += passed;
  }
}

function isAt(bytes: Buffer, at: number, text: string): boolean {
  if (at + text.length > bytes.length) return false;
  for (let index = 0; index < text.length; index += 1)
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  return true;
}

/** Longest text that is searched as a whole. Of longer ones the beginning, the middle and the end are searched. */
const FRAGMENT = 160;

function fragmentsOf(text: string): string[] {
  if (text.length <= FRAGMENT) return [text];
  const length = Math.max(FRAGMENT, Math.ceil(text.length / 1024));
  const starts = [0, Math.floor((text.length - length) / 2), text.length - length];
  // A fragment begins with different characters: a ruler of dashes stands in many texts.
  const fragments = starts.map((start) =>
    text.slice(start, start + length).replace(/^(?:(.)\1{3,}|\s)+/s, ''),
  );
  // Few different characters are a ruler or padding.
  return [...new Set(fragments.filter((each) => new Set(each).size > 8))];
}

const XML_NAMES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** A text in every encoding that the documentation promises; latin1, one character per byte. Short parts are omitted. */
export function formsOf(text: string): ReadonlyMap<string, string> {
  const bytes = Buffer.from(text, 'latin1');
  const asUtf8 = bytes.toString('utf8');
  const isUtf8 = Buffer.from(asUtf8).equals(bytes);
  const forms: [string, string][] = [
    ['raw', text],
    ...base64(bytes),
    ...percent(bytes),
    ...(isUtf8 ? json(asUtf8) : []),
    ['shell', text.replaceAll("'", "'\\''")],
    ['shell double', text.replace(/["\\$`]/g, '\\$&')],
    ['yaml single', text.replaceAll("'", "''")],
    ['xml names', text.replace(/[&<>"]/g, (one) => XML_NAMES[one] as string)],
    ['xml', text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)],
  ];
  const seen = new Set<string>();
  return new Map(forms.filter(([, form]) => form.length >= 6 && !seen.has(form) && seen.add(form)));
}

/** Encodings that are longer than the value. */
export function rareFormsOf(text: string): ReadonlyMap<string, string> {
  const bytes = Buffer.from(text, 'latin1');
  const plain = bytes.toString('base64');
  const wrapped = [64, 76]
    .filter((width) => plain.length > width)
    .map((width): [string, string] => [
      `base64 wrapped at ${width}`,
      plain.replace(new RegExp(`.{${width}}(?!$)`, 'g'), '$&\n'),
    ]);
  const twice = SHIFTS.flatMap((inner) =>
    base64(Buffer.from(base64At(bytes, inner), 'latin1')).map(([name, form]): [string, string] => [
      `${name} of base64+${inner}`,
      form,
    ]),
  );
  return new Map([
    ['hex', bytes.toString('hex')],
    ['hex upper', bytes.toString('hex').toUpperCase()],
    ...wrapped,
    ...twice,
  ]);
}

/** Numbers of bytes that can stand before a value in its group of three. */
const SHIFTS = [0, 1, 2] as const;

/** The characters of base64 that say nothing of the bytes around the value. */
function base64At(bytes: Buffer, shift: (typeof SHIFTS)[number]): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const isComplete = (shift + bytes.length) % 3 === 0;
  return text.slice([0, 2, 3][shift], isComplete ? text.length : -1);
}

const base64 = (bytes: Buffer): [string, string][] =>
  SHIFTS.flatMap((before): [string, string][] => {
    const plain = base64At(bytes, before);
    return [
      [`base64+${before}`, plain],
      [`base64url+${before}`, plain.replaceAll('+', '-').replaceAll('/', '_')],
    ];
  });

function percent(bytes: Buffer): [string, string][] {
  const encoded = (keeps: RegExp): string =>
    bytes
      .toString('latin1')
      .replace(/[\s\S]/g, (one) =>
        keeps.test(one) ? one : `%${Buffer.from(one, 'latin1').toString('hex')}`,
      );
  const forms = {
    percent: encoded(/[\w.~-]/),
    'percent of components': encoded(/[\w.~!*'()-]/),
    'percent of forms': encoded(/[\w.~ -]/).replaceAll(' ', '+'),
    'percent full': encoded(/(?!)/),
  };
  return Object.entries(forms).flatMap(([name, lower]) =>
    [lower, lower.replace(/%../g, (each) => each.toUpperCase())].flatMap(
      (form, index): [string, string][] => [
        [`${name} ${index === 0 ? 'lower' : 'upper'}`, form],
        [`${name} ${index === 0 ? 'lower' : 'upper'} twice`, form.replaceAll('%', '%25')],
      ],
    ),
  );
}

function json(text: string): [string, string][] {
  const inner = (value: string): string => JSON.stringify(value).slice(1, -1);
  const escaped = (value: string, which: RegExp): string =>
    value.replace(which, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const once = inner(text);
  const forms = {
    json: once,
    'json of Go': escaped(once, /[<>&]/g),
    'json ascii': escaped(once, /[^\0-\x7f]/g),
    'json with slashes': once.replaceAll('/', '\\/'),
    'json twice': inner(once),
  };
  return Object.entries(forms).map(([name, form]) => [
    name,
    Buffer.from(form, 'utf8').toString('latin1'),
  ]);
}
