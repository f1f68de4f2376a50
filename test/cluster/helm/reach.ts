import {readFileSync} from 'node:fs';
import type {ChartName} from '../../../src/charts/releases/chart-name.ts';
import {chartSchema, leavesOf} from '../../../src/charts/releases/schema.ts';
import type {Target} from '../../../src/charts/releases/target.ts';
import {releasesOf} from '../../../src/charts/releases/target.ts';
import {rangeOf, within} from '../../../src/charts/releases/versions.ts';
import {getAt, leafPaths, sameTree, startsWith} from '../../../src/ground/tree.ts';
import type {Rendered} from './render.ts';

/** Chart, key, range of versions: the containers and kinds of objects that the key changes. */
export type Reach = Partial<Record<ChartName, Record<string, Record<string, string>>>>;

export const REACH_FILE = new URL('../../../schemas/reach.json', import.meta.url);

/** Recorded from the released charts. */
export const recorded: Reach = JSON.parse(readFileSync(REACH_FILE, 'utf8'));

/** Changes by key compared to the first render; keys that change together share their changes. */
export function reachOf([base, ...renders]: readonly Rendered[]): ReadonlyMap<string, string> {
  const found = new Map<string, {size: number; parts: Set<string>}>();
  for (const rendered of renders) {
    const keys = keysOf(rendered, base as Rendered);
    const parts = changed(rendered, base as Rendered);
    for (const key of keys) {
      const known = found.get(key);
      if (known === undefined || keys.length < known.size)
        found.set(key, {size: keys.length, parts: new Set(parts)});
      else if (keys.length === known.size) for (const part of parts) known.parts.add(part);
    }
  }
  return new Map([...found].map(([key, {parts}]) => [key, [...parts].toSorted().join(', ')]));
}

/** Keys of the chart with another value; for entries of a map such as extraEnv, the map. */
function keysOf(
  {generated: {values}, target: {chart, version}}: Rendered,
  {generated: base}: Rendered,
): string[] {
  const leaves = leavesOf(chartSchema(chart), version);
  const paths = leafPaths(values).filter(
    (path) => !sameTree(getAt(values, path), getAt(base.values, path)),
  );
  return [
    ...new Set(
      paths.map((path) =>
        (leaves.find((leaf) => startsWith(path, leaf.path))?.path ?? path).join('.'),
      ),
    ),
  ];
}

/** Roles of containers and kinds of other objects that differ. */
function changed(one: Rendered, other: Rendered): string[] {
  const these = partsOf(one);
  const those = partsOf(other);
  return [...new Set([...these.keys(), ...those.keys()])].filter(
    (part) => these.get(part) !== those.get(part),
  );
}

function partsOf({objects, containers}: Rendered): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  const add = (part: string, content: unknown): void => {
    const text = JSON.stringify(content, (key, value) => (key === 'template' ? undefined : value));
    parts.set(part, `${parts.get(part) ?? ''}\n${text}`);
  };
  for (const object of objects) add(object.kind, object);
  for (const {role, pod, ...container} of containers()) {
    const {containers: _, initContainers: __, ...spec} = pod.spec;
    add(role, {...container, spec, labels: pod.labels, annotations: pod.annotations});
  }
  return parts;
}

/** Differences between a version and the record, as messages. */
export function reachDisagreements(
  {chart, version}: Target,
  found: ReadonlyMap<string, string>,
  isReleased: boolean,
): string[] {
  return [...found].flatMap(([key, parts]) => {
    const ranges = Object.entries(recorded[chart]?.[key] ?? {});
    const [, known] = ranges.find(([range]) => within(version, range)) ?? [];
    if (known !== undefined && (isReleased ? known === parts : podsIn(known) === podsIn(parts)))
      return [];
    const what = `${chart} ${version}: ${key} changes ${parts || 'nothing'}`;
    if (known === undefined)
      return [
        `${what}, and schemas/reach.json does not hold the key: stand-in charts prove nothing about it`,
      ];
    return isReleased
      ? [`${what}, and schemas/reach.json says ${known || 'nothing'}`]
      : [
          `${what} in the stand-in, and ${known || 'nothing'} in the released chart: correct test/cluster/helm/charts/${chart}/${version}`,
        ];
  });
}

/** Stand-in charts omit most objects other than pods; kinds start with a capital letter. */
const podsIn = (parts: string): string =>
  parts
    .split(', ')
    .filter((part) => !/^[A-Z]/.test(part))
    .join(', ');

/** Next step after a difference. */
export const RECORD =
  'Record the released charts: SCALR_CHARTS=DIRECTORY npx vitest run test/cluster/helm/effects.test.ts -u';

/** The record of all versions, as text. */
export function recordOf(
  found: readonly {target: Target; reach: ReadonlyMap<string, string>}[],
): string {
  const record: Reach = {};
  for (const chart of new Set(found.map(({target}) => target.chart))) {
    const ofChart = found.filter(({target}) => target.chart === chart);
    const keys = [...new Set(ofChart.flatMap(({reach}) => [...reach.keys()]))].toSorted();
    record[chart] = Object.fromEntries(keys.map((key) => [key, rangesOf(key, chart, ofChart)]));
  }
  return `${JSON.stringify(record, null, 2)}\n`;
}

function rangesOf(
  key: string,
  chart: ChartName,
  found: Parameters<typeof recordOf>[0],
): Record<string, string> {
  const byParts = new Map<string, string[]>();
  for (const {target, reach} of found) {
    const parts = reach.get(key);
    if (parts !== undefined) byParts.set(parts, [...(byParts.get(parts) ?? []), target.version]);
  }
  return Object.fromEntries(
    [...byParts].map(([parts, versions]) => [rangeOf(versions, releasesOf(chart)), parts]),
  );
}
