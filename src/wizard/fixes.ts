import {token} from '../settings/agent.ts';
import {cache, cacheClaim, cacheStorageClass} from '../settings/cache.ts';
import {serviceAccountName} from '../settings/identity.ts';
import {imagePullSecret, imageRegistry} from '../settings/images.ts';
import {httpsProxy, workloadIdentity} from '../settings/network.ts';
import {runSize} from '../settings/size.ts';
import {ROLE} from './ask-role.ts';

/** The question that removes a problem, by its code, where no remedy names a setting, or another one than the wizard asks for. */
export const FIXES: Readonly<Record<string, string>> = {
  IDENTITY_INCOMPLETE: ROLE,
  SHARED_PVC_WITHOUT_CLASS: cacheStorageClass.id,
  CLEAR_TEXT_CREDENTIAL: httpsProxy.id,
  DEFAULT_SERVICE_ACCOUNT: serviceAccountName.id,
  TOKEN_REJECTED: token.id,
  'efs-driver': cache.id,
  'mirror-images': imageRegistry.id,
  pvc: cacheClaim.id,
  PVC_MUST_BE_SHARED: cacheClaim.id,
  'pull-secrets': imagePullSecret.id,
  'run-capacity': runSize.memoryRequest.id,
  'workload-identity': workloadIdentity.id,
};

/** Warnings that another value would only hide: the value is the safe one, or the cluster decides. */
export const WITHOUT_FIX: ReadonlySet<string> = new Set([
  'GUESS',
  'POLICY_ENFORCEMENT',
  'RUNS_NOT_COVERED',
  'metadata-block',
  'vcs-separate',
]);
