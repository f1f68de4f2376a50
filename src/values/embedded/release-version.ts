import validRange from 'semver/ranges/valid.js';
import type {ChartName} from '../../charts/releases/chart-name.ts';
import {newestOf, releasesOf} from '../../charts/releases/target.ts';
import {within} from '../../charts/releases/versions.ts';
import {type ReleaseOfGroup, whyUnknownVersion} from '../validate/file-group.ts';

/** The version to check a release against, or the reason why it is unknown. */
export interface ReleaseVersion {
  /** As the file says it. */
  written?: string | undefined;
  version?: string | undefined;
  /** Where it does not stand in the file: "the newest known version in 0.5.x". */
  because?: string;
  unknown?: string;
}

const EXACT = /^v?\d+\.\d+\.\d+(?:[-+].*)?$/;
export const isExact = (version: string | undefined): boolean => EXACT.test(version ?? '');

/** A variable that Flux substitutes, with its default. */
const SUBSTITUTION = /^\$\{\w+(?::?[-=]([^}]*))?\}$/;

/** Those fields of a release in a file. */
export const versionIn = (
  file: string,
  {version, because, unknown}: ReleaseVersion,
): Pick<ReleaseOfGroup, 'version' | 'because' | 'unknown'> => ({
  version,
  because,
  unknown: unknown === undefined ? undefined : whyUnknownVersion(file, unknown),
});

/** Ranges mean the newest known version inside of them; what was never released is unknown. */
export function releaseVersion(chart: ChartName, written: string | undefined): ReleaseVersion {
  if (written === undefined || written === '')
    return {written: undefined, version: newestOf(chart), because: 'the newest known version'};
  if (isExact(written)) return {written, version: written.replace(/^v/, '')};
  const [, preset] = SUBSTITUTION.exec(written) ?? [];
  if (preset !== undefined && isExact(preset))
    return {written, version: preset.replace(/^v/, ''), because: `the default of ${written}`};
  const range = written.replaceAll(',', ' ');
  if (validRange(range) === null) return {written, unknown: `the chart version is ${written}`};
  const version = releasesOf(chart).findLast((each) => within(each, range));
  if (version === undefined)
    return {
      written,
      unknown: `no known version of ${chart} is in the range ${written}; known versions end with ${newestOf(chart)}`,
    };
  return {written, version, because: `the newest known version in the range ${written}`};
}
