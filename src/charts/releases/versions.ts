import type {SemVer} from 'semver';
import coerce from 'semver/functions/coerce.js';
import semverCompare from 'semver/functions/compare.js';
import satisfies from 'semver/functions/satisfies.js';

/** One published version of a chart, as its Chart.yaml states it. */
export interface Release {
  version: string;
  appVersion: string;
  kubeVersion?: string;
  /** SHA-256 of the archive, according to the index of the chart repository. */
  digest?: string;
}

/** The three numbers of a version without prefix and suffix: `v1.34.1-gke.2541000` is 1.34.1, `1.35` is 1.35.0. */
const numbersOf = (version: string): SemVer | string => coerce(version) ?? '0.0.0';

/** True when the numbers of the chart version lie in the semver range; no range means every version. */
export function within(version: string, range: string | undefined): boolean {
  if (range === undefined) return true;
  const question = `${version} in ${range}`;
  const found = ANSWERS.get(question) ?? satisfies(numbersOf(version), range);
  ANSWERS.set(question, found);
  return found;
}

/** The same few ranges are asked thousands of times. */
const ANSWERS = new Map<string, boolean>();

/** Negative when the first version comes before the second; only the three numbers count. */
export const compare = (one: string, other: string): number =>
  semverCompare(numbersOf(one), numbersOf(other));

/**
 * The shortest semver range that picks exactly `some` out of `all` (both in release order).
 * A run that reaches the newest release stays open, so that the next release is inside it.
 */
export function rangeOf(some: readonly string[], all: readonly string[]): string {
  const runs: [number, number][] = [];
  for (const version of some) {
    const at = all.indexOf(version);
    const last = runs.at(-1);
    if (last && last[1] === at - 1) last[1] = at;
    else runs.push([at, at]);
  }
  return runs.map(([from, to]) => spell(from, to, all)).join(' || ');
}

function spell(from: number, to: number, all: readonly string[]): string {
  const newest = all.length - 1;
  if (from === 0 && to === newest) return '*';
  if (to === newest) return `>=${all[from]}`;
  if (from === 0) return `<=${all[to]}`;
  return from === to ? `${all[from]}` : `${all[from]} - ${all[to]}`;
}

/** Describes a range of rangeOf. */
export const describeRange = (range: string): string =>
  range
    .split(' || ')
    .map((run) =>
      run === '*'
        ? 'all supported versions'
        : run
            .replace(/^>=(.*)/, 'since $1')
            .replace(/^<(\d.*)/, 'before $1')
            .replace(/^<=(.*)/, 'up to $1')
            .replace(' - ', ' to '),
    )
    .join(', ');

/** The Kubernetes versions of a cluster. */
export interface KubernetesVersions {
  /** With the machines that have them: the control plane, 3 nodes. */
  found: readonly {machines: string; version: string}[];
  /** The versions of the control plane and of all nodes were found. */
  isComplete: boolean;
}

/** The machines older than a version, such as "control plane (v1.34.3), 2 nodes (v1.33.1)"; an empty text if there are none. */
export const olderThan = (
  minimum: string,
  {found = []}: Partial<KubernetesVersions> = {},
): string =>
  found
    .flatMap(({machines, version}) =>
      compare(version, minimum) < 0 ? [`${machines} (${version})`] : [],
    )
    .join(', ');

/** True if all machines are known to have at least this version. */
export const isAtLeast = (minimum: string, versions: KubernetesVersions | undefined): boolean =>
  versions?.isComplete === true && olderThan(minimum, versions) === '';
