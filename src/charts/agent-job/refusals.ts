import {otelEndpoint} from '../../settings/agent.ts';
import {workloadIdentity} from '../../settings/network.ts';
import {
  acquireTimeout,
  controllerReplicas,
  gracePeriod,
  imageRegistry,
  jobTtl,
  nodeSelector,
  podLabel,
  runCpuLimit,
  runCpuRequest,
  runMemoryLimit,
  runMemoryRequest,
  schedulingTimeout,
  shutdownMode,
  toleration,
  writableRoot,
} from '../../settings/pods.ts';
import {purpose, singleRun} from '../../settings/purpose.ts';
import {
  cache,
  cacheAccessMode,
  cacheClaim,
  cachePath,
  cacheSize,
  cacheStorageClass,
  cacheSubPath,
  dataSize,
  efsHandle,
  efsMountOption,
  moduleCache,
  providerCache,
  providerCacheLimit,
} from '../../settings/storage.ts';
import {caFile, caScope, caSecret, clientCertSecret} from '../../settings/tls.ts';
import type {Refusal} from '../define.ts';
import {FLAT, NESTED} from './versions.ts';

/** Why agent-job has no place for a setting. */
export const refusals: readonly Refusal[] = [
  ...[cache, cacheClaim, cacheStorageClass, cacheAccessMode, cacheSubPath].map((setting) => ({
    setting,
    in: '0.5.64',
    reason: 'its runs look for a cache on a claim in other directories than its workers write to',
  })),
  {setting: gracePeriod, in: '0.5.64 - 0.5.68', reason: 'its worker takes 360 s to stop a run, so a shorter period kills it half-way'},
  {setting: cache, in: FLAT, reason: 'its cache lives on a claim or on EFS'},
  {setting: cacheStorageClass, of: '-', reason: '"-" breaks its templates before 0.6.2'},
  {setting: providerCache, in: FLAT, reason: 'it has no switch for it'},
  {setting: moduleCache, in: '<=0.5.64', reason: 'it has no module cache'},
  {setting: otelEndpoint, in: FLAT, reason: 'it has no keys for it'},
  {setting: clientCertSecret, reason: 'it has no keys for it'},
  {setting: cachePath, in: '<=0.6.1', reason: 'it mounts no directory of the node'},
  ...[runCpuRequest, runCpuLimit, runMemoryRequest, runMemoryLimit].map((setting) => ({
    setting,
    in: FLAT,
    reason: 'it has no keys for the container that runs execute in',
  })),
  {setting: purpose, reason: 'only agent-local serves VCS agent pools'},
  {setting: shutdownMode, reason: 'its controller always drains and its workers always stop gracefully'},
  {setting: gracePeriod, in: FLAT, reason: 'its grace period reaches the controller only'},
  {setting: caScope, reason: 'agent and runs always get the same bundle'},
  {setting: caFile, reason: 'the bundle travels in one environment variable here, and this one is too long for Linux (128 KiB)'},
  {setting: caSecret, in: FLAT, reason: 'there is no key for a Secret'},
  {
    setting: cache,
    in: NESTED,
    reason:
      'its cache lives on a claim, an ephemeral volume or, from 0.6.2 on, a directory of the node; for EFS prepare a claim and use --cache existing-pvc',
  },
  {setting: efsHandle, in: NESTED, reason: 'it takes EFS as a prepared claim: --cache existing-pvc'},
  {setting: cacheSize, in: FLAT, reason: 'the limit of its ephemeral volume is read by no template'},
  {setting: dataSize, in: FLAT, reason: 'its data volume has no limit'},
  {setting: nodeSelector, in: FLAT, reason: 'it puts the selector on the Job instead of the pod, where it has no effect'},
  {setting: toleration, in: FLAT, reason: 'it puts tolerations on the Job instead of the pod, where they have no effect'},
  {setting: imageRegistry, in: FLAT, reason: 'it has no registry of its own; write the registry into --agent-image and --runner-image'},
  {setting: workloadIdentity, in: FLAT, reason: 'Azure Workload Identity needs a label on the pods of runs'},
  {setting: singleRun, reason: 'every run has a pod of its own'},
  {setting: providerCacheLimit, in: FLAT, reason: 'it has no key for it'},
  {setting: efsMountOption, in: NESTED, reason: 'it takes EFS as a prepared claim; mount options belong into its PersistentVolume'},
  {setting: controllerReplicas, in: FLAT, reason: 'it always has one controller'},
  {setting: podLabel, in: FLAT, reason: 'it has no key for labels of pods'},
  {setting: jobTtl, in: FLAT, reason: 'it deletes finished Jobs after a fixed time'},
  {setting: writableRoot, in: FLAT, reason: 'it has no security context for the container that runs execute in'},
  ...[schedulingTimeout, acquireTimeout].map((setting) => ({
    setting,
    reason: 'it has one limit for the start of a run, task.startupTimeoutSeconds (0.5.69 and later)',
  })),
];
