import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {cache, cacheAccessMode, cachePath} from '../../settings/storage.ts';
import {asDefault, cacheDirectory} from '../clouds.ts';
import type {ChartDefault} from '../define.ts';
import {NESTED} from './versions.ts';

/** What follows from other settings in agent-job. */
export const defaults: readonly ChartDefault[] = [
  {
    setting: cacheAccessMode,
    value: (get) =>
      get(cache) === 'pvc'
        ? {value: 'ReadWriteMany', because: 'the pods of all runs mount the cache, and so does the controller'}
        : undefined,
  },
  {
    setting: cachePath,
    in: '>=0.6.2',
    value: (get) => (get(cache) === 'hostpath' ? asDefault(cacheDirectory(get)) : undefined),
  },
  {
    setting: metadataService,
    in: NESTED,
    value: (get) =>
      get(workloadIdentity) === 'gke'
        ? {value: 'allow', because: 'GKE Workload Identity needs 169.254.169.254, which this chart blocks by default'}
        : undefined,
  },
];
