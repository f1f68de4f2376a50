import type {Target} from '../../charts/define.ts';
import {releasesOf} from '../../charts/target.ts';
import {agentVersionOf, floorOf, isBelow, isTooOld, isVersion, upgradeTraps, versionStatus} from '../../charts/version-status.ts';
import type {NodeObject} from '../../cluster/facts/readings.ts';
import {ownCommand} from '../../ports/own-command.ts';
import type {Evidence} from './evidence.ts';
import type {Finding} from './finding.ts';

interface Installed {
  name: string;
  namespace: string;
  target: Target;
}

/** What the cluster says of its own version. */
export interface ClusterVersions {
  server: string | undefined;
  nodes: readonly NodeObject[];
}

/** A chart that is behind, was taken back, or does not go with this Kubernetes. Pure. */
export const versionFindings = (installed: Installed, cluster: ClusterVersions, places: Evidence): Finding[] => [
  ...behind(installed, cluster, places),
  ...kubernetesTooOld(installed, cluster, places),
];

function behind({name, namespace, target}: Installed, {server = ''}: ClusterVersions, places: Evidence): Finding[] {
  const {chart, version} = target;
  const {standing, behind: count, newestKnown} = versionStatus(chart, version);
  if (standing === 'newest' || standing === 'newer-than-known') return [];
  const fits = releasesOf(chart).filter((each) => !isTooOld(server, {chart, version: each}));
  const next = fits.at(-1) ?? newestKnown;
  const isNewest = next === version;
  const install = ownCommand('install', {release: name, place: {namespace}}, '--chart', chart, '--chart-version', next);
  const kubernetes = next === newestKnown ? '' : ` (${newestKnown} needs a newer Kubernetes than ${server})`;
  const traps = upgradeTraps(name, target, next);
  return [
    {
      severity: 'warning',
      code: standing === 'withdrawn' ? 'VERSION_WITHDRAWN' : 'VERSION_BEHIND',
      object: `release/${name}`,
      message: `${withAgent(chart, version)} ${STANDINGS[standing]}${count} ${count === 1 ? 'release' : 'releases'} behind ${withAgent(chart, newestKnown)}, the newest this program knows: what was mended since is not in it`,
      ...places.ofVersion(name, target),
      remedy: isNewest
        ? `It is the newest for Kubernetes ${server}: upgrade the cluster first`
        : `${install} with the settings it has${kubernetes}; with helm upgrade give --version and all values, as --reuse-values leaves out new keys${traps.length > 0 ? `. Mind: ${traps.join('; ')}` : ''}`,
    },
  ];
}

const STANDINGS = {
  behind: 'is ',
  'older-than-known': 'is older than any this program can make, at least ',
  withdrawn: 'was taken back by its makers and is ',
} as const;

const withAgent = (chart: Target['chart'], version: string): string => {
  const agent = agentVersionOf(chart, version);
  return `${chart} ${version}${agent === undefined ? '' : ` (agent ${agent})`}`;
};

function kubernetesTooOld({name, target}: Installed, {server, nodes}: ClusterVersions, places: Evidence): Finding[] {
  const floor = floorOf(target);
  if (floor === undefined) return [];
  const {version, isHard, because} = floor;
  const old = [
    ...(server === undefined ? [] : [{what: 'the control plane', found: server, place: places.inFile('version.json', server)}]),
    ...nodes.map(({metadata, status}) => {
      const found = status?.nodeInfo?.kubeletVersion ?? '';
      return {what: `node ${metadata.name}`, found, place: places.inObject('node', metadata.name, '"kubeletVersion"')};
    }),
  ].filter(({found}) => isVersion(found) && isBelow(found, version));
  const [first] = old;
  if (first === undefined) return [];
  const others = old.length === 1 ? '' : ` (and ${old.length - 1} more)`;
  return [
    {
      severity: isHard ? 'error' : 'warning',
      code: 'KUBERNETES_TOO_OLD',
      object: `release/${name}`,
      message: `${target.chart} ${target.version} needs Kubernetes ${version}, and ${first.what} is ${first.found}${others}: ${because}`,
      ...first.place,
      remedy: 'Upgrade the cluster and its nodes, or go back to an older version of the chart',
    },
  ];
}
