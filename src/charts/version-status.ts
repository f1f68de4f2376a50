import {CHARTS} from './charts.ts';
import type {KubernetesFloor, Target} from './define.ts';
import {compare, within} from './releases.ts';
import {type ChartName, chartRelease} from './schema.ts';
import {newestOf, releasesOf, WITHDRAWN} from './target.ts';

/** An installed version compared with the known versions. */
export interface VersionStatus {
  newestKnown: string;
  /** Number of newer releases; for a version older than all known ones it is a lower bound. */
  behind: number;
  standing: 'newest' | 'behind' | 'newer-than-known' | 'older-than-known' | 'withdrawn';
}

export function versionStatus(chart: ChartName, version: string): VersionStatus {
  const known = releasesOf(chart);
  const newestKnown = newestOf(chart);
  const behind = known.filter((each) => compare(each, version) > 0).length;
  const standing = (): VersionStatus['standing'] => {
    if (WITHDRAWN[chart].includes(version)) return 'withdrawn';
    if (compare(version, newestKnown) > 0) return 'newer-than-known';
    if (compare(version, known[0] as string) < 0) return 'older-than-known';
    return behind === 0 ? 'newest' : 'behind';
  };
  return {newestKnown, behind, standing: standing()};
}

/** The SHA-256 of the archive of a chart release in the public repository; undefined if it is unknown or withdrawn. */
export const digestOf = (chart: ChartName, version: string): string | undefined => chartRelease({chart, version})?.digest;

/** The minimum Kubernetes version of a chart version; undefined without one. */
export function floorOf(target: Target): KubernetesFloor | undefined {
  const documented = CHARTS[target.chart].kubernetesFloors.find((each) => within(target.version, each.in));
  const enforced = enforcedBy(target);
  return enforced !== undefined && (documented === undefined || isBelow(documented.version, enforced))
    ? {version: enforced, isHard: true, because: 'helm enforces the kubeVersion of the chart'}
    : documented;
}

/** The lower bound of kubeVersion in Chart.yaml; helm checks other constraints. */
function enforcedBy(target: Target): string | undefined {
  return /^>=\s*v?(\d+\.\d+)/.exec(chartRelease(target)?.kubeVersion ?? '')?.[1];
}

/** Accepts versions of cloud providers: v1.34.1-gke.2541000 */
export const isBelow = (version: string, floor: string): boolean => compare(version, floor) < 0;

/** True if the install or its runs fail on a server of that version. */
export function isTooOld(server: string, target: Target): boolean {
  const floor = floorOf(target);
  return floor?.isHard === true && isVersion(server) && isBelow(server, floor.version);
}

export const isVersion = (text: string): boolean => /^v?\d+\.\d+\./.test(text);
