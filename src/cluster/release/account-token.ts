import type {KubernetesObject} from '../kubernetes/objects.ts';

export interface AccountPool {
  /** Host of the account, with its port if there is one. */
  host: string;
  poolId: string;
}

/** A token that this program has created in a Scalr account. The token of the user is never stored. */
export interface AccountToken extends AccountPool {
  tokenId: string;
}

const HOST = 'scalr.io/account';

const POOL = 'scalr.io/agent-pool-id';

const TOKEN = 'scalr.io/token-id';

/** Annotation with the ID of the token that a rotation has replaced and not revoked yet. */
export const PREVIOUS_TOKEN = 'scalr.io/previous-token-id';

/** Annotation with the time at which a rotation has replaced the token. */
export const ROTATED = 'scalr.io/token-rotated';

/** Annotations of the Secret that contains the token; without a token ID if the user has given the token. */
export const accountAnnotations = ({
  host,
  poolId,
  tokenId,
}: AccountPool & {tokenId?: string | undefined}): Readonly<Record<string, string>> => ({
  [HOST]: host,
  [POOL]: poolId,
  ...(tokenId === undefined ? {} : {[TOKEN]: tokenId}),
});

/** The agent pool of the token in a Secret, if this program has recorded it. */
export function accountPoolIn({
  metadata: {annotations = {}},
}: KubernetesObject): AccountPool | undefined {
  const {[HOST]: host, [POOL]: poolId} = annotations;
  return host && poolId ? {host, poolId} : undefined;
}

/** The token in a Secret, if this program has created it. */
export function accountTokenIn(secret: KubernetesObject): AccountToken | undefined {
  const pool = accountPoolIn(secret);
  const tokenId = secret.metadata.annotations?.[TOKEN];
  return pool && tokenId ? {...pool, tokenId} : undefined;
}
