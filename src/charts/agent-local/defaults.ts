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
];
