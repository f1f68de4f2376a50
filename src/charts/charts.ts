import {at, type Path, startsWith} from '../ground/tree.ts';
import {agentJob} from './agent-job/index.ts';
import {agentK8s} from './agent-k8s/index.ts';
import {agentLocal} from './agent-local/index.ts';
import type {ChartName} from './releases/chart-name.ts';
import {chartRelease} from './releases/schema.ts';
import type {Target, UpstreamChange} from './releases/target.ts';
import {newestOf, releasesOf, WITHDRAWN} from './releases/target.ts';
import {compare, within} from './releases/versions.ts';
import type {Chart, KubernetesFloor} from './shared/chart.ts';

/** The three charts, in the order in which upstream recommends them. */
export const CHARTS: Readonly<Record<ChartName, Chart>> = {
  'agent-local': agentLocal,
  'agent-job': agentJob,
  'agent-k8s': agentK8s,
};

/** What the change list of the chart says about a key: the entries that name it, or else the ones that name the closest key above it. */
export function upstreamNotes(path: Path, {changes = []}: Target): string[] {
  const found = changes.map((change) => ({
    change,
    depth: Math.max(0, ...keysIn(change).map((key) => (startsWith(path, key) ? key.length : 0))),
  }));
  const deepest = Math.max(0, ...found.map(({depth}) => depth));
  return found.flatMap(({change, depth}) =>
    depth > 0 && depth === deepest ? [noteText(change)] : [],
  );
}

export const noteText = ({kind, description}: UpstreamChange): string =>
  `${kind === undefined ? '' : `${kind}: `}"${description.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()}"`;

/** The keys that an entry names: dotted, or in backquotes; `persistence.{data,cache}.mode` names two. */
const keysIn = ({description}: UpstreamChange): Path[] =>
  [...description.matchAll(/`([A-Za-z][\w.{},*-]*)`|\b([A-Za-z]\w*(?:\.[\w{},*]+)+)/g)]
    .flatMap(([, quoted, plain]) => spread((quoted ?? plain) as string))
    .map((name) => at(name.replace(/(\.\*)+$/, '')));

function spread(name: string): string[] {
  const [, before, words, after] = /^(.*?)\{([^}]*)\}(.*)$/.exec(name) ?? [];
  return words === undefined
    ? [name]
    : words.split(',').flatMap((word) => spread(`${before}${word}${after}`));
}

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
export const digestOf = (chart: ChartName, version: string): string | undefined =>
  chartRelease({chart, version})?.digest;

/** The minimum Kubernetes version of a chart version; undefined without one. */
export function floorOf(target: Target): KubernetesFloor | undefined {
  const {kubernetesFloors} = CHARTS[target.chart];
  const documented = kubernetesFloors.find(({in: range}) => within(target.version, range));
  const enforced = enforcedBy(target);
  return enforced !== undefined &&
    (documented === undefined || isBelow(documented.version, enforced))
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
