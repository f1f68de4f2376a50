import {CHARTS} from '../../charts/charts.ts';
import type {Row, Target} from '../../charts/define.ts';
import {describeRange, rangeOf, within} from '../../charts/releases.ts';
import {type ChartName, type ChartSchema, chartSchema, leavesOf, schemaOf} from '../../charts/schema.ts';
import {scopeOf} from '../../charts/support.ts';
import {releasesOf} from '../../charts/target.ts';
import {getAt, mergeValues, type Path, sameTree, spellPath, startsWith, type Values} from '../../charts/tree.ts';
import {closest} from '../../settings/text.ts';
import type {Fix} from './finding.ts';

/** What to write instead; with a fix where only the name or a scalar changes and nothing else can be meant. */
interface Suggestion {
  suggestion: string;
  fix?: Fix;
}

/** The message for a key the chart version does not know: of another release or chart, misspelled or misplaced. */
export function suggestKey(path: Path, values: Values, target: Target): {message: string} & Partial<Suggestion> {
  const here = `${target.chart} ${target.version}`;
  const name = spellPath(path);
  const neverReleased = NEVER_RELEASED.find((each) => each.chart === target.chart && each.path === name);
  if (neverReleased) return {message: `${name} stood in a document and never in a release.`, suggestion: neverReleased.instead};

  const releases = releasesWith(path, target.chart);
  const equivalent = equivalentKey(path, values, target);
  if (releases !== undefined) return {message: `${here} has no key ${name}; it exists ${releases}.`, ...equivalent};
  const owner = (Object.keys(CHARTS) as ChartName[]).find((chart) => chart !== target.chart && releasesWith(path, chart) !== undefined);
  if (owner && equivalent) return {message: `${name} is the name in ${owner}.`, ...equivalent};
  const similar = similarKey(path, values, target);
  if (similar) return {message: `${here} has no key ${name}.`, ...similar};
  return {message: owner ? `${name} is a key of ${owner}, and ${here} has nothing like it.` : `${here} has no key ${name}.`};
}

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

/** The keys of all releases and the keys above them, computed once: a file may hold thousands of unknown keys. */
function versionsByKey(chart: ChartName): ReadonlyMap<string, ReadonlySet<string>> {
  const known = versionsOfKeys.get(chart);
  if (known) return known;
  const found = new Map<string, Set<string>>();
  for (const version of releasesOf(chart))
    for (const key of keysOf(chartSchema(chart), version).keys()) found.set(key, (found.get(key) ?? new Set()).add(version));
  versionsOfKeys.set(chart, found);
  return found;
}

const versionsOfKeys = new Map<ChartName, ReadonlyMap<string, ReadonlySet<string>>>();

/** Every key of a release and the keys above it, by their spelling. */
function keysOf(schema: ChartSchema, version: string): ReadonlyMap<string, Path> {
  const ofSchema = keysOfSchemas.get(schema) ?? new Map<string, ReadonlyMap<string, Path>>();
  keysOfSchemas.set(schema, ofSchema);
  const paths = () => leavesOf(schema, version).flatMap((leaf) => leaf.path.map((_, index) => leaf.path.slice(0, index + 1)));
  const keys = ofSchema.get(version) ?? new Map(paths().map((path) => [spellPath(path), path]));
  ofSchema.set(version, keys);
  return keys;
}

const keysOfSchemas = new WeakMap<ChartSchema, Map<string, ReadonlyMap<string, Path>>>();

/** The same setting as this chart version spells it, with its value converted. */
export function equivalentKey(path: Path, values: Values, target: Target): Suggestion | undefined {
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

function translate(path: Path, row: Row, from: Target, values: Values, to: Target): Suggestion | undefined {
  const source = scopeOf(from, () => undefined);
  const value = row.read(mergeValues(source.defaults, values), source);
  if (value === undefined) return undefined;
  const scope = scopeOf(to, () => undefined);
  const rows = CHARTS[to.chart].rows.filter((each) => each.setting === row.setting && within(to.version, each.in) && each.paths.length > 0);
  for (const each of rows) {
    if (!(each.accepts?.(value, scope) ?? true)) continue;
    const entries = each.write(value, scope);
    const entry = entries.find(([key]) => key.at(-1) === path.at(-1)) ?? entries[0];
    if (entry === undefined) continue;
    const [key, tree] = entry;
    const isScalar = typeof tree !== 'object';
    const suggestion = isScalar || tree === null ? `${spellPath(key)}: ${JSON.stringify(tree)}` : spellPath(key);
    const isOneToOne = entries.length === 1 && row.paths.length === 1 && sameTree(row.paths[0], path);
    const isUnchanged = sameTree(getAt(values, path), tree);
    const fix = isOneToOne && (isScalar || isUnchanged) ? rename(path, key, values, to) : undefined;
    return {suggestion, ...(fix ? {fix: isScalar && !isUnchanged ? {...fix, value: tree} : fix} : {})};
  }
  return undefined;
}

/** A key spelled alike, or one of the same name in another place. */
function similarKey(path: Path, values: Values, target: Target): Suggestion | undefined {
  const keys = keysOf(schemaOf(target), target.version);
  const known = [...keys.keys()];
  const parent = spellPath(path.slice(0, -1));
  const siblings = known.filter((each) => keys.get(each)?.length === path.length && (parent === '' || each.startsWith(`${parent}.`)));
  const suggestion =
    closest(spellPath(path), siblings) ?? closest(spellPath(path), known) ?? known.find((each) => keys.get(each)?.at(-1) === path.at(-1));
  if (suggestion === undefined) return undefined;
  const fix = rename(path, keys.get(suggestion) as Path, values, target);
  return {suggestion, ...(fix ? {fix} : {})};
}

/** Undefined where the key belongs below another parent, which is left to the author, or is in use or unknown. */
function rename(path: Path, to: Path, values: Values, target: Target): Fix | undefined {
  const isFree =
    sameTree(path.slice(0, -1), to.slice(0, -1)) &&
    getAt(values, to) === undefined &&
    leavesOf(schemaOf(target), target.version).some((leaf) => startsWith(leaf.path, to) || startsWith(to, leaf.path));
  return isFree ? {path, name: to.at(-1) as string} : undefined;
}
