import {token, tokenSecret} from '../settings/agent.ts';
import {cache, cacheStorageClass} from '../settings/cache.ts';
import {imagePullSecret} from '../settings/images.ts';
import {httpsProxy} from '../settings/network.ts';
import {runSize} from '../settings/size.ts';
import {ROLE} from './ask-role.ts';

/** The question that removes a problem, by its code, where no remedy names a setting, or another one than the wizard asks for. */
export const FIXES: Readonly<Record<string, string>> = {
  IDENTITY_INCOMPLETE: ROLE,
  SHARED_PVC_WITHOUT_CLASS: cacheStorageClass.id,
  CLEAR_TEXT_CREDENTIAL: httpsProxy.id,
  TOKEN_REJECTED: token.id,
  'efs-driver': cache.id,
  'pull-secrets': imagePullSecret.id,
  'run-capacity': runSize.memoryRequest.id,
  secrets: tokenSecret.id,
  token: token.id,
};
