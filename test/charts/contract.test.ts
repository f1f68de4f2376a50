import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {ChartVersion} from '../../src/charts/chart-version.ts';
import {CHARTS} from '../../src/charts/charts.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {chartSchema, leavesOf} from '../../src/charts/releases/schema.ts';
import {newestOf} from '../../src/charts/releases/target.ts';
import {spellPath, type Tree} from '../../src/ground/tree.ts';
import {CHART_NAMES} from '../support/versions.ts';

type History = Record<ChartName, {versions: string[]; leaves: Record<string, Tree>}[]>;

/** The released values trees, taken from the chart repository's tags. */
const history: History = JSON.parse(
  readFileSync(new URL('values-history.json', import.meta.url), 'utf8'),
);

describe.each(CHART_NAMES)('%s', (chart) => {
  const released = history[chart].flatMap(({versions, leaves}) =>
    versions.map((version) => ({version, leaves})),
  );

  test('contains exactly the released versions', () => {
    expect(chartSchema(chart)['x-releases'].map(({version}) => version)).toEqual(
      released.map(({version}) => version),
    );
  });

  test.each(released)('$version has the keys and defaults that were released', ({
    version,
    leaves,
  }) => {
    const known = leavesOf(chartSchema(chart), version).filter(
      ({node}) => !node['x-template-only'],
    );
    expect(Object.fromEntries(known.map((leaf) => [leaf.path.join('.'), leaf.default]))).toEqual(
      leaves,
    );
  });
});

test.each(CHART_NAMES)('a release of %s has the keys of each row', (chart) => {
  const newest = new ChartVersion({chart, version: newestOf(chart)});
  const unused = CHARTS[chart].rows.filter((row) => newest.newestWith(chart, row) === undefined);
  expect(unused.map(({setting, paths}) => [setting.id, ...paths.map(spellPath)])).toEqual([]);
});
