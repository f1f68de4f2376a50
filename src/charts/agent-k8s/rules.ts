import {cloud} from '../../settings/cluster.ts';
import {cache, dataHome} from '../../settings/storage.ts';
import {dataPath} from '../clouds.ts';
import type {ChartRule} from '../define.ts';
import {shortestGrace} from '../shared-rules.ts';

/** Rules of agent-k8s beside the shared ones. */
export const rules: readonly ChartRule[] = [
  shortestGrace('R6', 'drain', {drain: 90, graceful: 20, force: 1}),
  {
    id: 'R22',
    severity: 'error',
    test: (get) =>
      get(cache) === 'hostpath' && get(cloud) === 'gke' && get(dataHome)?.startsWith('/home/kubernetes/flexvolume')
        ? {
            setting: dataHome,
            message: `${get(dataHome)} is watched by the kubelet, which takes what lies there for volume plugins`,
            suggestion: `Use --data-home ${dataPath(get)?.path}`,
          }
        : undefined,
  },
  {
    id: 'R22-UNKNOWN',
    severity: 'warning',
    test: (get) =>
      get(cache) === 'hostpath' && get(dataHome)?.startsWith('/home/kubernetes/flexvolume')
        ? {
            setting: dataHome,
            message: `The chart keeps its data in ${get(dataHome)} on every node, a path made for GKE and discouraged there. Say --cloud or --data-home.`,
          }
        : undefined,
  },
  {
    id: 'R18',
    severity: 'warning',
    test: (get) =>
      get(cloud) === 'openshift'
        ? {
            setting: cloud,
            message:
              'agent-k8s runs as root and mounts a directory of the node; on OpenShift its service account needs the privileged SCC.',
          }
        : undefined,
  },
];
