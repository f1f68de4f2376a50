import type {ClusterTarget} from '../ground/command-line.ts';
import {ExpectedError} from '../ground/errors.ts';
import {isKnown, knownValue} from '../ground/fact.ts';
import {count} from '../ground/text.ts';
import {serverProblem} from '../ground/unreachable.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {type ClusterFacts, clusterFactsOf, recommendFactsOf} from '../platform/cluster-facts.ts';
import {readCluster} from '../platform/read-cluster.ts';
import type {StorageClass} from '../platform/storage.ts';
import {cloud} from '../settings/cluster.ts';
import {milliOf} from '../settings/quantity.ts';
import {fromCluster} from './from-cluster.ts';
import type {SettingsSource} from './sources.ts';

/** Facts read from a cluster, or the reason why they could not be read. */
export interface DiscoveredCluster {
  answers?: SettingsSource;
  facts: ReturnType<typeof recommendFactsOf>;
  storageClasses: readonly StorageClass[];
  /** Allocatable resources of the worker nodes. */
  nodes?: {count: number; cpuMilli: bigint; memoryMilli: bigint};
  /** Platform, version and size in a few words, or why they are unknown. */
  summary: string;
  /** The cluster answered. */
  isRead: boolean;
}

/** Reads the facts of a cluster as answers; never fails. `access` sets the timeout. */
export async function discoverCluster(kubeTarget: ClusterTarget, access: ClusterAccess): Promise<DiscoveredCluster> {
  try {
    const facts = clusterFactsOf(await readCluster(kubeTarget, access));
    const {server} = facts.versions;
    if (!isKnown(server) && server.unknown !== 'forbidden') return notDiscovered(serverProblem(server));
    const nodes = nodesIn(facts);
    return {
      answers: fromCluster(facts),
      facts: recommendFactsOf(facts),
      storageClasses: knownValue(facts.storageClasses) ?? [],
      ...(nodes === undefined ? {} : {nodes}),
      summary: summaryOf(facts, nodes?.count),
      isRead: true,
    };
  } catch (error) {
    if (error instanceof ExpectedError) return notDiscovered(error.message);
    throw error;
  }
}

function summaryOf({versions, platform}: ClusterFacts, nodes: number | undefined): string {
  const {[knownValue(platform.cloud) ?? '']: name} = cloud.labels ?? {};
  const version = isKnown(versions.server) ? `Kubernetes ${versions.server.value}` : 'no permission to read the version';
  return [
    ...(name === undefined || name === 'Other' ? [] : [name]),
    version,
    ...(nodes === undefined ? [] : [`${count(nodes, 'node')}`]),
  ].join(', ');
}

/** Sums over the nodes that can run pods. */
function nodesIn({nodes}: ClusterFacts): DiscoveredCluster['nodes'] {
  const usable = knownValue(nodes)?.filter(({os, isReady, isSchedulable}) => os === 'linux' && isReady && isSchedulable);
  const sum = (resource: string): bigint =>
    usable?.reduce((total, {allocatable}) => total + (milliOf(allocatable[resource] ?? '0') ?? 0n), 0n) ?? 0n;
  return usable && {count: usable.length, cpuMilli: sum('cpu'), memoryMilli: sum('memory')};
}

const notDiscovered = (because: string): DiscoveredCluster => ({
  facts: {},
  storageClasses: [],
  summary: because.replace(/[.?]+$/, ''),
  isRead: false,
});
