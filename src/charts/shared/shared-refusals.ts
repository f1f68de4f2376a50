import {cache, cacheStorageClass, efsHandle, efsMountOption} from '../../settings/cache.ts';
import {purpose, singleRun} from '../../settings/purpose.ts';
import {caFile, caPublicRoots} from '../../settings/tls.ts';
import type {Refusal} from './row.ts';

/** EFS without a chart that creates its volume. */
export const EFS_NEEDS_CLAIM: Refusal = {
  settings: [cache],
  of: 'efs',
  reason: 'EFS requires an existing PVC',
  use: [{setting: cache, value: 'existing-pvc'}],
};

/** Reasons that hold for all three charts, unless a chart has a reason of its own. */
export const sharedRefusals: readonly Refusal[] = [
  {settings: [purpose], reason: 'only agent-local supports VCS agent pools'},
  {settings: [singleRun], reason: 'each run already gets its own pod'},
  {
    settings: [cacheStorageClass],
    of: '-',
    reason: 'the chart cannot be rendered with "-" before 0.6.2',
  },
  {
    settings: [caFile],
    reason:
      'the CA bundle is passed in one environment variable and exceeds the Linux limit of 128 KiB',
  },
  {
    settings: [caPublicRoots],
    reason:
      'the CA bundle is passed in one environment variable and would exceed the Linux limit of 128 KiB',
  },
  {
    settings: [efsHandle],
    reason: 'EFS requires an existing PVC',
    use: [{setting: cache, value: 'existing-pvc'}],
  },
  {
    settings: [efsMountOption],
    reason: 'EFS requires an existing PVC; set mount options in its PersistentVolume',
  },
];
