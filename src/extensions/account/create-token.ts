import type {AccountObject, PoolToken} from '../../checks/status/account.ts';
import {ExpectedError, failed} from '../../ground/errors.ts';
import {Secret} from '../../ground/secret.ts';
import {listTokens} from './account.ts';
import {tokenOf} from './account-objects.ts';
import type {ScalrClient} from './client.ts';
import {creationStep, revocationStep, type TokenAttributes} from './token-steps.ts';

/** A token of a pool, with the text that only its creation returns. */
export interface NewToken {
  token: PoolToken;
  text: Secret;
}

/**
 * Creates a token; Scalr shows its text only in this answer. If the answer is lost, the token that was created is useless, so it is
 * found and revoked, and the error says so. @throws ExpectedError
 */
export async function createToken(
  client: ScalrClient,
  pool: AccountObject,
  attributes: TokenAttributes,
): Promise<NewToken> {
  const before = new Set((await listTokens(client, pool)).map(({id}) => id));
  const {request, purpose} = creationStep(pool, attributes);
  try {
    const created = await client.send(request, purpose);
    const text = created?.attributes['token'];
    if (created === undefined || typeof text !== 'string' || text === '')
      throw failed('SCALR_UNREACHABLE', 'Scalr created a token, but did not return it.');
    return {token: tokenOf(created), text: new Secret(text)};
  } catch (error) {
    if (!(error instanceof ExpectedError) || error.code !== 'SCALR_UNREACHABLE') throw error;
    const outcome = await revokeLost(client, pool, attributes, before);
    throw error.with(`${error.message} ${outcome.text}`, [
      ...outcome.suggestions,
      ...error.suggestions,
    ]);
  }
}

/** Revokes the token whose answer was lost. */
async function revokeLost(
  client: ScalrClient,
  pool: AccountObject,
  {name, description}: TokenAttributes,
  before: ReadonlySet<string>,
): Promise<{text: string; suggestions: string[]}> {
  const unclear = {
    text: `Agent pool ${pool.name} may have a new, unused token.`,
    suggestions: [`List its tokens: scalr-agent pool token list ${pool.id}`],
  };
  try {
    const created = (await listTokens(client, pool)).filter((each) => !before.has(each.id));
    // Somebody else may create tokens at the same time.
    const [ours, ...others] = created.filter(
      (each) => each.name === name && each.description === description && each.lastUsedAt === null,
    );
    if (ours === undefined) return {text: 'No token was created.', suggestions: []};
    if (others.length > 0) return unclear;
    await revokeToken(client, ours);
    return {text: 'The token that was created is revoked.', suggestions: []};
  } catch (error) {
    if (error instanceof ExpectedError) return unclear;
    throw error;
  }
}

/** @throws ExpectedError */
export async function revokeToken(
  client: ScalrClient,
  token: Pick<PoolToken, 'id'>,
): Promise<void> {
  const {request, purpose} = revocationStep(token, '');
  await client.send(request, purpose);
}
