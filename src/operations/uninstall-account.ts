import {ExpectedError, failed} from '../ground/errors.ts';
import type {AccountToken} from '../release/account-token.ts';
import {findPool, listTokens} from '../scalr/account.ts';
import type {ScalrClient} from '../scalr/client.ts';
import {revocationOf, revoking} from '../scalr/tokens.ts';
import type {AccountPlan, AccountStep} from './account-steps.ts';
import {planPoolDeletion} from './pool.ts';

interface AccountRemoval {
  revokesToken: boolean;
  deletesPool: boolean;
  /** Names of the pods of the release, which are those of its agents. */
  pods: readonly string[];
}

/** Revokes the token that an install has created, and deletes its pool if nothing else uses it. Read-only. @throws ExpectedError */
export async function planAccountRemoval(
  client: ScalrClient,
  {poolId, tokenId}: AccountToken,
  {revokesToken, deletesPool, pods}: AccountRemoval,
): Promise<AccountPlan> {
  const pool = await findPool(client, poolId).catch((error: unknown) => {
    if (error instanceof ExpectedError && error.code === 'SCALR_NOT_FOUND') return undefined;
    throw error;
  });
  if (pool === undefined) {
    const message = `Agent pool ${poolId} was not found on ${client.host}: it is deleted, or your user has no permission to read it.`;
    return {steps: [], warnings: [{code: 'SCALR_NOT_FOUND', message}]};
  }
  const token = (await listTokens(client, pool)).find(({id}) => id === tokenId);
  const revocation: AccountStep = {
    id: 'revoke-token',
    title: `Revoke token ${tokenId} of agent pool ${pool.name}`,
    request: revocationOf({id: tokenId}),
    purpose: revoking({id: tokenId}),
    isDestructive: true,
  };
  const deletion = deletesPool ? await planPoolDeletion(client, pool.id, {agents: pods, tokenId}) : undefined;
  return {
    steps: [...(revokesToken && token ? [revocation] : []), ...(deletion?.steps ?? [])],
    warnings: deletion?.warnings ?? [],
    blocked: deletion?.blocked,
  };
}

/** The Secrets of the release have no token that an install has created. */
export const noAccountToken = (release: string): ExpectedError =>
  failed('SCALR_NOT_FOUND', `The Secrets of release ${release} do not record a token in a Scalr account.`, [
    'Only install with --pool records it. Omit --revoke-token and --delete-pool',
    'Find the token in Scalr: scalr-agent pool token list NAME',
  ]);
