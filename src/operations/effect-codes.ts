import type {RenderedParts} from './manifest-parts.ts';

/** Which renders leave out which keys. */
export interface Codes {
  /** The keys that each render leaves out. */
  masks: readonly (readonly number[])[];
  /** The renders that leave a key out; undefined for a key that is in every render. */
  of: readonly (readonly number[] | undefined)[];
  /** Every render leaves out one key. */
  isSingle: boolean;
}

/**
 * One render per key if there are few keys. Otherwise every key gets its own set of renders, all sets of the same size, so that no set
 * contains another one: what changes in exactly these renders depends on this key.
 */
export function codesFor(keys: number, renders: number): Codes {
  const isSingle = keys <= renders;
  // Two renders are left for keys that are not clear.
  const [width, size] = isSingle
    ? [keys, 1]
    : ((
        [
          [renders - 2, 3],
          [renders - 1, 4],
          [renders, 4],
        ] as const
      ).find(([n, k]) => choose(n, k) >= keys) ?? [renders, 4]);
  const sets = subsets(width, size).slice(0, keys);
  const of = Array.from({length: keys}, (_, key) => sets[key]);
  const masks = Array.from({length: width}, (_, render) => of.flatMap((set, key) => (set?.includes(render) ? [key] : [])));
  return {masks, of, isSingle};
}

const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k);

/** All sets of `size` numbers below `width`. */
function subsets(width: number, size: number, from = 0): number[][] {
  if (size === 0) return [[]];
  return Array.from({length: width - from}, (_, index) => from + index).flatMap((first) =>
    subsets(width, size - 1, first + 1).map((rest) => [first, ...rest]),
  );
}

/** The parts that change because of each key: at a place that changed, a key is the only explanation of at least one render. */
export function explained(base: RenderedParts, renders: readonly (RenderedParts | undefined)[], codes: Codes['of']): ReadonlySet<string>[] {
  const found = codes.map(() => new Set<string>());
  const [isKnown, places] = [
    renders.map((each) => each !== undefined),
    new Set([base, ...renders].flatMap((each) => [...(each?.keys() ?? [])])),
  ];
  for (const place of places) {
    const changed = renders.flatMap((each, render) =>
      each !== undefined && each.get(place)?.text !== base.get(place)?.text ? [render] : [],
    );
    // What differs in every render, such as a random password, tells nothing.
    if (changed.length === 0 || (changed.length === renders.length && renders.length > 2)) continue;
    const possible = codes.flatMap((code, key) => (code?.every((render) => !isKnown[render] || changed.includes(render)) ? [key] : []));
    const parts = [base, ...renders].flatMap((each) => each?.get(place)?.parts ?? []);
    for (const render of changed) {
      const [only, ...others] = possible.filter((key) => codes[key]?.includes(render));
      if (only !== undefined && others.length === 0) for (const part of parts) found[only]?.add(part);
    }
  }
  return found;
}
