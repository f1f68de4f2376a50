import {ChartVersion} from '../../charts/chart-version.ts';
import {CHARTS, upstreamNotes} from '../../charts/charts.ts';
import {documentedKey} from '../../charts/moved-keys.ts';
import {CHART_NAMES, type ChartName} from '../../charts/releases/chart-name.ts';
import {knowsKey} from '../../charts/releases/keys.ts';
import {releasesOf, type Target} from '../../charts/releases/target.ts';
import {describeRange, rangeOf} from '../../charts/releases/versions.ts';
import type {Row, ValuesEntry} from '../../charts/shared/row.ts';
import {rowsWithKeys, scopeOf} from '../../charts/support.ts';
import type {Edit} from '../../ground/finding.ts';
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
import {AZURE_LABEL} from '../../settings/placement.ts';

/** What to write instead; with a fix if only the name or a scalar changes and there is no other candidate. */
interface Suggestion {
  suggestion: string;
  fix?: Edit;
}

const suggest = (to: Path, fix?: Edit): Suggestion => ({
  suggestion: spellPath(to),
  ...(fix ? {fix} : {}),
});

/** A key of the file that the chart version does not have. */
interface UnknownKey {
  path: Path;
  /** The values of the file. */
  values: Values;
  target: ChartVersion;
}

/** The message for an unknown key: one of another release or chart, misspelled or misplaced. */
export function suggestKey(
  path: Path,
  values: Values,
  target: Target,
): {message: string} & Partial<Suggestion> {
  const notes = upstreamNotes(path, target);
  const {message, ...found} = suggestKnownKey({path, values, target: ChartVersion.of(target)});
  const isLost = found.suggestion === undefined && getAt(values, [...path, AZURE_LABEL]);
  const azure = isLost && 'Azure Workload Identity requires this label, so it cannot be used.';
  const changelog = notes.length > 0 && `Chart changelog: ${notes.join(' ')}.`;
  return {message: [message, azure, changelog].filter(Boolean).join(' '), ...found};
}

function suggestKnownKey(unknown: UnknownKey): {message: string} & Partial<Suggestion> {
  const {path, values, target} = unknown;
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
    return {message, ...(known ?? keyOfSameName(unknown))};
  }
  const owner = CHART_NAMES.find(
    (chart) => chart !== target.chart && releasesWith(path, chart) !== undefined,
  );
  if (owner && known) return {message: `${name} is a key of ${owner}, not of ${here}.`, ...known};
  const similar = keyAbove(unknown) ?? synonym(path, target) ?? similarKey(unknown);
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
  const all = releasesOf(chart);
  const some = all.filter((version) => knowsKey({chart, version}, path));
  return some.length === 0 ? undefined : describeRange(rangeOf(some, [...all, ...later]));
}

/** Every key of a release and the keys above it, by their spelling. */
function keysOf(target: Target): ReadonlyMap<string, Path> {
  const paths = ChartVersion.of(target).leaves.flatMap((leaf) =>
    leaf.path.map((_, index) => leaf.path.slice(0, index + 1)),
  );
  return new Map(paths.map((path) => [spellPath(path), path]));
}

/** True for a section of another chart that does not exist here, although its keys can. */
export function isForeignSection(path: Path, values: Values, given: Target): boolean {
  const target = ChartVersion.of(given);
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
  return hasEquivalent || keyOfSameName({path, values, target}) === undefined;
}

/** The same setting as this chart version spells it, with its value converted. */
export function equivalentKey(path: Path, values: Values, given: Target): Suggestion | undefined {
  const target = ChartVersion.of(given);
  const unknown = {path, values, target};
  const sections: Suggestion[] = [];
  for (const chart of [target.chart, ...CHART_NAMES]) {
    for (const row of CHARTS[chart].rows) {
      const from = keyOfRow(row, unknown);
      const source = from && target.newestWith(chart, row);
      if (from === undefined || source === undefined) continue;
      if (from.length > path.length) {
        sections.push(...moveSection(unknown, from, row));
        continue;
      }
      const found =
        translate(unknown, row, source) ??
        (isShared(path, chart) ? undefined : moveKey(unknown, row));
      if (found) return found;
    }
  }
  // `resources` is the controller in one chart and the runs in another.
  return sections.toSorted((one, other) => rankOf(one.suggestion) - rankOf(other.suggestion))[0];
}

/** The key of a row that contains the unknown one, or that the file has below it. */
const keyOfRow = ({paths}: Row, {path, values}: UnknownKey): Path | undefined =>
  paths.find(
    (each) =>
      startsWith(path, each) || (startsWith(each, path) && getAt(values, each) !== undefined),
  );

/** True for a map that holds several settings, such as extraEnv. */
function isShared(path: Path, chart: ChartName): boolean {
  const owners = CHARTS[chart].rows.filter((row) => row.paths.some((each) => sameTree(each, path)));
  return new Set(owners.map(({setting}) => setting)).size > 1;
}

/** A section whose keys are nested under another one here: `resources` becomes `task.runner.resources`. */
function moveSection(unknown: UnknownKey, from: Path, {setting}: Row): Suggestion[] {
  const below = from.slice(unknown.path.length);
  const to = rowsWithKeys(unknown.target, setting)
    .flatMap((row) => row.paths)
    .find((each) => each.length > below.length && sameTree(each.slice(-below.length), below));
  return to ? [moveTo(unknown, to.slice(0, -below.length))] : [];
}

/** A key with a value that no setting can express. */
function moveKey(unknown: UnknownKey, {setting, paths}: Row): Suggestion | undefined {
  if (paths.length !== 1 || !sameTree(paths[0], unknown.path)) return undefined;
  const row = rowsWithKeys(unknown.target, setting).find((each) => each.paths.length === 1);
  return row?.paths[0] && moveTo(unknown, row.paths[0]);
}

/** With a fix if only the location changes, and no other key can be meant. */
const moveTo = (unknown: UnknownKey, to: Path): Suggestion =>
  suggest(to, hasRival(unknown, to) ? undefined : rename(unknown, to));

/** What the rows of the target write for the value that a row of another version reads. */
function translate(unknown: UnknownKey, row: Row, from: Target): Suggestion | undefined {
  const {path, values, target} = unknown;
  const source = scopeOf(from);
  const value = row.read(mergeValues(source.defaults, values), source);
  if (value === undefined) return undefined;
  const scope = scopeOf(target);
  for (const each of rowsWithKeys(target, row.setting)) {
    const entries = (each.accepts?.(value, scope) ?? true) ? each.write(value, scope) : [];
    const entry = entries.find(([key]) => key.at(-1) === path.at(-1)) ?? entries[0];
    if (entry === undefined) continue;
    const isOneToOne =
      entries.length === 1 && row.paths.length === 1 && sameTree(row.paths[0], path);
    return suggestEntry(unknown, entry, isOneToOne);
  }
  return undefined;
}

/** With a fix if the entry replaces the key completely. */
function suggestEntry(unknown: UnknownKey, entry: ValuesEntry, isOneToOne: boolean): Suggestion {
  const [key, value] = entry;
  const isScalar = typeof value !== 'object';
  const name = spellPath(key);
  const text = JSON.stringify(value);
  // Certificates have lines of their own.
  const isShown = (isScalar || value === null) && !text.includes('\\n');
  const suggestion = isShown ? `${name}: ${text}` : name;
  const isUnchanged = sameTree(getAt(unknown.values, unknown.path), value);
  if (!isOneToOne || !(isScalar || isUnchanged) || hasRival(unknown, key)) return {suggestion};
  const fix = rename(unknown, key);
  if (fix === undefined || isUnchanged) return fix ? {suggestion, fix} : {suggestion};
  // A value is either changed or moved.
  return fix.to || !isScalar ? {suggestion} : {suggestion, fix: {...fix, value}};
}

/** A key of this name at a higher level: `task.runner.nodeSelector` is `task.nodeSelector`. */
function keyAbove(unknown: UnknownKey): Suggestion | undefined {
  const {path, target} = unknown;
  const above = path
    .map((_, index) => [...path.slice(0, path.length - 1 - index), path.at(-1) as string])
    .slice(1);
  const [to, ...others] = above.filter((each) => keysOf(target).has(spellPath(each)));
  return to && suggest(to, others.length === 0 ? rename(unknown, to) : undefined);
}

const SYNONYMS: Readonly<Record<string, string>> = {
  env: 'extraEnv',
  envs: 'extraEnv',
  envVars: 'extraEnv',
  environment: 'extraEnv',
  extraEnvVars: 'extraEnv',
  replicas: 'replicaCount',
  existingSecret: 'tokenExistingSecret',
  pullSecrets: 'imagePullSecrets',
  containerSecurityContext: 'securityContext',
  automountServiceAccountToken: 'automountToken',
  envFrom: 'extraEnvFrom',
  volumes: 'extraVolumes',
  volumeMounts: 'extraVolumeMounts',
  pdb: 'podDisruptionBudget',
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

const keyOfSameName = (unknown: UnknownKey): Suggestion | undefined =>
  keyAbove(unknown) ?? keyNamed(unknown.path.at(-1) as string, unknown.target);

/** A key spelled alike, or one of the same name in another place. */
function similarKey(unknown: UnknownKey): Suggestion | undefined {
  const {path, target} = unknown;
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
  if (alike === undefined) return keyOfSameName(unknown);
  const name = keys.get(alike)?.at(-1) as string;
  const isClear = isMisspelled(path.at(-1) as string, name, [...names.keys()]);
  const fix = isClear ? rename(unknown, keys.get(alike) as Path) : undefined;
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
function hasRival({path, target}: UnknownKey, to: Path): boolean {
  const name = (path.at(-1) as string).toLowerCase();
  return [...keysOf(target).values()].some(
    (key) =>
      key.at(-1)?.toLowerCase().endsWith(name) && !startsWith(key, to) && !startsWith(to, key),
  );
}

/** Undefined if the new key is in use or unknown. */
function rename({path, values, target}: UnknownKey, to: Path): Edit | undefined {
  const isFree =
    to.length > 0 &&
    getAt(values, to) === undefined &&
    ChartVersion.of(target).leaves.some(
      (leaf) => startsWith(leaf.path, to) || startsWith(to, leaf.path),
    );
  if (!isFree) return undefined;
  return sameTree(path.slice(0, -1), to.slice(0, -1))
    ? {path, name: to.at(-1) as string}
    : {path, to};
}
