import {otelEndpoint} from '../../settings/agent.ts';
import type {Get} from '../../settings/define.ts';
import {metadataService, providerMirror, workloadIdentity} from '../../settings/network.ts';
import * as pods from '../../settings/pods.ts';
import {purpose, singleRun} from '../../settings/purpose.ts';
import * as storage from '../../settings/storage.ts';
import {caFile, caScope, caSecret, clientCertSecret} from '../../settings/tls.ts';
import {cacheDirectory} from '../clouds.ts';
import type {Chart, ChartDefault, Refusal} from '../define.ts';
import {WORKER_SIZES} from '../pod-rows.ts';
import {pinnedAgent, sharedRules} from '../shared-rules.ts';
import {sharedValuesRules} from '../shared-values-rules.ts';
import {NO_MIRRORS} from '../shared-versions.ts';
import {rows} from './rows.ts';
import {cacheLimits, rules} from './rules.ts';
import {valuesRules} from './values-rules.ts';
import {containers, FLAT, ignoredKeys, kubernetesFloors, NESTED, ownVariables} from './versions.ts';

/** Reasons for unsupported settings in agent-job. */
const refusals: readonly Refusal[] = [
  {
    setting: pods.gracePeriod,
    in: '0.5.64 - 0.5.68',
    reason: 'the worker needs 360 s to stop a run; with a shorter period, the run is killed',
  },
  {setting: storage.cache, in: FLAT, reason: 'the cache must be a PVC or EFS'},
  {setting: storage.cacheStorageClass, of: '-', reason: 'the chart cannot be rendered with "-" before 0.6.2'},
  {setting: storage.providerCache, in: FLAT, reason: 'this version has no key for it'},
  ...[storage.moduleCache, storage.moduleCacheLimit].map((setting) => ({
    setting,
    in: '<=0.5.64',
    reason: 'this version has no module cache',
  })),
  ...[pods.affinity, pods.controllerAffinity, pods.mount, pods.sidecar, ...WORKER_SIZES].map((setting) => ({
    setting,
    in: FLAT,
    reason: 'this version has no key for it',
  })),
  {setting: providerMirror, in: '<=0.6.3', reason: NO_MIRRORS},
  {setting: otelEndpoint, in: FLAT, reason: 'this version has no key for it'},
  {setting: clientCertSecret, reason: 'this version has no key for it'},
  {setting: storage.cachePath, in: '<=0.6.1', reason: 'this version does not mount directories of the node'},
  ...[pods.runCpuRequest, pods.runCpuLimit, pods.runMemoryRequest, pods.runMemoryLimit].map((setting) => ({
    setting,
    in: FLAT,
    reason: 'this version has no key for the runner container',
  })),
  {setting: purpose, reason: 'only agent-local supports VCS agent pools'},
  {setting: pods.shutdownMode, reason: 'the controller always drains and the workers always stop gracefully'},
  {setting: pods.gracePeriod, in: FLAT, reason: 'the grace period applies to the controller only'},
  {setting: caScope, reason: 'agent and runs always use the same CA bundle'},
  {setting: caFile, reason: 'the CA bundle is passed in one environment variable and exceeds the Linux limit of 128 KiB'},
  {setting: caSecret, in: FLAT, reason: 'this version has no key for a Secret'},
  {
    setting: storage.cache,
    in: NESTED,
    reason:
      'the cache must be a PVC, an ephemeral volume or (since 0.6.2) a directory of the node; for EFS, create a PVC and use --cache existing-pvc',
  },
  {setting: storage.efsHandle, in: NESTED, reason: 'EFS requires an existing PVC; use --cache existing-pvc'},
  {setting: storage.cacheSize, in: FLAT, reason: 'the chart ignores the size limit of the ephemeral volume'},
  {setting: storage.dataSize, in: FLAT, reason: 'the data volume has no size limit'},
  {setting: pods.nodeSelector, in: FLAT, reason: 'the chart sets the node selector on the Job instead of the pod, where it has no effect'},
  {setting: pods.toleration, in: FLAT, reason: 'the chart sets tolerations on the Job instead of the pod, where they have no effect'},
  {
    setting: pods.imageRegistry,
    in: FLAT,
    reason: 'this version has no key for it; include the registry in --agent-image and --runner-image',
  },
  {setting: workloadIdentity, in: FLAT, reason: 'Azure Workload Identity requires a label on run pods'},
  {setting: singleRun, reason: 'each run already gets its own pod'},
  {setting: storage.providerCacheLimit, in: FLAT, reason: 'this version has no key for it'},
  {setting: storage.efsMountOption, in: NESTED, reason: 'EFS requires an existing PVC; set mount options in its PersistentVolume'},
  {setting: pods.controllerReplicas, in: FLAT, reason: 'this version always has one controller'},
  {setting: pods.podLabel, in: FLAT, reason: 'this version has no key for pod labels'},
  {setting: pods.jobTtl, in: FLAT, reason: 'this version deletes finished Jobs after a fixed time'},
  {setting: pods.writableRoot, in: FLAT, reason: 'this version has no key for the security context of the runner container'},
  ...[pods.schedulingTimeout, pods.acquireTimeout].map((setting) => ({
    setting,
    reason: 'the chart has a single startup timeout for runs, task.startupTimeoutSeconds (0.5.69 and later)',
  })),
];

/** Defaults that depend on other settings. */
const defaults: readonly ChartDefault[] = [
  {
    setting: storage.cacheAccessMode,
    value: (get) =>
      get(storage.cache) === 'pvc' ? {value: 'ReadWriteMany', because: 'all run pods and the controller mount the cache'} : undefined,
  },
  {setting: storage.cachePath, in: '>=0.6.2', value: (get) => (get(storage.cache) === 'hostpath' ? cacheDirectory(get) : undefined)},
  ...[storage.providerCache, storage.moduleCache].map((setting) => ({
    setting,
    in: '>=0.5.65',
    value: (get: Get) => (storage.isPersistent(get(storage.cache)) ? {value: true, because: 'the cache is persistent'} : undefined),
  })),
  {
    setting: metadataService,
    in: NESTED,
    value: (get) =>
      get(workloadIdentity) === 'gke'
        ? {value: 'allow', because: 'GKE Workload Identity requires 169.254.169.254, which this chart blocks by default'}
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
  rules: [...sharedRules, pinnedAgent('agent-job'), ...rules],
  valuesRules: [...sharedValuesRules, ...valuesRules],
  ownVariables,
  containers,
  ignoredKeys,
  kubernetesFloors,
};
