import type {Target} from '../charts/define.ts';
import {isUnknown} from '../charts/target.ts';
import {mergeValues} from '../ground/tree.ts';
import type {ReadChart} from '../operations/read-chart.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {type CheckedGroup, type FileGroup, guessChart, sourceOf, withFindings} from '../values/validate/check-files.ts';
import {type ChartDeps, confirmIn, readFrom, readIfUnknown} from './read-chart.ts';

/** Charts to check files against that this program has to read: the one of --chart-source, or those in unknown versions. */
export interface ChartsToCheck {
  given?: Target;
  read: readonly ReadChart[];
}

/** @throws ExpectedError */
export async function chartsToCheck(groups: readonly FileGroup[], settings: Settings, deps: ChartDeps): Promise<ChartsToCheck> {
  const source = settings.get(chartSource);
  if (source !== undefined) {
    const read = await readFrom(source, {chart: settings.get(chart) ?? '', version: settings.get(chartVersion) ?? ''}, deps);
    return {given: read.target, read: [read]};
  }
  const read = new Map<string, ReadChart>();
  for (const {name, version} of groups.map((group) => guessChart(group, settings))) {
    if (name === undefined || version === undefined || read.has(`${name} ${version}`)) continue;
    const found = await readIfUnknown(name, version, undefined, deps);
    if (found) read.set(`${name} ${version}`, found);
  }
  return {read: [...read.values()]};
}

/** Adds findings about keys without a confirmed effect. All valid files for one chart version are rendered together. */
export async function confirmGroups(checked: readonly CheckedGroup[], {read}: ChartsToCheck, deps: ChartDeps): Promise<CheckedGroup[]> {
  let groups = [...checked];
  for (const each of read.filter(({target}) => isUnknown(target, true))) {
    const isOf = ({target, findings}: CheckedGroup): boolean =>
      target === each.target && findings.every(({severity}) => severity !== 'error');
    const sources = groups.filter(isOf).map(sourceOf);
    if (sources.length === 0) continue;
    const {unconfirmed, rejection} = await confirmIn(each, sources.map(({values}) => values).reduce(mergeValues, {}), deps);
    const refused = rejection && sources.length === 1 ? [rejection.message] : [];
    groups = groups.map((group) => (isOf(group) ? withFindings(group, unconfirmed, refused) : group));
  }
  return groups;
}
