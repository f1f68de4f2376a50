import {isMap, type Path, type Values} from '../../ground/tree.ts';

/** A copy without these leaves, and without maps that become empty. */
export function withoutLeaves(values: Values, isGone: (path: Path) => boolean, above: Path = []): Values {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, below]) => {
      const path = [...above, key];
      if (!isMap(below) || Object.keys(below).length === 0) return isGone(path) ? [] : [[key, below]];
      const left = withoutLeaves(below, isGone, path);
      return Object.keys(left).length === 0 ? [] : [[key, left]];
    }),
  );
}
