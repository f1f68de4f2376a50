import {compare} from '../charts/releases.ts';
import {type Fact, follow, known, unknown} from '../ground/fact.ts';
import type {Readings} from './readings.ts';

export interface Versions {
  /** As the provider spells it: v1.34.1-gke.2541000 */
  server: Fact<string>;
  /** Nodes by the version of their kubelet. */
  kubelets: Fact<Readonly<Record<string, number>>>;
  /** Oldest version of server and nodes, without the provider suffix: 1.33.4 */
  oldest: Fact<string>;
}

export function versionsOf({serverVersion, nodes}: Pick<Readings, 'serverVersion' | 'nodes'>): Versions {
  const kubelets = follow(nodes, (all): Fact<Record<string, number>> => {
    const counts = new Map<string, number>();
    for (const {status} of all) {
      const version = status?.nodeInfo?.kubeletVersion;
      if (version) counts.set(version, (counts.get(version) ?? 0) + 1);
    }
    return known(Object.fromEntries(counts), 'nodes, status.nodeInfo.kubeletVersion');
  });
  const oldest = follow(serverVersion, (server) => follow(kubelets, (counts) => oldestOf([server, ...Object.keys(counts)])));
  return {server: serverVersion, kubelets, oldest};
}

function oldestOf(versions: readonly string[]): Fact<string> {
  const plain = versions.flatMap((each) => /^v?(\d+\.\d+\.\d+)/.exec(each)?.[1] ?? []);
  const [first] = plain.toSorted(compare);
  return first === undefined || plain.length < versions.length
    ? unknown('undetermined', `cannot parse one of these versions: ${versions.join(', ')}`)
    : known(first, 'version of the API server and of the kubelets');
}
