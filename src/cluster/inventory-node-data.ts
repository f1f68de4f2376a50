import {posix} from 'node:path';
import type {ChartName} from '../charts/schema.ts';
import {at, getAt, type Values} from '../charts/tree.ts';
import type {Node, Readings} from './inventory-readings.ts';
import type {KubernetesObject} from './objects.ts';
import {hostPaths, mayRun, type NodePlace, podSpecs} from './pod-specs.ts';

/** A directory on nodes. No chart ever removes it. */
export interface NodeDataItem {
  path: string;
  /** Nodes the pods that write there may run on; undefined where nodes may not be read. */
  nodes: readonly {name: string; isReady: boolean}[] | undefined;
  /** Other agents that keep their data there; undefined where that may not be read. */
  sharedBy: readonly string[] | undefined;
  /** A directory that only agents have; a program must not empty any other one. */
  isSafe: boolean;
}

export function nodeDataOf(readings: Readings, chart: ChartName): NodeDataItem[] {
  const path = pathOf(readings.values, chart);
  if (path === undefined) return [];
  const {manifest, nodes, customResources, daemonSets} = readings;
  const writer = manifest.flatMap((object) => podSpecs(object)).find((spec) => mounts(spec, path));
  const others = daemonSets && customResources && [...daemonSets, ...customResources].filter((each) => !isIn(each, readings));
  return [
    {
      path,
      nodes: nodes
        ?.filter(
          (node) => node.metadata.labels?.['kubernetes.io/os'] !== 'windows' && (writer === undefined || mayRun(writer, placeOf(node))),
        )
        .map((node) => ({name: node.metadata.name, isReady: isReady(node)})),
      sharedBy: others
        ?.filter((each) => isAgentAt(each, path))
        .map((each) => `${each.kind} ${each.metadata.namespace}/${each.metadata.name}`),
      isSafe: isPrivate(path),
    },
  ];
}

function pathOf(values: Values, chart: ChartName): string | undefined {
  const textAt = (key: string): string => String(getAt(values, at(key)) ?? '');
  if (chart === 'agent-k8s') return textAt('efsVolumeHandle') === '' ? clean(textAt('agent.data_home')) : undefined;
  if (chart !== 'agent-job' || getAt(values, at('persistence.cache.enabled')) !== true) return undefined;
  return clean(textAt('persistence.cache.hostPath.path'));
}

const clean = (path: string): string | undefined => (path === '' ? undefined : posix.normalize(path).replace(/(.)\/$/, '$1'));

/** Of the system from top to bottom. */
const OFF_LIMITS =
  /^\/(bin|boot|dev|etc|lib\w*|proc|run|sbin|sys|usr|var\/run|var\/lib\/(kubelet|containerd?s?|docker|etcd|rancher|cni))(\/|$)/;
/** Many share these; a directory below them may be an agent's own. */
const SHARED = /^\/([^/]*|var\/[^/]+|home\/[^/]+|home\/kubernetes\/(bin|flexvolume)|mnt\/[^/]+|mnt\/disks\/[^/]+)$/;

const isPrivate = (path: string): boolean => /^\/[\w./-]+$/.test(path) && !OFF_LIMITS.test(path) && !SHARED.test(path);

const mounts = (spec: Values, path: string): boolean => hostPaths(spec).map(clean).includes(path);

/** The operator's own DaemonSet that prepares the directory (hostPath guide of agent-job) is no agent. */
function isAgentAt(object: KubernetesObject, path: string): boolean {
  const isAgent = object.kind !== 'DaemonSet' || /"name":"SCALR_/.test(JSON.stringify(object));
  const touches = (other: string): boolean => other === path || other.startsWith(`${path}/`) || path.startsWith(`${other}/`);
  return isAgent && podSpecs(object).some((spec) => hostPaths(spec).some((other) => touches(clean(other) ?? '')));
}

const isIn = ({kind, metadata}: KubernetesObject, {manifest, namespace}: Readings): boolean =>
  metadata.namespace === namespace && manifest.some((each) => each.kind === kind && each.metadata.name === metadata.name);

const placeOf = ({metadata, spec}: Node): NodePlace => ({labels: metadata.labels ?? {}, taints: spec?.taints ?? []});

const isReady = ({status}: Node): boolean => status?.conditions?.some(({type, status: is}) => type === 'Ready' && is === 'True') ?? false;
