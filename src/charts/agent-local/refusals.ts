import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {controllerNodeSelector, controllerToleration, imageRegistry, runnerImage} from '../../settings/pods.ts';
import {isolation} from '../../settings/purpose.ts';
import {cache, cachePath, cacheStorageClass, dataSize, efsHandle} from '../../settings/storage.ts';
import {caFile, caPublicRoots, caScope, caSecret, clientCertSecret} from '../../settings/tls.ts';
import type {Refusal} from '../define.ts';

/** Why agent-local has no place for a setting. */
export const refusals: readonly Refusal[] = [
  {setting: cacheStorageClass, of: '-', reason: '"-" breaks its templates before 0.6.2'},
  {setting: clientCertSecret, reason: 'it has no keys for it'},
  {
    setting: caPublicRoots,
    reason: 'the bundle travels in one environment variable here, and with the public roots it is too long for Linux (128 KiB)',
  },
  {setting: isolation, reason: 'all runs of an agent share its container'},
  {setting: metadataService, in: '<=0.5.64', reason: 'no policy of this version matches its pods'},
  {setting: workloadIdentity, reason: 'Azure Workload Identity needs a pod label, and the chart has no key for one'},
  {setting: caScope, reason: 'runs share the container of the agent'},
  {setting: caFile, reason: 'the bundle travels in one environment variable here, and this one is too long for Linux (128 KiB)'},
  {setting: caSecret, in: '<0.6.0', reason: 'there is no key for a Secret'},
  {setting: cache, reason: 'its cache lives on a claim or an ephemeral volume; for EFS prepare a claim and use --cache existing-pvc'},
  {setting: cachePath, reason: 'it mounts no directory of the node'},
  {setting: efsHandle, reason: 'it takes EFS as a prepared claim: --cache existing-pvc'},
  {setting: controllerNodeSelector, reason: 'it has no controller, only agents'},
  {setting: controllerToleration, reason: 'it has no controller, only agents'},
  {setting: runnerImage, reason: 'runs execute in the agent image; use --agent-image'},
  {setting: imageRegistry, reason: 'its only image is already named by --agent-image; write the registry there'},
  {setting: dataSize, in: '<=0.5.63', reason: 'data and cache share one volume; use --cache-size'},
];
