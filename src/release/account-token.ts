import type {KubernetesObject} from '../kubernetes/objects.ts';

/** A token that this program has created in a Scalr account. The token of the user is never stored. */
export interface AccountToken {
  /** Host of the account, with its port if there is one. */
  host: string;
  poolId: string;
  tokenId: string;
}

const [HOST, POOL, TOKEN] = ['scalr.io/account', 'scalr.io/agent-pool-id', 'scalr.io/token-id'];

/** Annotations of the Secret that contains the token. */
export const accountAnnotations = ({host, poolId, tokenId}: AccountToken): Readonly<Record<string, string>> => ({
  [HOST]: host,
  [POOL]: poolId,
  [TOKEN]: tokenId,
});

/** The token in a Secret, if an install with --pool has written it. */
export function accountTokenIn({metadata: {annotations = {}}}: KubernetesObject): AccountToken | undefined {
  const {[HOST]: host, [POOL]: poolId, [TOKEN]: tokenId} = annotations;
  return host && poolId && tokenId ? {host, poolId, tokenId} : undefined;
}
