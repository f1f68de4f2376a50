import {cloud} from '../../settings/cluster.ts';
import {runnerImage} from '../../settings/pods.ts';
import {purpose} from '../../settings/purpose.ts';
import {
  cache,
  cacheAccessMode,
  cacheClaim,
  cachePath,
  cacheSize,
  cacheStorageClass,
  cacheSubPath,
  dataSize,
  moduleCache,
  providerCache,
} from '../../settings/storage.ts';
import {caFile, caPublicRoots, caSecret, clientCertSecret} from '../../settings/tls.ts';
import type {Refusal} from '../define.ts';

/** Why agent-k8s has no place for a setting. */
export const refusals: readonly Refusal[] = [
  {setting: purpose, reason: 'only agent-local serves VCS agent pools'},
  {setting: cloud, reason: 'GKE Autopilot forbids the hostPath volume that it keeps its data on'},
  ...[cache, cacheClaim, cacheSize, cacheStorageClass, cacheAccessMode, cacheSubPath].map((setting) => ({
    setting,
    reason: 'its cache always lies in its data directory, on the node or on EFS',
  })),
  {setting: cachePath, reason: 'cache and data share one directory; use --data-home'},
  {setting: dataSize, reason: 'its data lies in a directory of the node without a limit'},
  {setting: providerCache, reason: 'its provider cache cannot be switched off'},
  {setting: moduleCache, reason: 'it has no module cache'},
  {setting: caSecret, reason: 'it mounts no volumes for certificates; use --ca-file'},
  {setting: caFile, reason: 'the bundle travels in one environment variable here, and this one is too long for Linux (128 KiB)'},
  {
    setting: caPublicRoots,
    reason: 'the bundle travels in one environment variable here, and with the public roots it is too long for Linux (128 KiB)',
  },
  {setting: clientCertSecret, reason: 'it mounts no volumes for certificates'},
  {setting: runnerImage, in: '<=0.5.65', reason: 'runs use an image per tool here'},
];
