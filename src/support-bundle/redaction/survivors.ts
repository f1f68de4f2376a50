import {formsOf, rareFormsOf} from './seed-forms.ts';
import type {SeedSet} from './seeds.ts';
import {skipSearch} from './skip-search.ts';

/** A known value that is still there: which kind in which form and where, never the value. */
export interface Survivor {
  kind: string;
  form: string;
  at: number;
}

/**
 * Searches what was written for every form of every known value, spelled out: nothing of how the redactor reads escapes
 * is used here, so that a mistake there is found.
 */
export function survivorFinder({known}: SeedSet): (chunks: AsyncIterable<Buffer> | Iterable<Buffer>) => Promise<Survivor[]> {
  const needles = known.flatMap(({kind, texts, parts}) =>
    [...[...texts, ...parts].flatMap((text) => [...formsOf(text)]), ...texts.flatMap((text) => [...rareFormsOf(text)])].map(
      ([form, written]) => ({kind, form, written}),
    ),
  );
  const {longest, find} = skipSearch(needles.map((needle) => ({text: needle.written, means: needle})));
  return async (chunks) => {
    const survivors: Survivor[] = [];
    // Of the room the beginning is in use, again and again, or every chunk would leave another to be swept up.
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
