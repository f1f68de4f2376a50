import type {AccountObject, PoolToken} from '../../checks/status/account.ts';
import {ExpectedError, failed} from '../../ground/errors.ts';
import {Secret} from '../../ground/secret.ts';
import {listTokens, tokenOf} from './account.ts';
import type {AccountRequest, ScalrClient} from './client.ts';
import type {Purpose} from './failure.ts';

export interface TokenAttributes {
  name: string;
  description: string;
  /** Null: the token does not expire. */
  expiresInMinutes: number | null;
}

/** Which permission creates tokens is not documented; agents of a pool are managed with this one. */
const PERMISSION = 'agent-pools:update';

export const creationOf = (
  pool: AccountObject,
  {name, description, expiresInMinutes}: TokenAttributes,
): AccountRequest => ({
  method: 'POST',
  path: `/agent-pools/${pool.id}/access-tokens`,
  body: {
    data: {type: 'access-tokens', attributes: {name, description, 'expires-in': expiresInMinutes}},
  },
});

export const revocationOf = ({id}: Pick<PoolToken, 'id'>): AccountRequest => ({
  method: 'DELETE',
  path: `/access-tokens/${id}`,
});

export const revoking = ({id}: Pick<PoolToken, 'id'>): Purpose => ({
  what: `revoke token ${id}`,
  permission: PERMISSION,
});

/**
 * Creates a token; Scalr shows its text only in this answer. If the answer is lost, the token that was created is useless, so it is
 * found and revoked, and the error says so. @throws ExpectedError
 */
export async function createToken(
  client: ScalrClient,
  pool: AccountObject,
  attributes: TokenAttributes,
): Promise<{token: PoolToken; text: Secret}> {
  const purpose = {what: `create a token of agent pool ${pool.name}`, permission: PERMISSION};
  const before = new Set((await listTokens(client, pool)).map(({id}) => id));
  try {
    const created = await client.send(creationOf(pool, attributes), purpose);
    const text = created?.attributes['token'];
    if (created === undefined || typeof text !== 'string' || text === '')
      throw failed('SCALR_UNREACHABLE', 'Scalr created a token, but did not return it.');
    return {token: tokenOf(created), text: new Secret(text)};
  } catch (error) {
    if (!(error instanceof ExpectedError) || error.code !== 'SCALR_UNREACHABLE') throw error;
    throw await withoutOrphan(error, before, client, pool, attributes);
  }
}

async function withoutOrphan(
  failure: ExpectedError,
  before: ReadonlySet<string>,
  client: ScalrClient,
  pool: AccountObject,
  {name, description}: TokenAttributes,
): Promise<ExpectedError> {
  const explain = (text: string, ...suggestions: string[]): ExpectedError =>
    failure.with(`${failure.message} ${text}`, [...suggestions, ...failure.suggestions]);
  const list = `List its tokens: scalr-agent pool token list ${pool.id}`;
  try {
    const created = (await listTokens(client, pool)).filter((each) => !before.has(each.id));
    // Somebody else may create tokens at the same time.
    const [ours, ...others] = created.filter(
      (each) => each.name === name && each.description === description && each.lastUsedAt === null,
    );
    if (ours === undefined) return explain('No token was created.');
    if (others.length > 0)
      return explain(`Agent pool ${pool.name} may have a new, unused token.`, list);
    await client.send(revocationOf(ours), revoking(ours));
    return explain('The token that was created is revoked.');
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return explain(`Agent pool ${pool.name} may have a new, unused token.`, list);
  }
}
