import type {DecisionOption} from '../../ground/errors.ts';
import type {Path, Values} from '../../ground/tree.ts';
import {CHART_NAMES, type ChartName} from './chart-name.ts';
import {type ChartSchema, chartSchema} from './schema.ts';
import {compare, within} from './versions.ts';

/** An entry of `artifacthub.io/changes` in Chart.yaml. */
export interface UpstreamChange {
  /** added, changed, removed, fixed, … */
  kind?: string | undefined;
  description: string;
}

/** One exact chart version. */
export interface Target {
  chart: ChartName;
  version: string;
  /** Schema of a chart from --chart-source, if this program does not know the version. */
  schema?: ChartSchema | undefined;
  /** Violations of the chart's values.schema.json by values merged over its defaults. */
  refusals?: ((values: Values) => {path: Path; message: string}[]) | undefined;
  /** The change list of that chart. */
  changes?: readonly UpstreamChange[] | undefined;
}

export const releasesOf = (name: ChartName): string[] =>
  chartSchema(name)['x-releases'].map(({version}) => version);
export const newestOf = (name: ChartName): string => releasesOf(name).at(-1) as string;

/** True for a version that only the chart itself can describe: a newer one than all known ones, or another one if its source is known. */
export function isUnknown({chart, version}: Target, hasSource: boolean): boolean {
  const known = releasesOf(chart);
  return (
    !known.includes(version) &&
    compare(version, hasSource ? (known[0] as string) : newestOf(chart)) > 0
  );
}

/** Withdrawn upstream: not available in the public repository. */
export const WITHDRAWN: Readonly<Record<ChartName, readonly string[]>> = {
  'agent-k8s': ['0.5.78'],
  'agent-local': ['0.5.74'],
  'agent-job': ['0.5.77'],
};

/** One next step per chart, if the values are for an unknown one. */
export const chartOptions: readonly DecisionOption[] = CHART_NAMES.map((name) => ({
  add: `--chart ${name}`,
  when: `For ${name}`,
}));

/** Pods of runs carry no label of the chart, so its NetworkPolicy does not select them (templates/networkpolicy.yaml). */
export const policyMissesRuns = ({chart, version}: Target): boolean =>
  chart === 'agent-k8s' || (chart === 'agent-job' && within(version, '<=0.5.63'));

/** Versions that no agent can use: 0.5.63 kills runs that exceed 30Mi. */
const BROKEN: Readonly<Partial<Record<ChartName, readonly string[]>>> = {'agent-job': ['0.5.63']};

/** True for a version that is never suggested. */
export const isBroken = ({chart, version}: Pick<Target, 'chart' | 'version'>): boolean =>
  [BROKEN[chart], WITHDRAWN[chart]].some((versions) => versions?.includes(version) === true);

/** Known and usable, or newer than this program knows. */
export const isUsable = (target: Pick<Target, 'chart' | 'version'>): boolean =>
  /^\d+\.\d+\.\d+$/.test(target.version) &&
  (releasesOf(target.chart).includes(target.version) || isUnknown(target, false)) &&
  !isBroken(target);
