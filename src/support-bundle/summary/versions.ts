import type {Prepared} from '../prepare.ts';

/** Of the cluster, its nodes and the tools, as name and version. Pure. */
export function versionsText({cluster}: Pick<Prepared, 'cluster'>): [name: string, version: string][] {
  if (cluster === undefined) return [];
  const kubelets = new Map<string, number>();
  for (const {status} of cluster.nodes) {
    const version = status?.nodeInfo?.kubeletVersion ?? 'unknown';
    kubelets.set(version, (kubelets.get(version) ?? 0) + 1);
  }
  const nodes = [...kubelets].map(([version, count]) => `${version} on ${count} ${count === 1 ? 'node' : 'nodes'}`);
  return [
    ['Kubernetes', cluster.server ?? 'not read'],
    ...(nodes.length > 0 ? ([['kubelets', nodes.join(', ')]] as [string, string][]) : []),
    ...Object.entries(cluster.tools).map(([tool, version]): [string, string] => [tool, version ?? 'not there']),
  ];
}
