import {ExpectedError, failed} from '../ground/errors.ts';
import type {AccountToken} from '../release/namespace.ts';
import {findPool, listTokens, type Named, type PoolToken} from '../scalr/account.ts';
import type {ScalrClient} from '../scalr/client.ts';
import {creationOf, type TokenAttributes} from '../scalr/tokens.ts';
import {type AccountPlan, revokeStep} from './account-steps.ts';
import {planPoolDeletion} from './pool.ts';

/** The plan of a new token; createToken runs it. @throws ExpectedError */
export async function planTokenCreation(
  client: ScalrClient,
  nameOrId: string,
  attributes: TokenAttributes,
): Promise<AccountPlan & {pool: Named}> {
  const pool = await findPool(client, nameOrId);
  const {expiresInMinutes} = attributes;
  const step = {
    id: 'create-token',
    title: `Create token ${attributes.name} of agent pool ${pool.name}${expiresInMinutes === null ? '' : `, which expires in ${expiresInMinutes} minutes`}`,
    request: creationOf(pool, attributes),
    purpose: {what: 'create a token'},
  };
  return {pool, steps: [step], warnings: []};
}

/** The plan that revokes a token of this pool, by name or ID. @throws ExpectedError */
export async function planRevocation(
  client: ScalrClient,
  nameOrId: string,
  tokenNameOrId: string,
): Promise<AccountPlan & {pool: Named; token: PoolToken}> {
  const pool = await findPool(client, nameOrId);
  const token = tokenIn(await listTokens(client, pool), tokenNameOrId, pool);
  const step = revokeStep(token, `Revoke token ${token.id}${token.name === null ? '' : ` (${token.name})`} of agent pool ${pool.name}`);
  const message = `Token ${token.id} was last used at ${token.lastUsedAt}. Agents that use it lose the connection to Scalr.`;
  return {pool, token, steps: [step], warnings: token.lastUsedAt === null ? [] : [{code: 'IN_USE', message}]};
}

/** @throws ExpectedError that lists the candidates */
function tokenIn(tokens: readonly PoolToken[], nameOrId: string, {name}: Named): PoolToken {
  const byId = tokens.find(({id}) => id === nameOrId);
  const [found, ...others] = byId ? [byId] : tokens.filter((each) => each.name === nameOrId);
  if (found !== undefined && others.length === 0) return found;
  const message =
    found === undefined
      ? `Agent pool ${name} has no token ${nameOrId}.`
      : `Several tokens of agent pool ${name} have the name ${nameOrId}: ${[found, ...others].map(({id}) => id).join(', ')}.`;
  throw failed('SCALR_NOT_FOUND', message, [
    ...(found === undefined ? [] : [`Use the ID instead of the name, for example ${found.id}`]),
    `List its tokens: scalr-agent pool token list ${name}`,
  ]);
}

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
  const revocation = revokeStep({id: tokenId}, `Revoke token ${tokenId} of agent pool ${pool.name}`);
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
