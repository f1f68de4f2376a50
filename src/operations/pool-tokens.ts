import {failed} from '../ground/errors.ts';
import {findPool, listTokens, type Named, type PoolToken} from '../scalr/account.ts';
import type {ScalrClient} from '../scalr/client.ts';
import {creationOf, revocationOf, revoking, type TokenAttributes} from '../scalr/tokens.ts';
import type {AccountPlan} from './account-steps.ts';

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
  const step = {
    id: 'revoke-token',
    title: `Revoke token ${token.id}${token.name === null ? '' : ` (${token.name})`} of agent pool ${pool.name}`,
    request: revocationOf(token),
    purpose: revoking(token),
    isDestructive: true,
  };
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
