import {ExpectedError, failed, interrupted, type Warning} from '../ground/errors.ts';
import {Secret} from '../ground/secret.ts';
import type {Interrupts} from '../ports/system.ts';
import {findPool, listTokens, type Named, type PoolToken, tokenOf} from '../scalr/account.ts';
import type {AccountRequest, Resource, ScalrClient} from '../scalr/client.ts';
import type {Purpose} from '../scalr/failure.ts';

export interface TokenAttributes {
  name: string;
  description: string;
  /** Null: the token does not expire. */
  expiresInMinutes: number | null;
}

/** Which permission creates tokens is not documented; agents of a pool are managed with this one. */
const PERMISSION = 'agent-pools:update';

const creationOf = (pool: Named, {name, description, expiresInMinutes}: TokenAttributes): AccountRequest => ({
  method: 'POST',
  path: `/agent-pools/${pool.id}/access-tokens`,
  body: {data: {type: 'access-tokens', attributes: {name, description, 'expires-in': expiresInMinutes}}},
});

export const revocationOf = ({id}: Pick<PoolToken, 'id'>): AccountRequest => ({method: 'DELETE', path: `/access-tokens/${id}`});

export const revoking = ({id}: Pick<PoolToken, 'id'>): Purpose => ({what: `revoke token ${id}`, permission: PERMISSION});

/**
 * Creates a token; Scalr shows its text only in this answer. If the answer is lost, the token that was created is useless, so it is
 * found and revoked, and the error says so. @throws ExpectedError
 */
export async function createToken(
  client: ScalrClient,
  pool: Named,
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
  pool: Named,
  {name, description}: TokenAttributes,
): Promise<ExpectedError> {
  const explain = (text: string, ...suggestions: string[]): ExpectedError =>
    failure.with(`${failure.message} ${text}`, [...suggestions, ...failure.suggestions]);
  const list = `List its tokens: scalr-agent pool token list ${pool.id}`;
  try {
    const created = (await listTokens(client, pool)).filter((each) => !before.has(each.id));
    // Somebody else may create tokens at the same time.
    const [ours, ...others] = created.filter((each) => each.name === name && each.description === description && each.lastUsedAt === null);
    if (ours === undefined) return explain('No token was created.');
    if (others.length > 0) return explain(`Agent pool ${pool.name} may have a new token that is not used.`, list);
    await client.send(revocationOf(ours), revoking(ours));
    return explain('The token that was created is revoked.');
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return explain(`Agent pool ${pool.name} may have a new token that is not used.`, list);
  }
}

/** One request of a plan. */
export interface AccountStep {
  id: string;
  title: string;
  request: AccountRequest;
  purpose: Purpose;
  /** Deletes something that cannot be restored. */
  isDestructive?: boolean;
}

export interface AccountPlan {
  steps: readonly AccountStep[];
  warnings: readonly Warning[];
  /** Why Scalr would reject the plan. */
  blocked?: ExpectedError | undefined;
}

export interface AccountDeps {
  interrupts: Pick<Interrupts, 'interrupt' | 'forceQuit'>;
  onStep(step: AccountStep, state: 'started' | 'done'): void;
}

/** Sends the requests in order; the first Ctrl-C ends the run after the current one. Returns their answers. @throws ExpectedError */
export async function runAccountSteps(
  steps: readonly AccountStep[],
  client: ScalrClient,
  {interrupts: {interrupt, forceQuit}, onStep}: AccountDeps,
): Promise<(Resource | undefined)[]> {
  const answers: (Resource | undefined)[] = [];
  const done = (): string =>
    answers.length === 0
      ? ''
      : `Completed: ${steps
          .slice(0, answers.length)
          .map(({title}) => title)
          .join('; ')}.`;
  for (const step of steps) {
    if (interrupt.aborted) throw interrupted(done() || 'Nothing was changed.', interrupt);
    onStep(step, 'started');
    try {
      answers.push(await orLeft(client.send(step.request, step.purpose), forceQuit, () => `${done()} No answer yet: ${step.title}.`));
    } catch (error) {
      if (!(error instanceof ExpectedError) || error.code === 'INTERRUPTED' || answers.length === 0) throw error;
      throw error.with(`${error.message} ${done()}`, error.suggestions);
    }
    onStep(step, 'done');
  }
  return answers;
}

/** The step that revokes a token for good. */
export const revokeStep = (token: Pick<PoolToken, 'id'>, title: string): AccountStep => ({
  ...{id: 'revoke-token', title, request: revocationOf(token), purpose: revoking(token), isDestructive: true},
});

export const unusedTokenStep = (token: PoolToken, {name}: Named): AccountStep => ({
  id: `revoke/${token.id}`,
  title: `Revoke token ${token.id} of agent pool ${name}, which an interrupted install has left unused`,
  request: revocationOf(token),
  purpose: revoking(token),
});

/** Only the answer of this request contains the token: createToken sends it. */
export const tokenCreationStep = (pool: Named, attributes: TokenAttributes): AccountStep => ({
  id: 'create-token',
  title: `Create a token of agent pool ${pool.name}`,
  request: creationOf(pool.id === '' ? {...pool, id: 'NEW'} : pool, attributes),
  purpose: {what: 'create a token'},
});

/** The plan of a new token; createToken runs it. @throws ExpectedError */
export async function planTokenCreation(
  client: ScalrClient,
  nameOrId: string,
  attributes: TokenAttributes,
): Promise<AccountPlan & {pool: Named}> {
  const pool = await findPool(client, nameOrId);
  const {expiresInMinutes} = attributes;
  const expires = expiresInMinutes === null ? '' : `, which expires in ${expiresInMinutes} minutes`;
  const title = `Create token ${attributes.name} of agent pool ${pool.name}${expires}`;
  return {pool, steps: [{...tokenCreationStep(pool, attributes), title}], warnings: []};
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

/** The second Ctrl-C does not wait for the answer. */
async function orLeft<T>(work: Promise<T>, forceQuit: AbortSignal, state: () => string): Promise<T> {
  const listeners = new AbortController();
  const left = new Promise<never>((_, reject) => {
    const leave = (): void => reject(interrupted(state().trim(), forceQuit));
    if (forceQuit.aborted) leave();
    forceQuit.addEventListener('abort', leave, {once: true, signal: listeners.signal});
  });
  try {
    return await Promise.race([work, left]);
  } finally {
    listeners.abort();
  }
}
