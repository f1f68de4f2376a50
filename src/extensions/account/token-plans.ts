import type {AccountObject, PoolToken} from '../../checks/status/account.ts';
import {failed} from '../../ground/errors.ts';
import {warningOf} from '../../ground/finding.ts';
import {listTokens} from './account.ts';
import type {AccountPlan} from './account-steps.ts';
import type {ScalrClient} from './client.ts';
import {findPool} from './find-object.ts';
import {creationStep, revocationStep, type TokenAttributes} from './token-steps.ts';

/** The plan of a new token; createToken runs it. @throws ExpectedError */
export async function planTokenCreation(
  client: ScalrClient,
  nameOrId: string,
  attributes: TokenAttributes,
): Promise<AccountPlan & {pool: AccountObject}> {
  const pool = await findPool(client, nameOrId);
  const {expiresInMinutes} = attributes;
  const expires = expiresInMinutes === null ? '' : `, which expires in ${expiresInMinutes} minutes`;
  const title = `Create token ${attributes.name} of agent pool ${pool.name}${expires}`;
  return {pool, steps: [{...creationStep(pool, attributes), title}], warnings: []};
}

/** The plan that revokes a token of this pool, by name or ID. @throws ExpectedError */
export async function planRevocation(
  client: ScalrClient,
  nameOrId: string,
  tokenNameOrId: string,
): Promise<AccountPlan & {pool: AccountObject; token: PoolToken}> {
  const pool = await findPool(client, nameOrId);
  const token = tokenIn(await listTokens(client, pool), tokenNameOrId, pool);
  const step = revocationStep(
    token,
    `Revoke token ${token.id}${token.name === null ? '' : ` (${token.name})`} of agent pool ${pool.name}`,
  );
  const message = `Token ${token.id} was last used at ${token.lastUsedAt}. Agents that use it lose the connection to Scalr.`;
  return {
    pool,
    token,
    steps: [step],
    warnings: token.lastUsedAt === null ? [] : [warningOf('IN_USE', message)],
  };
}

/** @throws ExpectedError that lists the candidates */
function tokenIn(tokens: readonly PoolToken[], nameOrId: string, {name}: AccountObject): PoolToken {
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
