import {type SettingFinding, warningOf} from '../../findings/finding.ts';
import {type DecisionOption, failed} from '../../ground/errors.ts';
import type {Path, Values} from '../../ground/tree.ts';
import {chart, chartVersion} from '../../settings/release.ts';
import type {Settings} from '../../settings/settings.ts';
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
  schema?: ChartSchema;
  /** Violations of the chart's values.schema.json by values merged over its defaults. */
  refusals?(values: Values): {path: Path; message: string}[];
  /** The change list of that chart. */
  changes?: readonly UpstreamChange[];
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

/** The exact chart version of the settings; `recommended` returns the chart if none is set, `read` is the chart itself for an unknown version. */
export function targetOf(
  settings: Settings,
  recommended: () => ChartName,
  read?: Target,
): {target: Target; warnings: SettingFinding[]} {
  const name = settings.get(chart) ?? recommended();
  const version = settings.get(chartVersion) ?? newestOf(name);
  if (read?.chart === name && read.version === version)
    return {target: read, warnings: releasesOf(name).includes(version) ? [] : [readWarning(read)]};
  return {target: {chart: name, version}, warnings: checkVersion(name, version)};
}

const warning = (code: string, message: string): SettingFinding =>
  warningOf(code, message, chartVersion.id);

const readWarning = ({chart: name, version}: Target): SettingFinding =>
  warning(
    'UNKNOWN_VERSION',
    `${name} ${version} is newer than this program. Keys, types and defaults are read from the chart. Rules between keys are those of ${newestOf(name)}.`,
  );
function checkVersion(name: ChartName, version: string): SettingFinding[] {
  const known = releasesOf(name);
  const oldest = known[0] as string;
  const newest = known.at(-1) as string;
  if (WITHDRAWN[name].includes(version))
    return [
      warning(
        'WITHDRAWN_VERSION',
        `${name} ${version} was withdrawn and is not available in the public repository.`,
      ),
    ];
  if (known.includes(version)) return [];
  if (compare(version, newest) > 0)
    return [
      warning(
        'UNKNOWN_VERSION',
        `${name} ${version} is newer than the newest known version ${newest} and is treated like ${newest}.`,
      ),
    ];
  if (compare(version, oldest) < 0) {
    throw failed(
      'VERSION_TOO_OLD',
      `${name} ${version} is too old. Supported versions: ${oldest} to ${newest}.`,
      [
        `Use the oldest supported version: --chart-version ${oldest}`,
        `Use the newest version: --chart-version ${newest}`,
      ],
    );
  }
  throw failed('VERSION_NOT_RELEASED', `${name} ${version} was never released.`, [
    `Use the nearest version: --chart-version ${nearestTo(version, known)}`,
    `Use the newest version: --chart-version ${newest}`,
  ]);
}

/** The next release, but the one before if only that has the same minor version: minor versions break. */
function nearestTo(version: string, releases: readonly string[]): string | undefined {
  const minor = version.replace(/\.\d+(?:[-+].*)?$/, '.');
  const next = releases.find((each) => compare(each, version) > 0);
  const before = releases.findLast((each) => compare(each, version) < 0);
  return !next?.startsWith(minor) && before?.startsWith(minor) ? before : next;
}

/** Pods of runs carry no label of the chart, so its NetworkPolicy does not select them (templates/networkpolicy.yaml). */
export const policyMissesRuns = ({chart, version}: Target): boolean =>
  chart === 'agent-k8s' || (chart === 'agent-job' && within(version, '<=0.5.63'));

/** Versions that no agent can use: 0.5.63 kills runs that exceed 30Mi. */
const BROKEN: Readonly<Partial<Record<ChartName, readonly string[]>>> = {'agent-job': ['0.5.63']};

/** True for a version that is never suggested. */
export const isBroken = ({chart, version}: Pick<Target, 'chart' | 'version'>): boolean =>
  [BROKEN[chart], WITHDRAWN[chart]].some((versions) => versions?.includes(version) === true);
