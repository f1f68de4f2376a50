import {chartFor} from '../../src/charts/chart-version.ts';
import {CHARTS} from '../../src/charts/charts.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {releasesOf} from '../../src/charts/releases/target.ts';
import {describeRange, rangeOf} from '../../src/charts/releases/versions.ts';
import {spellPath} from '../../src/ground/tree.ts';
import {catalog} from '../../src/settings/catalog.ts';
import {table} from './markdown.ts';

/** The keys that each flag writes, with the versions in which it does. */
export function rowsTable(chart: ChartName): string {
  const all = releasesOf(chart);
  const versionsWith = (flag: string, keys: string): string[] =>
    all.filter((version) =>
      chartFor({chart, version}).rows.some(
        ({setting, paths}) => setting.id === flag && keysOf(paths) === keys,
      ),
    );
  const written = CHARTS[chart].rows.filter(({paths}) => paths.length > 0);
  const lines = catalog.flatMap(({id}) => {
    const keys = written.filter(({setting}) => setting.id === id).map(({paths}) => keysOf(paths));
    return [...new Set(keys)].map((each) => [
      `\`--${id}\``,
      each,
      describeRange(rangeOf(versionsWith(id, each), all)),
    ]);
  });
  return table(['Flag', 'Keys', 'Versions'], lines);
}

const keysOf = (paths: readonly (readonly string[])[]): string =>
  paths.map((path) => `\`${spellPath(path)}\``).join(', ');
