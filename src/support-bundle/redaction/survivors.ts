import {automaton} from './automaton.ts';
import {formsOf} from './seed-forms.ts';
import type {SeedSet} from './seeds.ts';

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
    [...texts, ...parts].flatMap((text) => [...formsOf(text)].map(([form, written]) => ({kind, form, written}))),
  );
  const {table, classes, accepting, literalsAt} = automaton(needles.map((needle) => ({text: needle.written.slice(0, 8), means: needle})));
  const longest = Math.max(0, ...needles.map(({written}) => written.length));
  return async (chunks) => {
    const survivors: Survivor[] = [];
    // Of the room the beginning is in use, again and again, or every chunk would leave another to be swept up.
    let [room, held, base, from, state] = [Buffer.alloc(0), 0, 0, 0, 0];
    const search = (limit: number): void => {
      const bytes = room;
      let text = '';
      let place = from;
      let current = state;
      for (; place < limit; place += 1) {
        current = table[current + (classes[bytes[place] as number] as number)] as number;
        if (current < accepting) continue;
        text ||= bytes.toString('latin1', 0, held);
        for (const {text: head, means} of literalsAt(current)) {
          const start = place + 1 - head.length;
          if (text.startsWith(means.written, start)) survivors.push({kind: means.kind, form: means.form, at: base + start});
        }
      }
      [from, state] = [place, current];
    };
    for await (const chunk of chunks) {
      if (held + chunk.length > room.length) room = Buffer.concat([room.subarray(0, held), chunk]);
      else chunk.copy(room, held);
      held += chunk.length;
      search(Math.max(from, held - longest));
      const passed = Math.max(0, from - 8);
      room.copyWithin(0, passed, held);
      held -= passed;
      base += passed;
      from -= passed;
    }
    search(held);
    return survivors;
  };
}
