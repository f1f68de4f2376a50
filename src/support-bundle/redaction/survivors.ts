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
    let [held, base, from, state] = [Buffer.alloc(0), 0, 0, 0];
    const search = (limit: number): void => {
      let text = '';
      for (; from < limit; from += 1) {
        state = table[state + (classes[held[from] as number] as number)] as number;
        if (state < accepting) continue;
        text ||= held.toString('latin1');
        for (const {text: head, means} of literalsAt(state)) {
          const start = from + 1 - head.length;
          if (text.startsWith(means.written, start)) survivors.push({kind: means.kind, form: means.form, at: base + start});
        }
      }
    };
    for await (const chunk of chunks) {
      held = Buffer.concat([held, chunk]);
      search(Math.max(from, held.length - longest));
      const passed = Math.max(0, from - 8);
      held = held.subarray(passed);
      base += passed;
      from -= passed;
    }
    search(held.length);
    return survivors;
  };
}
