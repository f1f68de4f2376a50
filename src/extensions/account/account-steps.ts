import type {AccountObject, PoolToken} from '../../checks/status/account.ts';
import {untilAborted} from '../../ground/async.ts';
import {
  completedText,
  ExpectedError,
  failed,
  interrupted,
  type Warning,
} from '../../ground/errors.ts';
import type {Interrupts} from '../../ground/system/system.ts';
import {findPool, listTokens} from './account.ts';
import type {AccountRequest, Resource, ScalrClient} from './client.ts';
import type {Purpose} from './failure.ts';
import {creationOf, revocationOf, revoking, type TokenAttributes} from './tokens.ts';

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
  const done = (): string => completedText(steps.slice(0, answers.length)).trim();
  for (const step of steps) {
    if (interrupt.aborted) throw interrupted(done() || 'Nothing was changed.', interrupt);
    onStep(step, 'started');
    try {
      const sent = client.send(step.request, step.purpose).then((answer) => ({answer}));
      const received = await untilAborted(sent, forceQuit);
      // The second Ctrl-C does not wait for the answer.
      if (received === undefined)
        throw interrupted(`${done()} No response yet: ${step.title}.`.trim(), forceQuit);
      answers.push(received.answer);
    } catch (error) {
      if (!(error instanceof ExpectedError) || error.code === 'INTERRUPTED' || answers.length === 0)
        throw error;
      throw error.with(`${error.message} ${done()}`, error.suggestions);
    }
    onStep(step, 'done');
  }
  return answers;
}

export const revokeStep = (token: Pick<PoolToken, 'id'>, title: string): AccountStep => ({
  id: 'revoke-token',
  title,
  request: revocationOf(token),
  purpose: revoking(token),
  isDestructive: true,
});

export const unusedTokenStep = (token: PoolToken, {name}: AccountObject): AccountStep => ({
  id: `revoke/${token.id}`,
  title: `Revoke token ${token.id} of agent pool ${name}, which an interrupted install has left unused`,
  request: revocationOf(token),
  purpose: revoking(token),
});

/** Only the answer of this request contains the token: createToken sends it. */
export const tokenCreationStep = (
  pool: AccountObject,
  attributes: TokenAttributes,
): AccountStep => ({
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
): Promise<AccountPlan & {pool: AccountObject}> {
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
): Promise<AccountPlan & {pool: AccountObject; token: PoolToken}> {
  const pool = await findPool(client, nameOrId);
  const token = tokenIn(await listTokens(client, pool), tokenNameOrId, pool);
  const step = revokeStep(
    token,
    `Revoke token ${token.id}${token.name === null ? '' : ` (${token.name})`} of agent pool ${pool.name}`,
  );
  const message = `Token ${token.id} was last used at ${token.lastUsedAt}. Agents that use it lose the connection to Scalr.`;
  return {
    pool,
    token,
    steps: [step],
    warnings: token.lastUsedAt === null ? [] : [{code: 'IN_USE', message}],
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
