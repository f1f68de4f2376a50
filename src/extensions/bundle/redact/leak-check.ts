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

/** A file with more of them has to be withheld as a whole. */
const MOST_LEAKS = 10_000;

/**
 * Searches finished files for the encodings of known values. It writes every encoding out and compares bytes. It imports nothing:
 * a bug in code of the redactor would be a bug of its check as well.
 */
export function leakFinder(
  known: readonly Searched[],
): (chunks: AsyncIterable<Buffer> | Iterable<Buffer>) => Promise<Leak[]> {
  const {longest, find} = multiSearch(
    known.flatMap(({kind, whole}) => fragmentsOf(whole).map((text) => ({kind, text}))),
    ({text}) => writtenForms(text).map(([, written]) => written),
  );
  return async (chunks) => {
    const leaks: Leak[] = [];
    // The start of the buffer is reused, to avoid a new buffer per chunk.
    let room = Buffer.alloc(0);
    let held = 0;
    let base = 0;
    const search = (limit: number): void => {
      const next = find(room.subarray(0, held), 0, limit, (at, {kind, text}, index) => {
        const [form, {length}] = writtenForms(text)[index] as [string, string];
        if (leaks.length < MOST_LEAKS) leaks.push({kind, form, at: base + at, length});
      });
      const passed = Math.min(next, held);
      room.copyWithin(0, passed, held);
      held -= passed;
      base += passed;
    };
    for await (const chunk of chunks) {
      if (held + chunk.length > room.length) room = Buffer.concat([room.subarray(0, held), chunk]);
      else chunk.copy(room, held);
      held += chunk.length;
      search(held - longest + 1);
    }
    search(held);
    return leaks;
  };
}

/** Every encoding, always in the same order. */
const writtenForms = (text: string): [form: string, written: string][] => [
  ...formsOf(text),
  ...rareFormsOf(text),
];

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
  ];
  forms.push(
    ['shell', text.replaceAll("'", "'\\''")],
    ['shell double', text.replace(/["\\$`]/g, '\\$&')],
  );
  forms.push(
    ['yaml single', text.replaceAll("'", "''")],
    [
      'xml names',
      text.replace(
        /[&<>"]/g,
        (one) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[one] as string,
      ),
    ],
  );
  forms.push(['xml', text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)]);
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

export interface MultiSearch<T> {
  /** Longest text that is searched. */
  longest: number;
  /**
   * Reports every complete text that starts between `from` and `limit`. Returns the next position to search:
   * all earlier starts were checked.
   */
  find: (
    bytes: Buffer,
    from: number,
    limit: number,
    report: (at: number, means: T, index: number) => void,
  ) => number;
}

/** Bytes at the start of a text that are looked up: at least six, and at most this many, in pairs. */
const LONGEST_HEAD = 64;
const SHORTEST = 6;
const headOf = (length: number): number => Math.min(LONGEST_HEAD, length - (length % 2));

/**
 * Finds millions of texts at once. Only a hash of the start of each text is kept; where it stands, the text is written again and
 * compared. `textsOf` writes the texts of a source, always in the same order.
 */
export function multiSearch<T>(
  sources: readonly T[],
  textsOf: (source: T) => readonly string[],
): MultiSearch<T> {
  // Four numbers for each text: hash of its first bytes, hash of its head, source, place among the texts of its source.
  let texts = new Int32Array(4096);
  const triples = new Uint8Array(65_536);
  let count = 0;
  let longest = 0;
  for (const [owner, source] of sources.entries()) {
    for (const [place, text] of textsOf(source).entries()) {
      const head = Buffer.from(text.slice(0, LONGEST_HEAD), 'latin1');
      triples[tripleAt(head, 0)] = 1;
      if (4 * count === texts.length) {
        const larger = new Int32Array(2 * texts.length);
        larger.set(texts);
        texts = larger;
      }
      texts.set(
        [hashAt(head, 0, SHORTEST), hashAt(head, 0, headOf(head.length)), owner, place],
        4 * count,
      );
      longest = Math.max(longest, text.length);
      count += 1;
    }
  }
  const mask = 2 ** Math.min(24, Math.max(12, Math.ceil(Math.log2(count + 1)) + 3)) - 1;
  const filter = new Uint8Array(mask + 1);
  const first = new Int32Array(mask + 1).fill(-1);
  const next = new Int32Array(count);
  for (let text = 0; text < count; text += 1) {
    filter[(texts[4 * text] as number) & mask] = 1;
    const slot = (texts[4 * text + 1] as number) & mask;
    [next[text], first[slot]] = [first[slot] as number, text];
  }
  const written = new Map<T, readonly string[]>();
  const textOf = (source: T, place: number): string => {
    if (written.size > 1000) written.clear();
    const all = written.get(source) ?? textsOf(source);
    written.set(source, all);
    return all[place] as string;
  };
  return {
    longest,
    find(bytes, from, limit, report) {
      const end = Math.max(from, Math.min(limit, bytes.length - SHORTEST + 1));
      for (let at = from; at < end; at += 1) {
        if (triples[tripleAt(bytes, at)] === 0 || filter[hashAt(bytes, at, SHORTEST) & mask] === 0)
          continue;
        let plain = 0;
        for (let length = 2; length <= LONGEST_HEAD && at + length <= bytes.length; length += 2) {
          plain = plainHash(plain, bytes, at + length - 2);
          if (length < SHORTEST) continue;
          const hash = mixed(plain, length);
          for (let text = first[hash & mask] as number; text !== -1; text = next[text] as number) {
            if (texts[4 * text + 1] !== hash) continue;
            const source = sources[texts[4 * text + 2] as number] as T;
            const place = texts[4 * text + 3] as number;
            if (isAt(bytes, at, textOf(source, place))) report(at, source, place);
          }
        }
      }
      return end;
    },
  };
}

const tripleAt = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] as number) << 8) ^ ((bytes[at + 1] as number) << 4) ^ (bytes[at + 2] as number)) &
  0xffff;

const plainHash = (hash: number, bytes: Uint8Array, at: number): number =>
  Math.imul(
    Math.imul(hash ^ (bytes[at] as number), 0x01000193) ^ (bytes[at + 1] as number),
    0x01000193,
  );
const mixed = (hash: number, length: number): number =>
  Math.imul(hash ^ length, 0x9e3779b1) ^ (hash >>> 15);

function hashAt(bytes: Uint8Array, at: number, length: number): number {
  let hash = 0;
  for (let position = at; position < at + length; position += 2)
    hash = plainHash(hash, bytes, position);
  return mixed(hash, length);
}

function isAt(bytes: Buffer, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1)
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  return true;
}
