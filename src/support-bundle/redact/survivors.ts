import {formsOf, type KnownSecretSet, rareFormsOf} from './known-values.ts';

/** A known value that was not redacted: its kind, encoding and position, never the value. */
export interface Survivor {
  kind: string;
  form: string;
  at: number;
}

/**
 * Searches the written files for every encoding of every known value. The code shares nothing with the redactor,
 * so that its bugs are found.
 */
export function survivorFinder({known}: KnownSecretSet): (chunks: AsyncIterable<Buffer> | Iterable<Buffer>) => Promise<Survivor[]> {
  const needles = known.flatMap(({kind, texts, parts}) =>
    [...[...texts, ...parts].flatMap((text) => [...formsOf(text)]), ...texts.flatMap((text) => [...rareFormsOf(text)])].map(
      ([form, written]) => ({kind, form, written}),
    ),
  );
  const {longest, find} = skipSearch(needles.map((needle) => ({text: needle.written, means: needle})));
  return async (chunks) => {
    const survivors: Survivor[] = [];
    // The start of the buffer is reused, to avoid a new buffer per chunk.
    let [room, held, base] = [Buffer.alloc(0), 0, 0];
    const search = (limit: number): void => {
      const next = find(room.subarray(0, held), 0, limit, (at, {kind, form}) => survivors.push({kind, form, at: base + at}));
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
    return survivors;
  };
}

interface Wanted<T> {
  /** Latin1, one character per byte. */
  text: string;
  means: T;
}

export interface SkipSearch<T> {
  /** Longest text that is searched. */
  longest: number;
  /**
   * Reports every complete text that starts between `from` and `limit`. Returns the next position to search:
   * all earlier starts were checked.
   */
  find: (bytes: Buffer, from: number, limit: number, report: (at: number, means: T) => void) => number;
}

const BLOCK = 3;
/** Length that is compared first: longer texts would have to be hashed completely. */
const WINDOW = 8;
const BLOCKS = 1_048_576;

/**
 * Multi-pattern search (Wu and Manber, "A fast algorithm for multi-pattern searching", 1994): the last three bytes of the window
 * determine how far it can move, so most bytes are never read. Texts have at least six bytes.
 */
export function skipSearch<T>(wanted: readonly Wanted<T>[]): SkipSearch<T> {
  const window = Math.min(WINDOW, ...wanted.map(({text}) => text.length));
  const shifts = new Uint8Array(BLOCKS).fill(window - BLOCK + 1);
  const ending = new Map<number, Wanted<T>[]>();
  for (const each of wanted) {
    const head = Buffer.from(each.text.slice(0, window), 'latin1');
    for (let end = BLOCK - 1; end < window; end += 1) {
      const block = blockAt(head, end);
      shifts[block] = Math.min(shifts[block] as number, window - 1 - end);
      if (end === window - 1) ending.set(block, [...(ending.get(block) ?? []), each]);
    }
  }
  return {
    longest: Math.max(0, ...wanted.map(({text}) => text.length)),
    find(bytes, from, limit, report) {
      const last = Math.min(limit, bytes.length - window + 1) + window - 1;
      let end = from + window - 1;
      while (end < last) {
        const block = blockAt(bytes, end);
        const shift = shifts[block] as number;
        end += shift;
        if (shift > 0) continue;
        const at = end - window + 1;
        for (const {text, means} of ending.get(block) ?? []) {
          if (bytes.toString('latin1', at, at + text.length) === text) report(at, means);
        }
        end += 1;
      }
      return end - window + 1;
    },
  };
}

const blockAt = (bytes: Buffer, end: number): number =>
  (((bytes[end - 2] as number) << 12) ^ ((bytes[end - 1] as number) << 6) ^ (bytes[end] as number)) & (BLOCKS - 1);
