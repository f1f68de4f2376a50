import {ChartVersion} from '../charts/chart-version.ts';
import {CHARTS} from '../charts/charts.ts';
import type {ChartName} from '../charts/releases/chart-name.ts';
import type {Target} from '../charts/releases/target.ts';
import {isBroken, newestOf, releasesOf} from '../charts/releases/target.ts';
import {describeRange, rangeOf} from '../charts/releases/versions.ts';
import type {Unsupported} from '../charts/shared/support.ts';
import {supports} from '../charts/support.ts';
import {changing, joined, type Remedy} from '../ground/finding.ts';
import type {Setting} from '../settings/define.ts';
import {chart, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {withValue} from '../settings/spelling.ts';

/** A chart, and its newest version that takes all settings. */
interface Candidate {
  target: Target;
  /** Range of the versions that support them. */
  range: string;
}

/** Next steps: chart versions that take all settings, as `works` finds out, or else charts that support the unsupported ones. */
export function suggestCharts(
  refused: readonly Unsupported[],
  settings: Settings,
  target: Target,
  works: (settings: Settings) => boolean,
): Remedy[] {
  const explicit = settings
    .entries()
    .flatMap(({setting}) => (settings.isExplicit(setting) ? [setting] : []));
  const complete = Object.values(CHARTS)
    .flatMap(({name}) => candidates(name, explicit, settings))
    .filter((each) => works(withTarget(settings, each.target)));
  if (complete.length > 0)
    return complete
      .toSorted((one, other) => effortOf(one, target) - effortOf(other, target))
      .map((each) => suggestion(each, settings, target));
  const desired = refused.map(({setting}) => setting);
  return Object.values(CHARTS)
    .flatMap(({name}) => candidates(name, desired, settings))
    .map(({target: {chart: name}, range}) => ({
      text: `${name} supports it (${range}), but not all other settings`,
    }));
}

/** No candidate if no version that works for anybody supports the settings. */
function candidates(name: ChartName, desired: readonly Setting[], settings: Settings): Candidate[] {
  const usable = releasesOf(name).filter((version) => !isBroken({chart: name, version}));
  const able = usable.filter((version) => {
    const target = new ChartVersion({chart: name, version});
    return desired.every((setting) => supports(target, setting, settings));
  });
  const newest = able.at(-1);
  if (newest === undefined) return [];
  return [{target: {chart: name, version: newest}, range: describeRange(rangeOf(able, usable))}];
}

const withTarget = (settings: Settings, target: Target): Settings =>
  settings
    .with(chart, {value: target.chart, source: 'flag'})
    .with(chartVersion, {value: target.version, source: 'flag'});

const isOlder = ({target}: Candidate): boolean => target.version !== newestOf(target.chart);

/** A newer version of the same chart changes least, and an old version is the last choice. */
const effortOf = (candidate: Candidate, refusing: Target): number =>
  (isOlder(candidate) ? 2 : 0) + (candidate.target.chart === refusing.chart ? 0 : 1);

/** The flags that differ from those that were given. */
function suggestion({target, range}: Candidate, settings: Settings, refusing: Target): Remedy {
  const isOther = target.chart !== refusing.chart || settings.get(chart) !== target.chart;
  const needsVersion = settings.get(chartVersion) !== undefined || isOlder({target, range});
  const flags = [
    ...(isOther ? [changing`${withValue(chart, target.chart)}`] : []),
    ...(needsVersion ? [changing`${withValue(chartVersion, target.version)}`] : []),
  ];
  return changing`Use ${joined(flags, ' ')}, which supports it (${range})`;
}
