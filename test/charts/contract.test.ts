import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {CHARTS} from '../../src/charts/charts.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {chartSchema, leavesOf, type SchemaNode} from '../../src/charts/releases/schema.ts';
import {within} from '../../src/charts/releases/versions.ts';
import {type Path, startsWith, type Tree} from '../../src/ground/tree.ts';
import {CHART_NAMES, TARGETS} from '../support/versions.ts';

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

const nodeAt = (chart: ChartName, path: Path): SchemaNode | undefined =>
  path.reduce<SchemaNode | undefined>((node, key) => node?.properties?.[key], chartSchema(chart));

test.each(TARGETS)('$chart $version has every key that a row writes or reads', ({
  chart,
  version,
}) => {
  const leaves = leavesOf(chartSchema(chart), version);
  const holds = (path: Path) =>
    leaves.some((leaf) => leaf.path.length === path.length && startsWith(leaf.path, path));
  const isInOpenMap = (path: Path) =>
    leaves.some(
      (leaf) =>
        leaf.node.type === 'object' &&
        leaf.path.length < path.length &&
        startsWith(path, leaf.path),
    );
  // Templates print such a section whole, so it may hold every field of its Kubernetes type.
  const isInKubernetesType = (path: Path) =>
    path.some((_, index) => {
      const section = path.slice(0, index);
      return (
        nodeAt(chart, section)?.['x-kubernetes'] !== undefined &&
        leaves.some((leaf) => startsWith(leaf.path, section))
      );
    });
  const missing = CHARTS[chart].rows
    .filter((row) => within(version, row.in))
    .flatMap((row) => row.paths)
    .filter((path) => !holds(path) && !isInOpenMap(path) && !isInKubernetesType(path));
  expect(missing.map((path) => path.join('.'))).toEqual([]);
});
