import recorded from '../../../schemas/reach.json' with {type: 'json'};
import {spellPath} from '../../ground/tree.ts';
import type {ChartName} from './chart-name.ts';
import {newestOf} from './target.ts';
import {within} from './versions.ts';

/** Chart, key, range of versions: the containers and kinds of objects that the key changes. */
type Reach = Readonly<
  Record<ChartName, Readonly<Record<string, Readonly<Record<string, string>>>>>
>;

/** What the key changes in the newest known version; empty if it is unknown. */
export function reachOf(chart: ChartName, path: readonly string[]): readonly string[] {
  const ranges = Object.entries((recorded as unknown as Reach)[chart][spellPath(path)] ?? {});
  const parts = ranges.find(([range]) => within(newestOf(chart), range))?.[1] ?? '';
  return parts === '' ? [] : parts.split(', ');
}
