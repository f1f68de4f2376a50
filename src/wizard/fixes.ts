import {token, tokenSecret} from '../settings/agent.ts';
import {cache, cacheClaim, cacheStorageClass} from '../settings/cache.ts';
import {cloud} from '../settings/cluster.ts';
import {imagePullSecret} from '../settings/images.ts';
import {httpsProxy, metadataService, noProxy, workloadIdentity} from '../settings/network.ts';
import {controllerNodeSelector, nodeSelector} from '../settings/placement.ts';
import {concurrency, purpose} from '../settings/purpose.ts';
import {chart, release} from '../settings/release.ts';
import {runSize} from '../settings/size.ts';
import {dataHome} from '../settings/storage.ts';
import {ROLE} from './ask-role.ts';

/** The setting that removes a problem, by its code, where it is not the setting that the problem is about. */
export const FIXES: Readonly<Record<string, string>> = {
  IDENTITY_INCOMPLETE: ROLE,
  SHARED_PVC_WITHOUT_CLASS: cacheStorageClass.id,
  CLEAR_TEXT_CREDENTIAL: httpsProxy.id,
  TOKEN_REJECTED: token.id,
  'access-mode': cacheStorageClass.id,
  'agent-quota': concurrency.id,
  'agent-relay': purpose.id,
  'cloud-setting': cloud.id,
  'controller-nodes': controllerNodeSelector.id,
  'efs-driver': cache.id,
  'host-path': cache.id,
  'metadata-block': metadataService.id,
  'metadata-dns': metadataService.id,
  'metadata-identity': workloadIdentity.id,
  'no-proxy-pods': noProxy.id,
  'no-proxy-services': noProxy.id,
  'node-architecture': nodeSelector.id,
  'node-data': dataHome.id,
  'node-versions': nodeSelector.id,
  'object-names': release.id,
  'openshift-scc': chart.id,
  'policy-dns': metadataService.id,
  'pool-type': purpose.id,
  pvc: cache.id,
  'pvc-access-mode': cacheClaim.id,
  'pvc-name': cache.id,
  'pull-secrets': imagePullSecret.id,
  quota: concurrency.id,
  'release-name': release.id,
  'run-capacity': runSize.memoryRequest.id,
  'run-nodes': nodeSelector.id,
  secrets: tokenSecret.id,
  'server-version': chart.id,
  'storage-class': cacheStorageClass.id,
  token: token.id,
  'total-capacity': concurrency.id,
  'windows-nodes': nodeSelector.id,
  'worker-nodes': nodeSelector.id,
  'workload-identity': workloadIdentity.id,
};
