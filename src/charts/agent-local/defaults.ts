import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {concurrency} from '../../settings/purpose.ts';
import {cache, cacheAccessMode} from '../../settings/storage.ts';
import type {ChartDefault} from '../define.ts';

/** What follows from other settings in agent-local. */
export const defaults: readonly ChartDefault[] = [
  {
    setting: cacheAccessMode,
    value: (get) =>
      get(cache) === 'pvc' && (get(concurrency) ?? 1) > 1
        ? {value: 'ReadWriteMany', because: 'several agents share the cache, and they may run on different nodes'}
        : undefined,
  },
  {
    setting: metadataService,
    in: '0.5.65 - 0.5.66',
    value: (get) =>
      get(workloadIdentity) === 'gke'
        ? {value: 'allow', because: 'GKE Workload Identity needs 169.254.169.254, which this version always blocks'}
        : undefined,
  },
];
