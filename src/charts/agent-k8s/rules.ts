import {gracePeriod, shutdownMode} from '../../settings/pods.ts';
import {cache, dataHome} from '../../settings/storage.ts';
import {dataPath, isCos, watchedByKubelet} from '../clouds.ts';
import type {ChartRule} from '../define.ts';
import {breaksTemplates, isPem, rootOnOpenShift, shortestGrace} from '../shared-rules.ts';
import {at, getAt, type Values} from '../tree.ts';

const seconds = (values: Values, path: string): number => Number(getAt(values, at(path)));

/** Rules of agent-k8s beside the shared ones. */
export const rules: readonly ChartRule[] = [
  shortestGrace('R6', 'drain', {drain: 90, graceful: 20, force: 1}),
  {
    id: 'R6',
    code: 'GRACE_PERIOD_TOO_SHORT',
    severity: 'error',
    test: (get, {values}) => {
      const stop = seconds(values, 'agent.grace_shutdown_timeout');
      const needed = {drain: seconds(values, 'agent.worker_drain_timeout') + stop, graceful: stop, force: 0}[get(shutdownMode) ?? 'drain'];
      const period = seconds(values, 'terminationGracePeriodSeconds');
      if (period >= needed) return undefined;
      return {
        setting: gracePeriod,
        message: `pods are killed after ${period} s, and the timeouts of the agent add up to ${needed} s`,
        suggestion: `Use --grace-period ${needed}, or shorter timeouts`,
      };
    },
  },
  ...['agent.ca_cert', 'agent.container_task_ca_cert'].map((path) =>
    breaksTemplates('T12', '*', path, isPem, 'Give the certificates with --ca-file'),
  ),
  {
    id: 'R22',
    code: 'WATCHED_DIRECTORY',
    severity: 'error',
    test: (get) =>
      get(cache) === 'hostpath' && isCos(get) && watchedByKubelet(get(dataHome))
        ? {
            setting: dataHome,
            message: `${get(dataHome)} is watched by the kubelet, which takes what lies there for volume plugins`,
            suggestion: `Use --data-home ${dataPath(get)?.path}`,
          }
        : undefined,
  },
  {
    id: 'R22',
    code: 'UNKNOWN_NODES',
    severity: 'warning',
    test: (get, {isExplicit}) =>
      get(cache) === 'hostpath' && watchedByKubelet(get(dataHome))
        ? {
            setting: dataHome,
            message: `The data lies in ${get(dataHome)} on every node, a path made for GKE and discouraged there.${isExplicit(dataHome) ? '' : ' Say --cloud or --data-home.'}`,
          }
        : undefined,
  },
  {
    id: 'R22',
    code: 'NOEXEC_DIRECTORY',
    severity: 'warning',
    test: (get) =>
      get(cache) === 'hostpath' && isCos(get) && !get(dataHome)?.startsWith('/home/kubernetes/')
        ? {
            setting: dataHome,
            message: `On Container-Optimized OS most directories are mounted noexec, ${get(dataHome)} probably too; ${dataPath(get)?.path} is not.`,
          }
        : undefined,
  },
  rootOnOpenShift,
];
