import {chartFor} from '../../src/charts/chart-version.ts';
import {CHARTS} from '../../src/charts/charts.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {releasesOf} from '../../src/charts/releases/target.ts';
import {describeRange, rangeOf} from '../../src/charts/releases/versions.ts';
import {table} from './markdown.ts';

/** The keys of a chart that `validate` reports as IGNORED_KEY; keys with the same reason share a row. */
export function ignoredTable(chart: ChartName): string {
  const rows = new Map<string, {keys: string[]; range: string; because: string}>();
  const all = releasesOf(chart);
  for (const ignored of CHARTS[chart].ignoredKeys) {
    const {path, because} = ignored;
    const range = rangeOf(
      all.filter((version) => chartFor({chart, version}).ignoredKeys.includes(ignored)),
      all,
    );
    const row = rows.get(`${range} ${because}`) ?? {keys: [], range, because};
    rows.set(`${range} ${because}`, row);
    row.keys.push(`\`${path}\``);
  }
  return table(
    ['Keys', 'Versions', 'Reason'],
    [...rows.values()].map(({keys, range, because}) => [
      keys.join(', '),
      describeRange(range),
      because,
    ]),
  );
}
