import {otelEndpoint} from '../../settings/agent.ts';
import type {Get} from '../../settings/define.ts';
import {metadataService, workloadIdentity} from '../../settings/network.ts';
import * as pods from '../../settings/pods.ts';
import * as storage from '../../settings/storage.ts';
import {caScope, caSecret} from '../../settings/tls.ts';
import type {Chart} from '../shared/chart.ts';
import {cacheDirectory} from '../shared/clouds.ts';
import {sharedValuesRules} from '../shared/key-rules.ts';
import {RUN_SIZES, WORKER_SIZES} from '../shared/pod-rows.ts';
import type {ChartDefault, Refusal} from '../shared/row.ts';
import {pinnedAgent, sharedRules} from '../shared/setting-rules.ts';
import {sharedRefusals} from '../shared/shared-refusals.ts';
import {rows} from './rows.ts';
import {cacheLimits, rules} from './rules.ts';
import {valuesRules} from './values-rules.ts';
import {
  containers,
  FLAT,
  ignoredKeys,
  images,
  kubernetesFloors,
  NESTED,
  ownVariables,
} from './versions.ts';

const NO_KEY = 'this version has no key for it';

/** Reasons for unsupported settings in agent-job. */
const refusals: readonly Refusal[] = [
  {
    settings: [pods.gracePeriod],
    in: '0.5.64 - 0.5.68',
    reason: 'the worker needs 360 s to stop a run; with a shorter period, the run is killed',
  },
  {
    settings: [pods.gracePeriod],
    in: FLAT,
    reason: 'the grace period applies to the controller only',
  },
  {settings: [storage.cache], in: FLAT, reason: 'the cache must be a PVC or EFS'},
  {
    settings: [storage.moduleCache, storage.moduleCacheLimit],
    in: '<=0.5.64',
    reason: 'this version has no module cache',
  },
  {
    settings: [pods.affinity, pods.controllerAffinity, pods.mount, pods.sidecar, ...WORKER_SIZES],
    in: FLAT,
    reason: NO_KEY,
  },
  {
    settings: [storage.providerCache, storage.providerCacheLimit, otelEndpoint],
    in: FLAT,
    reason: NO_KEY,
  },
  {
    settings: [storage.cachePath],
    in: '<=0.6.1',
    reason: 'this version does not mount directories of the node',
  },
  {settings: RUN_SIZES, in: FLAT, reason: 'this version has no key for the runner container'},
  {
    settings: [pods.shutdownMode],
    reason: 'the controller always drains and the workers always stop gracefully',
  },
  {settings: [caScope], reason: 'agent and runs always use the same CA bundle'},
  {settings: [caSecret], in: FLAT, reason: 'this version has no key for a Secret'},
  {
    settings: [storage.cache],
    in: NESTED,
    reason:
      'the cache must be a PVC, an ephemeral volume or (since 0.6.2) a node directory; for EFS, create a PVC and use --cache existing-pvc',
  },
  {
    settings: [storage.cacheSize],
    in: FLAT,
    reason: 'the chart ignores the size limit of the ephemeral volume',
  },
  {settings: [storage.dataSize], in: FLAT, reason: 'the data volume has no size limit'},
  {
    settings: [pods.nodeSelector],
    in: FLAT,
    reason:
      'the chart sets the node selector on the Job instead of the pod, where it has no effect',
  },
  {
    settings: [pods.toleration],
    in: FLAT,
    reason: 'the chart sets tolerations on the Job instead of the pod, where they have no effect',
  },
  {
    settings: [pods.imageRegistry],
    in: FLAT,
    reason:
      'this version has no key for it; include the registry in --agent-image and --runner-image',
  },
  {
    settings: [workloadIdentity],
    in: FLAT,
    reason: 'Azure Workload Identity requires a label on run pods',
  },
  {settings: [pods.controllerReplicas], in: FLAT, reason: 'this version always has one controller'},
  {settings: [pods.podLabel], in: FLAT, reason: 'this version has no key for pod labels'},
  {
    settings: [pods.jobTtl],
    in: FLAT,
    reason: 'this version deletes finished Jobs after a fixed time',
  },
  {
    settings: [pods.writableRoot],
    in: FLAT,
    reason: 'this version has no key for the security context of the runner container',
  },
  {
    settings: [pods.schedulingTimeout, pods.acquireTimeout],
    reason:
      'the chart has a single startup timeout for runs, task.startupTimeoutSeconds (0.5.69 and later)',
  },
  ...sharedRefusals,
];

/** Defaults that depend on other settings. */
const defaults: readonly ChartDefault[] = [
  {
    setting: storage.cacheAccessMode,
    value: (get) =>
      get(storage.cache) === 'pvc'
        ? {value: 'ReadWriteMany', because: 'all run pods and the controller mount the cache'}
        : undefined,
  },
  {
    setting: storage.cachePath,
    in: '>=0.6.2',
    value: (get) => (get(storage.cache) === 'hostpath' ? cacheDirectory(get) : undefined),
  },
  ...[storage.providerCache, storage.moduleCache].map((setting) => ({
    setting,
    in: '>=0.5.65',
    value: (get: Get) =>
      storage.isPersistent(get(storage.cache))
        ? {value: true, because: 'the cache is persistent'}
        : undefined,
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
