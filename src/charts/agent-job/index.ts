import {cache, cacheAccessMode, cachePath, cacheSize, isPersistent} from '../../settings/cache.ts';
import type {Get} from '../../settings/define.ts';
import {agentImage, imageRegistry, runnerImage} from '../../settings/images.ts';
import {
  acquireTimeout,
  gracePeriod,
  jobTtl,
  schedulingTimeout,
  shutdownMode,
} from '../../settings/lifecycle.ts';
import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {nodeSelector, toleration} from '../../settings/placement.ts';
import {controllerReplicas} from '../../settings/size.ts';
import {dataSize, moduleCache, providerCache} from '../../settings/storage.ts';

import {caScope} from '../../settings/tls.ts';
import type {Chart} from '../shared/chart.ts';
import {cacheDirectory} from '../shared/clouds.ts';
import {sharedValuesRules} from '../shared/key-rules.ts';
import type {ChartDefault, Refusal} from '../shared/row.ts';
import {pinnedAgent, sharedRules} from '../shared/setting-rules.ts';
import {EFS_NEEDS_CLAIM, sharedRefusals} from '../shared/shared-refusals.ts';
import {FIXED_SHUTDOWN, FLAT, NESTED} from './ranges.ts';
import {rows} from './rows.ts';
import {cacheLimits, rules} from './rules.ts';
import {valuesRules} from './values-rules.ts';
import {containers, ignoredKeys, images, kubernetesFloors, ownVariables} from './versions.ts';

/** Reasons for unsupported settings in agent-job. */
const refusals: readonly Refusal[] = [
  {
    settings: [gracePeriod],
    in: FIXED_SHUTDOWN,
    reason: 'the worker needs 360 s to stop a run; with a shorter period, the run is killed',
  },
  {
    settings: [gracePeriod],
    in: FLAT,
    reason: 'the grace period applies to the controller only',
  },
  {settings: [cache], in: FLAT, reason: 'the cache must be a PVC or EFS'},
  {
    settings: [shutdownMode],
    reason: 'the controller always drains and the workers always stop gracefully',
  },
  {settings: [caScope], reason: 'agent and runs always use the same CA bundle'},
  {...EFS_NEEDS_CLAIM, in: NESTED},
  {
    settings: [cache],
    in: NESTED,
    reason: 'the cache must be a PVC, an ephemeral volume or (since 0.6.2) a node directory',
  },
  {
    settings: [cacheSize],
    in: FLAT,
    reason: 'the chart ignores the size limit of the ephemeral volume',
  },
  {settings: [dataSize], in: FLAT, reason: 'the data volume has no size limit'},
  {
    settings: [nodeSelector],
    in: FLAT,
    reason:
      'the chart sets the node selector on the Job instead of the pod, where it has no effect',
  },
  {
    settings: [toleration],
    in: FLAT,
    reason: 'the chart sets tolerations on the Job instead of the pod, where they have no effect',
  },
  {
    settings: [imageRegistry],
    in: FLAT,
    reason: 'this version has no key for it; image names include the registry',
    use: [{setting: agentImage}, {setting: runnerImage}],
  },
  {
    settings: [workloadIdentity],
    in: FLAT,
    reason: 'Azure Workload Identity requires a label on run pods',
  },
  {settings: [controllerReplicas], in: FLAT, reason: 'this version always has one controller'},
  {
    settings: [jobTtl],
    in: FLAT,
    reason: 'this version deletes finished Jobs after a fixed time',
  },
  {
    settings: [schedulingTimeout, acquireTimeout],
    reason:
      'the chart has a single startup timeout for runs, task.startupTimeoutSeconds (0.5.69 and later)',
  },
  ...sharedRefusals,
];

/** Defaults that depend on other settings. */
const defaults: readonly ChartDefault[] = [
  {
    setting: cacheAccessMode,
    value: (get) =>
      get(cache) === 'pvc'
        ? {value: 'ReadWriteMany', because: 'all run pods and the controller mount the cache'}
        : undefined,
  },
  {
    setting: cachePath,
    in: '>=0.6.2',
    value: (get) => (get(cache) === 'hostpath' ? cacheDirectory(get) : undefined),
  },
  ...[providerCache, moduleCache].map((setting) => ({
    setting,
    in: '>=0.5.65',
    value: (get: Get) =>
      isPersistent(get(cache)) ? {value: true, because: 'the cache is persistent'} : undefined,
  })),
  {
    setting: metadataService,
    in: NESTED,
    value: (get) =>
      get(workloadIdentity) === 'gke'
        ? {
            value: 'allow',
            because:
              'GKE Workload Identity requires 169.254.169.254, which this chart blocks by default',
          }
        : undefined,
  },
];

/** A controller that starts one Kubernetes Job per run. */
export const agentJob: Chart = {
  name: 'agent-job',
  character: 'one pod per run, none while idle',
  rows,
  refusals,
  defaults,
  derived: [cacheLimits],
  rules: [...sharedRules, pinnedAgent('agent-job', images), ...rules],
  valuesRules: [...sharedValuesRules, ...valuesRules],
  ownVariables,
  containers,
  images,
  ignoredKeys,
  kubernetesFloors,
};
