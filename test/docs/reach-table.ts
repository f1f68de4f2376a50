import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {describeRange} from '../../src/charts/releases/versions.ts';
import {recorded} from '../cluster/helm/reach.ts';
import {table} from './markdown.ts';

/** The containers and objects that each key of a chart changes, as recorded of the released charts. */
export function reachTable(chart: ChartName): string {
  const rows = new Map<string, {keys: string[]; range: string; parts: string}>();
  for (const [key, ranges] of Object.entries(recorded[chart] ?? {})) {
    for (const [range, parts] of Object.entries(ranges)) {
      const row = rows.get(`${range} ${parts}`) ?? {keys: [], range, parts};
      rows.set(`${range} ${parts}`, row);
      row.keys.push(`\`${key}\``);
    }
  }
  return table(
    ['Keys', 'Versions', 'Changes'],
    [...rows.values()].map(({keys, range, parts}) => [
      keys.join(', '),
      describeRange(range),
      parts || 'nothing',
    ]),
  );
}
