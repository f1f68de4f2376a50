import {versionStatus} from '../charts/charts.ts';
import {type ChartName, scalrChart} from '../charts/releases/chart-name.ts';
import type {Target} from '../charts/releases/target.ts';
import {hasKey, rowsWithKeys} from '../charts/support.ts';
import {type Difference, driftOf} from '../cluster/diff/values-diff.ts';
import type {ReleaseRecord} from '../cluster/helm/release-record.ts';
import type {DesiredRelease} from '../cluster/release/desired-release.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import {sameTree, spellPath} from '../ground/tree.ts';
import {readEffective, writtenSettings} from '../values/reading/read-values.ts';

/** An install moves it to a Secret. */
const TOKEN = 'agent.token';

/** Values of the installed release that the desired one drops, or changes without an explicit setting. Pure. */
export function lostValues(desired: DesiredRelease, {release}: InstallFacts): Difference[] {
  if (release === undefined) return [];
  const isAsked = keysAt(desired.explicitPaths.map(spellPath));
  const isCarried = keysAt([TOKEN, ...carriedOver(desired, release, isAsked)]);
  return driftOf(release.values, desired.effective).differences.filter(
    ({path, installed, file}) =>
      (installed ?? undefined) !== undefined &&
      (file === undefined || !isAsked(path)) &&
      !isCarried(path),
  );
}

const isTooOld = ({chart, version}: Target): boolean =>
  versionStatus(chart, version).standing === 'older-than-known';

/** True for these keys, the keys below them, and the maps that contain them. */
const keysAt =
  (keys: readonly string[]) =>
  (key: string): boolean =>
    keys.some((each) => each === key || each.startsWith(`${key}.`) || key.startsWith(`${each}.`));

/** Keys of settings that remain when another chart replaces the installed one: it has other keys for them, or cannot have them. */
function carriedOver(
  {chart, effective}: DesiredRelease,
  release: ReleaseRecord,
  isAsked: (key: string) => boolean,
): string[] {
  const from = scalrChart(release.chart);
  const to = {chart: chart.chart as ChartName, version: chart.version};
  if (from === undefined || from.chart === to.chart || isTooOld(from)) return [];
  const keysIn = (target: Target, id: string): string[] =>
    rowsWithKeys(target, {id}).flatMap(({paths}) => paths.map(spellPath));
  const {settings: after} = readEffective(effective, to);
  return [...writtenSettings(release.values, from)]
    .filter(
      ([id, value]) =>
        !hasKey(to, {id}) || keysIn(to, id).some(isAsked) || sameTree(after.get(id), value),
    )
    .flatMap(([id]) => keysIn(from, id));
}
