import {CHARTS} from '../../charts/charts.ts';
import type {Row, Target} from '../../charts/define.ts';
import {describeRange, rangeOf, within} from '../../charts/releases.ts';
import {type ChartName, type ChartSchema, chartSchema, leavesOf, schemaOf} from '../../charts/schema.ts';
import {scopeOf} from '../../charts/support.ts';
import {releasesOf} from '../../charts/target.ts';
import {getAt, isMap, mergeValues, type Path, sameTree, spellPath, startsWith, type Values} from '../../charts/tree.ts';
import {closest} from '../../settings/text.ts';
import type {Fix} from './finding.ts';

interface Advice {
  message: string;
  suggestion?: string;
  fix?: Fix;
}

/** What a key is here: in words, and as a change where nothing else could be meant. */
interface Twin {
  text: string;
  fix?: Fix;
}

/** What to say about a key the chart version does not know: another release's, another chart's, misspelt or misplaced. */
export function elsewhere(path: Path, values: Values, target: Target): Advice {
  const here = `${target.chart} ${target.version}`;
  const name = spellPath(path);
  const neverReleased = NEVER_RELEASED.find((each) => each.chart === target.chart && each.path === name);
  if (neverReleased) return {message: `${name} stood in a document and never in a release.`, suggestion: neverReleased.instead};

  const releases = releasesWith(path, target.chart);
  const twin = twinOf(path, values, target);
  if (releases !== undefined) {
    return {message: `${here} has no key ${name}; it exists ${releases}.`, ...adviceOf(twin)};
  }
  const owner = (Object.keys(CHARTS) as ChartName[]).find((chart) => chart !== target.chart && releasesWith(path, chart) !== undefined);
  if (owner && twin) return {message: `${name} is the name in ${owner}.`, ...adviceOf(twin)};
  const near = nearest(path, values, target);
  if (near) return {message: `${here} has no key ${name}.`, ...adviceOf(near)};
  return {message: owner ? `${name} is a key of ${owner}, and ${here} has nothing like it.` : `${here} has no key ${name}.`};
}

const adviceOf = (twin: Twin | undefined): Partial<Advice> => (twin ? {suggestion: twin.text, ...(twin.fix ? {fix: twin.fix} : {})} : {});

/** Keys of documents that were written before their release and changed in between. */
const NEVER_RELEASED: readonly {chart: ChartName; path: string; instead: string}[] = [
  {chart: 'agent-job', path: 'agent.auth', instead: 'agent.tokenExistingSecret.name'},
  {chart: 'agent-local', path: 'agent.auth', instead: 'agent.tokenExistingSecret.name'},
];

/** The releases of the chart that know the key or keys below it, in words. */
function releasesWith(path: Path, chart: ChartName): string | undefined {
  const some = versionsByKey(chart).get(spellPath(path));
  return some && describeRange(rangeOf([...some], releasesOf(chart)));
}

/** The keys of all releases and the keys above them, found out once: a file may hold thousands that nobody knows. */
function versionsByKey(chart: ChartName): ReadonlyMap<string, ReadonlySet<string>> {
  const known = versionsOfKeys.get(chart);
  if (known) return known;
  const found = new Map<string, Set<string>>();
  for (const version of releasesOf(chart))
    for (const place of placesIn(chartSchema(chart), version).keys()) found.set(place, (found.get(place) ?? new Set()).add(version));
  versionsOfKeys.set(chart, found);
  return found;
}

const versionsOfKeys = new Map<ChartName, ReadonlyMap<string, ReadonlySet<string>>>();

/** Every key of a release and the keys above it, as they are spelt. */
function placesIn(schema: ChartSchema, version: string): ReadonlyMap<string, Path> {
  const ofSchema = placesOf.get(schema) ?? new Map<string, ReadonlyMap<string, Path>>();
  placesOf.set(schema, ofSchema);
  const places =
    ofSchema.get(version) ??
    new Map(
      leavesOf(schema, version)
        .flatMap((leaf) => leaf.path.map((_, index) => leaf.path.slice(0, index + 1)))
        .map((place) => [spellPath(place), place]),
    );
  ofSchema.set(version, places);
  return places;
}

const placesOf = new WeakMap<ChartSchema, Map<string, ReadonlyMap<string, Path>>>();

/** The same setting as this chart version spells it, its value turned to what it means here. */
export function twinOf(path: Path, values: Values, target: Target): Twin | undefined {
  for (const chart of [target.chart, ...(Object.keys(CHARTS) as ChartName[])]) {
    for (const row of CHARTS[chart].rows) {
      if (!row.paths.some((each) => startsWith(each, path) || startsWith(path, each))) continue;
      const version = releasesOf(chart).findLast((each) => within(each, row.in));
      const found = version && translate(path, row, {chart, version}, values, target);
      if (found) return found;
    }
  }
  return undefined;
}

function translate(path: Path, row: Row, from: Target, values: Values, to: Target): Twin | undefined {
  const there = scopeOf(from, () => undefined);
  const value = row.read(mergeValues(there.defaults, values), there);
  if (value === undefined) return undefined;
  const scope = scopeOf(to, () => undefined);
  const mine = CHARTS[to.chart].rows.filter((each) => each.setting === row.setting && within(to.version, each.in) && each.paths.length > 0);
  for (const each of mine) {
    if (!(each.accepts?.(value, scope) ?? true)) continue;
    const entries = each.write(value, scope);
    const entry = entries.find(([where]) => where.at(-1) === path.at(-1)) ?? entries[0];
    if (entry === undefined) continue;
    const [where, tree] = entry;
    const text = isMap(tree) || Array.isArray(tree) ? spellPath(where) : `${spellPath(where)}: ${JSON.stringify(tree)}`;
    const isOneToOne = entries.length === 1 && row.paths.length === 1 && sameTree(row.paths[0], path) && isFree(where, values, to);
    return isOneToOne ? {text, fix: {path, value: tree, to: where}} : {text};
  }
  return undefined;
}

/** Nobody wrote the key yet, and it is one of this version. */
const isFree = (path: Path, values: Values, target: Target): boolean =>
  getAt(values, path) === undefined &&
  leavesOf(schemaOf(target), target.version).some((leaf) => startsWith(leaf.path, path) || startsWith(path, leaf.path));

/** A key spelt alike, or one of the same name in another place. */
function nearest(path: Path, values: Values, target: Target): Twin | undefined {
  const places = placesIn(schemaOf(target), target.version);
  const known = [...places.keys()];
  const parent = spellPath(path.slice(0, -1));
  const siblings = known.filter((each) => places.get(each)?.length === path.length && (parent === '' || each.startsWith(`${parent}.`)));
  const alike = closest(spellPath(path), siblings) ?? closest(spellPath(path), known);
  const namesakes = known.filter((each) => places.get(each)?.at(-1) === path.at(-1));
  const text = alike ?? namesakes[0];
  const to = text === undefined ? undefined : places.get(text);
  if (text === undefined || to === undefined) return undefined;
  const isOnly = (alike !== undefined || namesakes.length === 1) && isFree(to, values, target);
  return isOnly ? {text, fix: {path, to}} : {text};
}
