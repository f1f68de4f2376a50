import satisfies from 'semver/functions/satisfies.js';

/** One published version of a chart, as its Chart.yaml states it. */
export interface Release {
  version: string;
  appVersion: string;
  kubeVersion?: string;
}

/** True when the chart version lies in the semver range; no range means every version. */
export function within(version: string, range: string | undefined): boolean {
  if (range === undefined) return true;
  const question = `${version} in ${range}`;
  const known = answered.get(question) ?? satisfies(version, range);
  answered.set(question, known);
  return known;
}

/** The same few ranges are asked for hundreds of keys. */
const answered = new Map<string, boolean>();

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

/** A range of rangeOf in words. */
export const describeRange = (range: string): string =>
  range
    .split(' || ')
    .map((run) =>
      run === '*'
        ? 'every supported version'
        : run
            .replace(/^>=(.*)/, 'since $1')
            .replace(/^<=(.*)/, 'up to $1')
            .replace(' - ', ' to '),
    )
    .join(', ');
