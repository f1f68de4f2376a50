import {expect, test} from 'vitest';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {chartSchema, nodeAt} from '../../src/charts/releases/schema.ts';
import {catalog} from '../../src/settings/catalog.ts';

test('lists the settings of a group together', () => {
  const groups = catalog.map(({group}) => group);
  const starts = groups.filter((group, index) => group !== groups[index - 1]);
  expect(starts).toEqual([...new Set(groups)]);
});

test('declares every id once', () => {
  const ids = catalog.map(({id}) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test('offers no flag and no answers key for a raw token', () => {
  expect(catalog.filter(({onlyEnv}) => onlyEnv).map(({id, env}) => [id, env])).toEqual([
    ['token', 'SCALR_AGENT_TOKEN'],
  ]);
});

test.each(
  catalog.map((setting) => [setting.id, setting] as const),
)('%s has a question, a summary and a variable', (id, setting) => {
  expect(setting.question.length).toBeGreaterThan(8);
  expect(setting.summary).toMatch(/\.$/);
  expect(setting.kind.jsonSchema).toBeTypeOf('object');
  if (!setting.onlyEnv)
    expect(setting.env).toBe(`SCALR_AGENT_INSTALL_${id.toUpperCase().replaceAll('-', '_')}`);
});

const keysNamed = catalog.flatMap(({id, reference = ''}) =>
  [...reference.matchAll(/(agent-\w+) ([\d.]+\d)[^(]*\(([\w.]+)\)/g)].map(
    ([, chart, version, key]) => ({id, chart, version, key}) as KeyNamed,
  ),
);
interface KeyNamed {
  id: string;
  chart: ChartName;
  version: string;
  key: string;
}

test('the sources of settings name keys', () => {
  expect(keysNamed.length).toBeGreaterThan(4);
});

test.each(keysNamed)('the source of $id names a key of $chart: $key', ({chart, version, key}) => {
  expect(nodeAt(chartSchema(chart), version, key.split('.'))).toBeDefined();
});
