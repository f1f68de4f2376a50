import {at, type Path, spellPath, type Values} from '../ground/tree.ts';
import {catalog} from '../settings/catalog.ts';
import type {Setting} from '../settings/define.ts';
import {CHARTS, upstreamNotes} from './charts.ts';
import type {ChartName} from './releases/chart-name.ts';
import {holdsValue, knowsKey} from './releases/keys.ts';
import {
  type ChartSchema,
  closedSchema,
  defaultsOf,
  type Leaf,
  leavesOf,
  type SchemaNode,
  schemaOf,
} from './releases/schema.ts';
import {newestOf, releasesOf, type Target} from './releases/target.ts';
import {within} from './releases/versions.ts';
import type {Chart} from './shared/chart.ts';
import type {Refusal, Row} from './shared/row.ts';
import {inCatalogOrder} from './shared/support.ts';

/** A chart version with what follows from its schema, found once: pass it on instead of its name and number where much is asked about it. */
export class ChartVersion implements Target {
  readonly chart: ChartName;
  readonly version: string;
  readonly schema: ChartSchema | undefined;
  readonly refusals: Target['refusals'];
  readonly changes: Target['changes'];
  #leaves?: readonly Leaf[];
  #defaults?: Values;
  #closedSchema?: SchemaNode;
  #description?: Chart;

  constructor({chart, version, schema, refusals, changes}: Target) {
    this.chart = chart;
    this.version = version;
    this.schema = schema;
    this.refusals = refusals;
    this.changes = changes;
  }

  /** Released versions are described once. */
  static of(target: Target): ChartVersion {
    if (target instanceof ChartVersion) return target;
    if (target.schema !== undefined) return new ChartVersion(target);
    const name = `${target.chart} ${target.version}`;
    const released = RELEASED.get(name) ?? new ChartVersion(target);
    RELEASED.set(name, released);
    return released;
  }

  /** Every key, in the order of the chart's values.yaml. */
  get leaves(): readonly Leaf[] {
    this.#leaves ??= leavesOf(schemaOf(this), this.version);
    return this.#leaves;
  }

  /** The schema of the version, in which unknown keys are errors. */
  get closedSchema(): SchemaNode {
    this.#closedSchema ??= closedSchema(schemaOf(this), this.version);
    return this.#closedSchema;
  }

  /** The values.yaml of the release itself. */
  get defaults(): Values {
    this.#defaults ??= defaultsOf(schemaOf(this), this.version);
    return this.#defaults;
  }

  /** The rows and rules of the chart that apply to the version. */
  get description(): Chart {
    this.#description ??= describe(this);
    return this.#description;
  }

  /** The newest version of a chart to which a row applies. */
  newestWith(chart: ChartName, row: Row): ChartVersion | undefined {
    return releasesOf(chart)
      .map((version) => ChartVersion.of({chart, version}))
      .findLast(({description}) => description.rows.includes(row));
  }
}

/** Released versions that were described before, by chart and version. */
const RELEASED = new Map<string, ChartVersion>();

/** The newest version of each chart. */
export const newestVersions = (): ChartVersion[] =>
  Object.values(CHARTS).map(({name: chart}) => ChartVersion.of({chart, version: newestOf(chart)}));

export const chartFor = (target: Target): Chart => ChartVersion.of(target).description;

/** True if the version lies in the range of the row, and has its keys. */
const appliesTo = (row: Row, target: Target): boolean =>
  within(target.version, row.in) &&
  [...row.paths, ...(row.from ?? [])].every((path) => holdsValue(target, path));

/** Rows are in the order of the catalog. Settings whose keys the chart no longer has are refused, with the words of its change list. */
function describe(target: Target): Chart {
  const known = describeKnown({chart: target.chart, version: target.version});
  return target.schema === undefined ? known : withoutGoneKeys(known, target);
}

/** What applies to a version according to the built-in schema. */
function describeKnown(target: Target): Chart {
  const chart = CHARTS[target.chart];
  const isIn = ({in: range}: {in?: string}): boolean => within(target.version, range);
  const rows = inCatalogOrder(chart.rows.filter((row) => appliesTo(row, target)));
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
    ignoredKeys: chart.ignoredKeys.filter((each) => isIn(each) && knowsKey(target, at(each.path))),
    formerKeys: (chart.formerKeys ?? []).filter(isIn),
    kubernetesFloors: chart.kubernetesFloors.filter(isIn),
  };
}

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
