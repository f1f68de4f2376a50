import {cloud} from '../../settings/cluster.ts';
import {gracePeriod, shutdownMode} from '../../settings/lifecycle.ts';
import {cache, dataHome} from '../../settings/storage.ts';
import {dataPath} from '../clouds.ts';
import type {ChartRule} from '../define.ts';

const SHORTEST: Readonly<Record<string, number>> = {drain: 90, graceful: 20, force: 1};

/** Rules of agent-k8s beside the shared ones. */
export const rules: readonly ChartRule[] = [
  {
    id: 'R6',
    severity: 'error',
    test: (get) => {
      const mode = get(shutdownMode) ?? 'drain';
      const least = SHORTEST[mode] as number;
      const period = get(gracePeriod) ?? least;
      return period >= least
        ? undefined
        : {
            setting: gracePeriod,
            message: `a grace period of ${period} s leaves the shutdown mode ${mode} no time`,
            suggestion: `Use --grace-period ${least} or more`,
          };
    },
  },
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
