import {scalrChart} from '../cluster/facts/releases.ts';
import type {KubernetesObject} from '../cluster/objects.ts';
import {listReleases} from '../helm/helm.ts';
import type {Place} from '../ports/place.ts';
import type {Gap} from './read-namespace.ts';
import type {BundledRelease} from './scope.ts';
import {isListOf, readJson} from './tool-json.ts';
import {type Tools, toolGap} from './tools.ts';

export type FoundRelease = Omit<BundledRelease, 'runsOf'> & {status: string};

export interface FoundReleases {
  releases: readonly FoundRelease[];
  gaps: readonly Gap[];
}

const WHAT = 'releases of helm';

const isListed = isListOf('name', 'chart', 'status');

/** Releases of a Scalr agent in the namespace as helm knows them, or nothing where it may not look. */
export async function findReleases(place: Place, tools: Tools, over: AbortSignal): Promise<FoundReleases> {
  const outcome = await tools.run(listReleases(place, {everywhere: false}));
  if (outcome.exitCode !== 0) return {releases: [], gaps: [toolGap(WHAT, outcome, over)]};
  const listed = readJson('helm', outcome.stdout, isListed);
  if (listed.trouble) return {releases: [], gaps: [{what: WHAT, trouble: listed.trouble}]};
  return {
    releases: listed.value.flatMap(({name, chart, status}) => {
      const ours = scalrChart(chart);
      return ours === undefined ? [] : [{name, status, ...ours}];
    }),
    gaps: [],
  };
}

/** What the labels of workloads say of their releases, for an account that may not see what helm keeps. */
export function labelledReleases(objects: readonly KubernetesObject[]): readonly FoundRelease[] {
  const found = objects.flatMap(({kind, metadata: {labels}}) => {
    const name = labels?.['app.kubernetes.io/instance'];
    const ours = scalrChart(labels?.['helm.sh/chart'] ?? '');
    return name === undefined || ours === undefined || !WORKLOADS.has(kind) ? [] : [{name, status: 'unknown', ...ours}];
  });
  return [...new Map(found.map((release) => [release.name, release])).values()];
}

const WORKLOADS: ReadonlySet<string | undefined> = new Set(['Deployment', 'DaemonSet']);
