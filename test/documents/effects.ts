import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {resolveAnswers} from '../../src/answers/resolve.ts';
import {fromFlags} from '../../src/answers/sources.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {chartSchema, leavesOf} from '../../src/charts/releases/schema.ts';
import type {Target} from '../../src/charts/releases/target.ts';
import {releasesOf} from '../../src/charts/releases/target.ts';
import {compare, within} from '../../src/charts/releases/versions.ts';
import {at, mergeValues, setAt, startsWith, type Tree, type Values} from '../../src/ground/tree.ts';
import {toYaml} from '../../src/values/document.ts';
import {type GeneratedValues, generate} from '../../src/values/generate.ts';
import {REAL} from '../cluster/helm/charts-under-test.ts';
import type {Helm} from '../cluster/helm/find-helm.ts';
import {recorded as reach} from '../cluster/helm/reach.ts';
import {render} from '../cluster/helm/render.ts';
import {memoryFiles} from '../support/memory-files.ts';

/** A value for a key that flags do not write in every version, and other keys that it needs. */
export interface Sample {
  set: Tree;
  besides?: Values;
}

/** By chart, version and key: the kinds of objects that the sample changes in the released chart. */
type Effects = Partial<Record<ChartName, Record<string, Record<string, string>>>>;

export const EFFECTS_FILE = fileURLToPath(new URL('effects.json', import.meta.url));

export const effects: Effects = JSON.parse(readFileSync(EFFECTS_FILE, 'utf8'));

/** The versions of a chart that have the key, or keys below it. */
export const versionsWith = (chart: ChartName, key: string): string[] =>
  releasesOf(chart).filter((version) =>
    leavesOf(chartSchema(chart), version).some(({path}) => startsWith(path, at(key))),
  );

/** The version of the document and the newest, or those with the key that are next to them. */
export function versionsOf(chart: ChartName, key: string, described: string): string[] {
  const versions = versionsWith(chart, key);
  const first = versions.find((each) => compare(each, described) >= 0) ?? versions.at(-1);
  const last = versions.at(-1);
  return [...new Set([first, last])].filter((each) => each !== undefined);
}

/** True if the released chart changes with a key that flags write, according to schemas/reach.json; keys below count too. */
export const isReached = ({chart, version}: Target, key: string): boolean =>
  Object.entries(reach[chart] ?? {}).some(
    ([path, ranges]) =>
      startsWith(at(path), at(key)) &&
      Object.entries(ranges).some(([range, parts]) => within(version, range) && parts !== ''),
  );

/** What `values` generates with the sample in a file. @throws ExpectedError if it refuses the key */
async function generated({chart, version}: Target, given: Values): Promise<GeneratedValues> {
  const flags = {
    url: 'https://acme.scalr.io',
    chart,
    'chart-version': version,
    'values-file': ['given.yaml'],
  };
  return generate(
    await resolveAnswers([fromFlags(flags)], {
      files: memoryFiles({'given.yaml': toYaml(given)}),
      now: new Date(),
    }),
  );
}

export function withSample(key: string, {set, besides = {}}: Sample): Values {
  const values: Values = {};
  setAt(values, at(key), set);
  return mergeValues(besides, values);
}

/** The kinds of objects that a key changes in the released chart. */
export async function effectOf(
  target: Target,
  key: string,
  sample: Sample,
  helm: Helm,
): Promise<string> {
  const objectsWith = async (values: Values): Promise<Map<string, string>> => {
    const {objects} = await render(
      helm,
      `${REAL}/${target.chart}/${target.version}`,
      await generated(target, values),
    );
    return new Map(
      objects.map((object) => [`${object.kind} ${object.metadata.name}`, JSON.stringify(object)]),
    );
  };
  const before = await objectsWith(sample.besides ?? {});
  const after = await objectsWith(withSample(key, sample));
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => before.get(name) !== after.get(name),
  );
  return [...new Set(changed.map((name) => name.split(' ')[0]))].toSorted().join(', ');
}
