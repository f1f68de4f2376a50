import {getAt, isMap, type Tree, type Values} from '../../charts/tree.ts';
import type {Source} from './source.ts';

/** Several files as Helm merges them: maps merge, everything else replaces, null too. Places are those of the last writer. */
export function layered(sources: readonly {file: string; source: Source}[]): Source {
  const writer = (path: readonly (string | number)[]) =>
    sources.findLast(({source}) => getAt(source.values, path.map(String)) !== undefined) ?? sources.at(-1);
  return {
    values: sources.reduce<Values>((under, {source}) => merge(under, source.values), {}),
    locate(path) {
      const last = writer(path);
      const place = last?.source.locate(path);
      return last && place && {...place, file: last.file};
    },
    written: (path) => writer(path)?.source.written(path),
  };
}

function merge(under: Values, over: Values): Values {
  const merged: Values = {...under};
  for (const [key, value] of Object.entries(over)) {
    const below: Tree | undefined = merged[key];
    merged[key] = isMap(value) && isMap(below) ? merge(below, value) : value;
  }
  return merged;
}
