import {at, type Path, spellPath, startsWith} from '../ground/tree.ts';
import {catalog} from '../settings/catalog.ts';
import type {Setting} from '../settings/define.ts';
import {agentJob} from './agent-job/index.ts';
import {agentK8s} from './agent-k8s/index.ts';
import {agentLocal} from './agent-local/index.ts';
import type {ChartName} from './releases/chart-name.ts';
import {holdsValue, knowsKey} from './releases/keys.ts';
import {type ChartSchema, chartRelease} from './releases/schema.ts';
import type {Target, UpstreamChange} from './releases/target.ts';
import {newestOf, releasesOf, WITHDRAWN} from './releases/target.ts';
import {compare, oncePerVersion, within} from './releases/versions.ts';
import type {Chart, KubernetesFloor} from './shared/chart.ts';
import type {Refusal, Row} from './shared/row.ts';
import {inCatalogOrder} from './shared/support.ts';

/** The three charts, in the order in which upstream recommends them. */
export const CHARTS: Readonly<Record<ChartName, Chart>> = {
  'agent-local': agentLocal,
  'agent-job': agentJob,
  'agent-k8s': agentK8s,
};

/** What applies to one version. Rows are in the order of the catalog. */
const chartIn = oncePerVersion((chart: Chart, version): Chart => {
  const target = {chart: chart.name, version};
  const isIn = ({in: range}: {in?: string}): boolean => within(version, range);
  const has = (key: string): boolean => knowsKey(target, at(key));
  const hasRow = (row: Row): boolean =>
    isIn(row) && [...row.paths, ...(row.from ?? [])].every((path) => holdsValue(target, path));
  const rows = inCatalogOrder(chart.rows.filter(hasRow));
  return {
    ...chart,
    rows,
    refusals: [...chart.refusals.filter(isIn), ...withoutRows(chart, rows)],
    defaults: chart.defaults.filter(isIn),
    derived: (chart.derived ?? []).filter(isIn),
    rules: chart.rules.filter(isIn),
    valuesRules: chart.valuesRules.filter(isIn),
    ownVariables: chart.ownVariables.filter(isIn),
    containers: chart.containers.filter(isIn),
    images: chart.images.filter(isIn),
    ignoredKeys: chart.ignoredKeys.filter((each) => isIn(each) && has(each.path)),
    formerKeys: (chart.formerKeys ?? []).filter(isIn),
    kubernetesFloors: chart.kubernetesFloors.filter(isIn),
  };
});

/** Settings for which this version has no key. */
function withoutRows(chart: Chart, rows: readonly Row[]): Refusal[] {
  const isMissing = (setting: Setting): boolean => !rows.some((row) => row.setting === setting);
  const isKnown = (setting: Setting): boolean => chart.rows.some((row) => row.setting === setting);
  const missing = catalog.filter(isMissing);
  return [
    {settings: missing.filter(isKnown), reason: 'this version has no key for it'},
    {settings: missing, reason: 'the chart has no key for it'},
  ];
}

/** The newest version to which a row of the chart applies. */
export const newestWith = (chart: ChartName, row: Row): string | undefined =>
  releasesOf(chart).findLast((version) => chartIn(CHARTS[chart], version).rows.includes(row));

const ofSchema = new WeakMap<ChartSchema, Chart>();

/** The description of a chart version. Settings whose keys the chart no longer has are refused, with the words of its change list. */
export function chartFor(target: Target): Chart {
  const known = chartIn(CHARTS[target.chart], target.version);
  if (target.schema === undefined) return known;
  const found = ofSchema.get(target.schema) ?? withoutGoneKeys(known, target);
  ofSchema.set(target.schema, found);
  return found;
}

function withoutGoneKeys(known: Chart, target: Target): Chart {
  const has = (path: Path): boolean => knowsKey(target, path);
  const rows: Row[] = [];
  const gone: Refusal[] = [];
  for (const row of known.rows) {
    const missing = row.paths.filter((path) => !has(path));
    if (missing.length > 0) gone.push({settings: [row.setting], reason: goneText(missing, target)});
    if (missing.length > 0 && missing.length === row.paths.length) continue;
    const accepts: Row['accepts'] = (value, scope) =>
      (row.accepts?.(value, scope) ?? true) && row.write(value, scope).every(([path]) => has(path));
    rows.push(missing.length === 0 ? row : {...row, paths: row.paths.filter(has), accepts});
  }
  return {...known, rows, refusals: [...gone, ...known.refusals]};
}

function goneText(missing: readonly Path[], target: Target): string {
  const notes = [...new Set(missing.flatMap((path) => upstreamNotes(path, target)))];
  const keys = missing.map(spellPath).join(', ');
  return [
    `it has no key ${keys}`,
    ...(notes.length === 0 ? [] : [`Chart changelog: ${notes.join(' ')}`]),
  ]
    .join('. ')
    .replace(/\.$/, '');
}

/** What the change list of the chart says about a key: the entries that name it, or else the ones that name the closest key above it. */
export function upstreamNotes(path: Path, {changes = []}: Target): string[] {
  const found = changes.map((change) => ({
    change,
    depth: Math.max(0, ...keysIn(change).map((key) => (startsWith(path, key) ? key.length : 0))),
  }));
  const deepest = Math.max(0, ...found.map(({depth}) => depth));
  return found.flatMap(({change, depth}) =>
    depth > 0 && depth === deepest ? [noteText(change)] : [],
  );
}

export const noteText = ({kind, description}: UpstreamChange): string =>
  `${kind === undefined ? '' : `${kind}: `}"${description.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()}"`;

/** The keys that an entry names: dotted, or in backquotes; `persistence.{data,cache}.mode` names two. */
const keysIn = ({description}: UpstreamChange): Path[] =>
  [...description.matchAll(/`([A-Za-z][\w.{},*-]*)`|\b([A-Za-z]\w*(?:\.[\w{},*]+)+)/g)]
    .flatMap(([, quoted, plain]) => spread((quoted ?? plain) as string))
    .map((name) => at(name.replace(/(\.\*)+$/, '')));

function spread(name: string): string[] {
  const [, before, words, after] = /^(.*?)\{([^}]*)\}(.*)$/.exec(name) ?? [];
  return words === undefined
    ? [name]
    : words.split(',').flatMap((word) => spread(`${before}${word}${after}`));
}

/** An installed version compared with the known versions. */
export interface VersionStatus {
  newestKnown: string;
  /** Number of newer releases; for a version older than all known ones it is a lower bound. */
  behind: number;
  standing: 'newest' | 'behind' | 'newer-than-known' | 'older-than-known' | 'withdrawn';
}

export function versionStatus(chart: ChartName, version: string): VersionStatus {
  const known = releasesOf(chart);
  const newestKnown = newestOf(chart);
  const behind = known.filter((each) => compare(each, version) > 0).length;
  const standing = (): VersionStatus['standing'] => {
    if (WITHDRAWN[chart].includes(version)) return 'withdrawn';
    if (compare(version, newestKnown) > 0) return 'newer-than-known';
    if (compare(version, known[0] as string) < 0) return 'older-than-known';
    return behind === 0 ? 'newest' : 'behind';
  };
  return {newestKnown, behind, standing: standing()};
}

/** The SHA-256 of the archive of a chart release in the public repository; undefined if it is unknown or withdrawn. */
export const digestOf = (chart: ChartName, version: string): string | undefined =>
  chartRelease({chart, version})?.digest;

/** The minimum Kubernetes version of a chart version; undefined without one. */
export function floorOf(target: Target): KubernetesFloor | undefined {
  const [documented] = chartIn(CHARTS[target.chart], target.version).kubernetesFloors;
  const enforced = enforcedBy(target);
  return enforced !== undefined &&
    (documented === undefined || isBelow(documented.version, enforced))
    ? {version: enforced, isHard: true, because: 'helm enforces the kubeVersion of the chart'}
    : documented;
}

/** The lower bound of kubeVersion in Chart.yaml; helm checks other constraints. */
function enforcedBy(target: Target): string | undefined {
  return /^>=\s*v?(\d+\.\d+)/.exec(chartRelease(target)?.kubeVersion ?? '')?.[1];
}

/** Accepts versions of cloud providers: v1.34.1-gke.2541000 */
export const isBelow = (version: string, floor: string): boolean => compare(version, floor) < 0;

/** True if the install or its runs fail on a server of that version. */
export function isTooOld(server: string, target: Target): boolean {
  const floor = floorOf(target);
  return floor?.isHard === true && isVersion(server) && isBelow(server, floor.version);
}

export const isVersion = (text: string): boolean => /^v?\d+\.\d+\./.test(text);
