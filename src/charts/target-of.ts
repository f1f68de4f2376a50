import {failed} from '../ground/errors.ts';
import {type SettingFinding, warningOf} from '../ground/finding.ts';
import {chart, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {ChartVersion} from './chart-version.ts';
import type {ChartName} from './releases/chart-name.ts';
import {newestOf, releasesOf, type Target, WITHDRAWN} from './releases/target.ts';
import {compare} from './releases/versions.ts';

/** The exact chart version of the settings; `recommended` returns the chart if none is set, `read` is the chart itself for an unknown version. */
export function targetOf(
  settings: Settings,
  recommended: () => ChartName,
  read?: Target,
): {target: ChartVersion; warnings: SettingFinding[]} {
  const name = settings.get(chart) ?? recommended();
  const version = settings.get(chartVersion) ?? newestOf(name);
  if (read?.chart === name && read.version === version)
    return {
      target: ChartVersion.of(read),
      warnings: releasesOf(name).includes(version) ? [] : [readWarning(read)],
    };
  return {
    target: new ChartVersion({chart: name, version}),
    warnings: checkVersion(name, version),
  };
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
      otherVersions(name, version),
    );
  }
  throw failed(
    'VERSION_NOT_RELEASED',
    `${name} ${version} was never released.`,
    otherVersions(name, version),
  );
}

/** What to use instead of a version that is too old, or was never released. */
export function otherVersions(
  name: ChartName,
  version: string,
  spell = (other: string): string => `--chart-version ${other}`,
): [nearest: string, newest: string] {
  const known = releasesOf(name);
  const oldest = known[0] as string;
  const nearest =
    compare(version, oldest) < 0
      ? `Use the oldest supported version: ${spell(oldest)}`
      : `Use the nearest version: ${spell(nearestTo(version, known) as string)}`;
  return [nearest, `Use the newest version: ${spell(known.at(-1) as string)}`];
}

/** The next release, but the one before if only that has the same minor version: minor versions break. */
function nearestTo(version: string, releases: readonly string[]): string | undefined {
  const minor = version.replace(/\.\d+(?:[-+].*)?$/, '.');
  const next = releases.find((each) => compare(each, version) > 0);
  const before = releases.findLast((each) => compare(each, version) < 0);
  return !next?.startsWith(minor) && before?.startsWith(minor) ? before : next;
}
