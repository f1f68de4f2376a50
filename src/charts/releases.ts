/** One published version of a chart, as its Chart.yaml states it. */
export interface Release {
  version: string;
  appVersion: string;
  kubeVersion?: string;
}

/** True when the chart version lies in the semver range; no range means every version. */
export function within(version: string, range: string | undefined): boolean {
  if (range === undefined) return true;
  const answers = answered.get(range) ?? new Map<string, boolean>();
  answered.set(range, answers);
  const known =
    answers.get(version) ?? range.split(' || ').some((run) => boundsOf(run).every(([holds, bound]) => holds(compare(version, bound))));
  answers.set(version, known);
  return known;
}

/** The same few ranges are asked for hundreds of keys, and a full semver parser would be most of the time a command takes. */
const answered = new Map<string, Map<string, boolean>>();

/** Remembers what follows from a release alone: a run asks for the same few again and again. */
export function oncePerRelease<R extends {chart: string; version: string}, T>(find: (release: R) => T): (release: R) => T {
  const known = new Map<string, T>();
  return (release) => {
    const name = `${release.chart} ${release.version}`;
    const found = known.get(name) ?? find(release);
    known.set(name, found);
    return found;
  };
}

const HOLDS: Readonly<Record<string, (order: number) => boolean>> = {
  '>=': (order) => order >= 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '<': (order) => order < 0,
  '': (order) => order === 0,
};

/** The comparisons that have to hold for one run of versions, `a - b` or comparators between blanks. */
function boundsOf(run: string): [holds: (order: number) => boolean, bound: string][] {
  if (run === '*') return [];
  return run
    .replace(/^(\S+) - (\S+)$/, '>=$1 <=$2')
    .split(' ')
    .map((part) => {
      const [, comparator = '', bound = ''] = /^([<>]?=?)(.*)$/.exec(part) ?? [];
      return [HOLDS[comparator] as (order: number) => boolean, bound];
    });
}

/** Negative when the first version comes before the second; of a pre-release only the three numbers count. */
export function compare(one: string, other: string): number {
  const [these, those] = [one, other].map((version) => version.split('.').map((part) => Number.parseInt(part, 10))) as [number[], number[]];
  const at = these.findIndex((part, index) => part !== those[index]);
  return at === -1 ? 0 : (these[at] as number) - (those[at] as number);
}

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
