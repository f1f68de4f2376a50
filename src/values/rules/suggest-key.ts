import {CHARTS, upstreamNotes} from '../../charts/charts.ts';
import {CHART_NAMES, type Row, type Target} from '../../charts/define.ts';
import {documentedKey} from '../../charts/moved-keys.ts';
import {describeRange, oncePerVersion, rangeOf, within} from '../../charts/releases.ts';
import {
  type ChartName,
  type ChartSchema,
  chartSchema,
  leavesOf,
  schemaOf,
} from '../../charts/schema.ts';
import {rowsWithKeys, scopeOf} from '../../charts/support.ts';
import {releasesOf} from '../../charts/target.ts';
import {closest, isMisspelled} from '../../ground/similar-text.ts';
import {
  getAt,
  isMap,
  leafPaths,
  mergeValues,
  type Path,
  sameTree,
  spellPath,
  startsWith,
  type Values,
} from '../../ground/tree.ts';
import type {Fix} from '../reading/finding.ts';

/** What to write instead; with a fix if only the name or a scalar changes and there is no other candidate. */
interface Suggestion {
  suggestion: string;
  fix?: Fix;
}

const suggest = (to: Path, fix?: Fix): Suggestion => ({
  suggestion: spellPath(to),
  ...(fix ? {fix} : {}),
});

/** The message for an unknown key: one of another release or chart, misspelled or misplaced. */
export function suggestKey(
  path: Path,
  values: Values,
  target: Target,
): {message: string} & Partial<Suggestion> {
  const notes = upstreamNotes(path, target);
  const {message, ...found} = suggestKnownKey(path, values, target);
  return {
    message: notes.length === 0 ? message : `${message} Chart changelog: ${notes.join(' ')}.`,
    ...found,
  };
}

function suggestKnownKey(
  path: Path,
  values: Values,
  target: Target,
): {message: string} & Partial<Suggestion> {
  const here = `${target.chart} ${target.version}`;
  const name = spellPath(path);
  const documented = documentedKey(path, target);
  if (documented) return {message: `${name} ${documented.was}.`, suggestion: documented.instead};

  const releases = releasesWith(
    path,
    target.chart,
    target.schema === undefined ? [] : [target.version],
  );
  const known = equivalentKey(path, values, target);
  if (releases !== undefined) {
    const message = `${here} has no key ${name} (available: ${releases}).`;
    return {message, ...(known ?? keyOfSameName(path, values, target))};
  }
  const owner = CHART_NAMES.find(
    (chart) => chart !== target.chart && releasesWith(path, chart) !== undefined,
  );
  if (owner && known) return {message: `${name} is a key of ${owner}, not of ${here}.`, ...known};
  const similar =
    keyAbove(path, values, target) ?? synonym(path, target) ?? similarKey(path, values, target);
  if (similar) return {message: `${here} has no key ${name}.`, ...similar};
  return {
    message: owner
      ? `${name} is a key of ${owner} and has no equivalent in ${here}.`
      : `${here} has no key ${name}.`,
  };
}

/** Text: the releases of the chart that have the key or keys below it. `later` are releases without it that this program does not know. */
function releasesWith(
  path: Path,
  chart: ChartName,
  later: readonly string[] = [],
): string | undefined {
  const key = spellPath(path);
  const all = releasesOf(chart);
  const some = all.filter((version) => keysOfVersion(chartSchema(chart), version).has(key));
  return some.length === 0 ? undefined : describeRange(rangeOf(some, [...all, ...later]));
}

/** Every key of a release and the keys above it, by their spelling. */
const keysOfVersion = oncePerVersion((schema: ChartSchema, version): ReadonlyMap<string, Path> => {
  const paths = leavesOf(schema, version).flatMap((leaf) =>
    leaf.path.map((_, index) => leaf.path.slice(0, index + 1)),
  );
  return new Map(paths.map((path) => [spellPath(path), path]));
});

const keysOf = (target: Target): ReadonlyMap<string, Path> =>
  keysOfVersion(schemaOf(target), target.version);

/** True for a section of another chart that does not exist here, although its keys can. */
export function isForeignSection(path: Path, values: Values, target: Target): boolean {
  const found = getAt(values, path);
  const others = CHART_NAMES.filter((chart) => chart !== target.chart);
  const isForeign =
    isMap(found) &&
    releasesWith(path, target.chart) === undefined &&
    Object.keys(found).some((key) =>
      others.some((chart) => releasesWith([...path, key], chart) !== undefined),
    );
  if (!isForeign || equivalentKey(path, values, target) !== undefined) return false;
  const hasEquivalent = leafPaths(found, path).some(
    (leaf) => equivalentKey(leaf, values, target) !== undefined,
  );
  return hasEquivalent || keyOfSameName(path, values, target) === undefined;
}

/** The same setting as this chart version spells it, with its value converted. */
export function equivalentKey(path: Path, values: Values, target: Target): Suggestion | undefined {
  const sections: Suggestion[] = [];
  for (const chart of [target.chart, ...CHART_NAMES]) {
    for (const row of CHARTS[chart].rows) {
      // Only keys of the file count, not defaults.
      const from = row.paths.find(
        (each) =>
          startsWith(path, each) || (startsWith(each, path) && getAt(values, each) !== undefined),
      );
      if (from === undefined) continue;
      const version = releasesOf(chart).findLast((each) => within(each, row.in));
      if (version === undefined) continue;
      const section =
        from.length > path.length ? moveSection(path, from, row, values, target) : undefined;
      if (section) sections.push(section);
      if (from.length > path.length) continue;
      const found =
        translate(path, row, {chart, version}, values, target) ??
        moveKey(path, row, values, target);
      if (found) return found;
    }
  }
  // `resources` is the controller in one chart and the runs in another.
  return sections.toSorted((one, other) => rankOf(one.suggestion) - rankOf(other.suggestion))[0];
}

/** A section whose keys are nested under another one here: `resources` becomes `task.runner.resources`. */
function moveSection(
  path: Path,
  from: Path,
  {setting}: Row,
  values: Values,
  target: Target,
): Suggestion | undefined {
  const below = from.slice(path.length);
  const to = rowsWithKeys(target, setting)
    .flatMap((row) => row.paths)
    .find((each) => each.length > below.length && sameTree(each.slice(-below.length), below));
  return to && moveTo(path, to.slice(0, -below.length), values, target);
}

/** A key with a value that no setting can express. */
function moveKey(
  path: Path,
  {setting, paths}: Row,
  values: Values,
  target: Target,
): Suggestion | undefined {
  const to =
    paths.length === 1 && sameTree(paths[0], path)
      ? rowsWithKeys(target, setting).find((row) => row.paths.length === 1)?.paths[0]
      : undefined;
  return to && moveTo(path, to, values, target);
}

/** With a fix if only the location changes, and no other key can be meant. */
const moveTo = (path: Path, to: Path, values: Values, target: Target): Suggestion =>
  suggest(to, hasRival(path, to, target) ? undefined : rename(path, to, values, target));

function translate(
  path: Path,
  row: Row,
  from: Target,
  values: Values,
  to: Target,
): Suggestion | undefined {
  const source = scopeOf(from);
  const value = row.read(mergeValues(source.defaults, values), source);
  if (value === undefined) return undefined;
  const scope = scopeOf(to);
  for (const each of rowsWithKeys(to, row.setting)) {
    if (!(each.accepts?.(value, scope) ?? true)) continue;
    const entries = each.write(value, scope);
    const entry = entries.find(([key]) => key.at(-1) === path.at(-1)) ?? entries[0];
    if (entry === undefined) continue;
    const [key, tree] = entry;
    const isScalar = typeof tree !== 'object';
    const suggestion =
      isScalar || tree === null ? `${spellPath(key)}: ${JSON.stringify(tree)}` : spellPath(key);
    const isOneToOne =
      entries.length === 1 && row.paths.length === 1 && sameTree(row.paths[0], path);
    const isUnchanged = sameTree(getAt(values, path), tree);
    const isClear = isOneToOne && (isScalar || isUnchanged) && !hasRival(path, key, to);
    const moved = isClear ? rename(path, key, values, to) : undefined;
    const fix = moved?.to && !isUnchanged ? undefined : moved;
    return {
      suggestion,
      ...(fix ? {fix: isScalar && !isUnchanged ? {...fix, value: tree} : fix} : {}),
    };
  }
  return undefined;
}

/** A key of this name at a higher level: `task.runner.nodeSelector` is `task.nodeSelector`. */
function keyAbove(path: Path, values: Values, target: Target): Suggestion | undefined {
  const above = path
    .map((_, index) => [...path.slice(0, path.length - 1 - index), path.at(-1) as string])
    .slice(1);
  const [to, ...others] = above.filter((each) => keysOf(target).has(spellPath(each)));
  return to && suggest(to, others.length === 0 ? rename(path, to, values, target) : undefined);
}

const SYNONYMS: Readonly<Record<string, string>> = {
  env: 'extraEnv',
  envs: 'extraEnv',
  envVars: 'extraEnv',
  environment: 'extraEnv',
  extraEnvVars: 'extraEnv',
  replicas: 'replicaCount',
};

/** Names that other charts give to the same thing. */
function synonym(path: Path, target: Target): Suggestion | undefined {
  const last = path.at(-1) as string;
  const name = Object.hasOwn(SYNONYMS, last) ? SYNONYMS[last] : undefined;
  if (name === undefined) return undefined;
  const to = [...path.slice(0, -1), name];
  return keysOf(target).has(spellPath(to)) ? suggest(to) : keyNamed(name, target);
}

/** Keys for every pod first, then keys for runs. */
const PLACES = [/^global\./, /^task\.runner\./, /^task\./];
const rankOf = (path: string): number =>
  (PLACES.findIndex((each) => each.test(path)) + PLACES.length + 1) % (PLACES.length + 1);

function keyNamed(name: string, target: Target): Suggestion | undefined {
  const named = [...keysOf(target).values()].filter((each) => each.at(-1) === name);
  const [found] = named.toSorted((one, other) => rankOf(spellPath(one)) - rankOf(spellPath(other)));
  return found && suggest(found);
}

function keyOfSameName(path: Path, values: Values, target: Target): Suggestion | undefined {
  return keyAbove(path, values, target) ?? keyNamed(path.at(-1) as string, target);
}

/** A key spelled alike, or one of the same name in another place. */
function similarKey(path: Path, values: Values, target: Target): Suggestion | undefined {
  const keys = keysOf(target);
  const known = [...keys.keys()];
  const parent = spellPath(path.slice(0, -1));
  const siblings = known.filter(
    (each) =>
      keys.get(each)?.length === path.length && (parent === '' || each.startsWith(`${parent}.`)),
  );
  const names = new Map(siblings.map((each) => [keys.get(each)?.at(-1) as string, each]));
  const alike =
    names.get(closest(path.at(-1) as string, [...names.keys()]) ?? '') ??
    closestName(path, known, keys);
  if (alike === undefined) return keyOfSameName(path, values, target);
  const name = keys.get(alike)?.at(-1) as string;
  const isClear = isMisspelled(path.at(-1) as string, name, [...names.keys()]);
  const fix = isClear ? rename(path, keys.get(alike) as Path, values, target) : undefined;
  return suggest(keys.get(alike) as Path, fix?.to === undefined ? fix : undefined);
}

/** In other places, the last name must also be similar: `agent.worker` is not `agent.token`. */
const closestName = (
  path: Path,
  known: readonly string[],
  keys: ReadonlyMap<string, Path>,
): string | undefined => {
  const found = closest(spellPath(path), known);
  const name = found && keys.get(found)?.at(-1);
  return name && closest(path.at(-1) as string, [name]) ? found : undefined;
};

/** True if the chart has another key for the same thing: `nodeSelector` can be that of the controller or of the workers. */
function hasRival(path: Path, to: Path, target: Target): boolean {
  const name = (path.at(-1) as string).toLowerCase();
  return [...keysOf(target).values()].some(
    (key) =>
      key.at(-1)?.toLowerCase().endsWith(name) && !startsWith(key, to) && !startsWith(to, key),
  );
}

/** Undefined if the new key is in use or unknown. */
function rename(path: Path, to: Path, values: Values, target: Target): Fix | undefined {
  const isFree =
    to.length > 0 &&
    getAt(values, to) === undefined &&
    leavesOf(schemaOf(target), target.version).some(
      (leaf) => startsWith(leaf.path, to) || startsWith(to, leaf.path),
    );
  if (!isFree) return undefined;
  return sameTree(path.slice(0, -1), to.slice(0, -1))
    ? {path, name: to.at(-1) as string}
    : {path, to};
}
