import {isMap, setAt, type Tree, type Values} from '../../charts/tree.ts';
import type {TreePath} from './finding.ts';
import type {Source} from './source.ts';

export interface Layer {
  file: string;
  source: Source;
}

/**
 * Several files as Helm merges them, the last one winning: maps merge, everything else replaces. A null stays, because it
 * deletes the default of the chart and not only what an earlier file says.
 */
export function layered(sources: readonly Layer[]): Source {
  const layers = sources.toReversed();
  return {
    values: sources.reduce<Values>((merged, {source}) => merge(merged, source.values), {}),
    locate(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const above = path.slice(0, length);
        const writer = writerOf(layers, above);
        const place = writer?.source.locate(above);
        if (writer && place) return {...place, file: writer.file};
      }
      return undefined;
    },
    written: (path) => writerOf(layers, path)?.source.written(path),
  };
}

function merge(under: Values, over: Values): Values {
  const merged = {...under};
  for (const [key, value] of Object.entries(over)) {
    const below = Object.hasOwn(merged, key) ? merged[key] : undefined;
    setAt(merged, [key], isMap(value) && isMap(below) ? merge(below, value) : value);
  }
  return merged;
}

/** The last file that has the path, unless a later one replaces what stands above it. */
function writerOf(layers: readonly Layer[], path: TreePath): Layer | undefined {
  const writer = layers.find(({source}) => isSettled(source.values, path));
  return writer && lookUp(writer.source.values, path).isThere ? writer : undefined;
}

/** False where earlier files have a say: all steps up to the missing one are maps. */
function isSettled(values: Values, path: TreePath): boolean {
  const {isThere, deepest} = lookUp(values, path);
  return isThere || !isMap(deepest);
}

function lookUp(values: Values, path: TreePath): {isThere: boolean; deepest: Tree} {
  let deepest: Tree = values;
  for (const key of path) {
    if (!(isMap(deepest) || Array.isArray(deepest)) || !Object.hasOwn(deepest, key)) return {isThere: false, deepest};
    deepest = (deepest as Values)[key] as Tree;
  }
  return {isThere: path.length > 0, deepest};
}
