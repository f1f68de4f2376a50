import type {ScalrPool} from '../../checks/status/account.ts';
import type {AccountToken} from '../../cluster/release/account-token.ts';
import {ExpectedError, failed, interrupted} from '../../ground/errors.ts';
import type {SettingFinding} from '../../ground/finding.ts';
import type {Secret} from '../../ground/secret.ts';
import {listAgents, listTokens} from './account.ts';
import {type AccountDeps, type PoolPlan, runAccountSteps} from './account-steps.ts';
import type {AccountRequest, ScalrClient} from './client.ts';
import {createdPool, planPoolCreation} from './create-pool.ts';
import {createToken} from './create-token.ts';
import {lookUpPool, missingObject} from './find-object.ts';
import {
  orphanSteps,
  type TokenPlan,
  type TokenUser,
  tokenAttributesOf,
  tokenPlan,
  unusedTokens,
} from './release-token.ts';
import {creationStep, revocationStep} from './token-steps.ts';

/** The release that an agent pool serves. */
export interface PoolUser extends TokenUser {
  /** ID of the token in the Secret of the release, if an install with --pool has written it. */
  tokenId: string | undefined;
  /** The Secret exists, but does not record its token, which can be any token of the pool. */
  isUnrecorded: boolean;
  isForVcs: boolean;
}

/** What an install with --pool changes in the account. */
export type PreparedPool = TokenPlan & {warnings: readonly SettingFinding[]};

/** Reads the account and plans; changes nothing. @throws ExpectedError */
export async function preparePool(
  client: ScalrClient,
  {pool: nameOrId, creates}: {pool: string; creates: boolean},
  user: PoolUser,
): Promise<PreparedPool> {
  const existing = await lookUpPool(client, nameOrId);
  if (existing !== undefined) return useExisting(client, existing, user);
  if (creates) return useNew(await planNewPool(client, nameOrId, user), user);
  const error = await missingObject(client, 'pool', nameOrId);
  throw error.with(error.message, ['Add --create-pool to create it', ...error.suggestions]);
}

async function useExisting(
  client: ScalrClient,
  pool: ScalrPool,
  user: PoolUser,
): Promise<PreparedPool> {
  if (pool.isForVcs !== user.isForVcs) throw wrongPurpose(pool);
  const [tokens, agents] = await Promise.all([
    listTokens(client, pool),
    listAgents(client, pool.id),
  ]);
  const kept = tokens.find(({id, isExpired}) => id === user.tokenId && !isExpired);
  const attributes = tokenAttributesOf(user);
  // Without the ID of the cluster, the description can be that of another one.
  const isIdentified = user.clusterId !== undefined && !user.isUnrecorded;
  const plan = tokenPlan({
    pool,
    token: kept === undefined ? attributes : undefined,
    agentsBefore: new Set(agents.map(({id}) => id)),
    orphans: isIdentified ? unusedTokens(tokens, attributes, [kept?.id]) : [],
  });
  return {...plan, warnings: []};
}

const planNewPool = (client: ScalrClient, name: string, {isForVcs}: PoolUser): Promise<PoolPlan> =>
  planPoolCreation(client, {name, environments: [], isShared: false, isForVcs});

function useNew(creation: PoolPlan, user: PoolUser): PreparedPool {
  const {pool} = creation;
  const token = tokenAttributesOf(user);
  return {
    ...tokenPlan({pool, creation, token, agentsBefore: new Set(), orphans: []}),
    warnings: creation.warnings.map((warning) => ({
      ...warning,
      message: `Agent pool ${pool.name} will not be shared with an environment. To share it, create it first: scalr-agent pool create ${pool.name} --environment NAME`,
    })),
  };
}

const wrongPurpose = ({name, isForVcs}: ScalrPool): ExpectedError =>
  failed(
    'CONFLICTING_SETTINGS',
    `Agent pool ${name} is ${isForVcs ? '' : 'not '}for VCS, but --purpose is ${isForVcs ? 'runs' : 'vcs'}.`,
    [`Use another agent pool, or --purpose ${isForVcs ? 'vcs' : 'runs'}`],
  );

export interface CreatedToken extends AccountToken {
  text: Secret;
}

/**
 * Changes the account, then installs. `install` gets the new token, and calls `keep` when the token must stay valid from then on. Until
 * then, a failure revokes the token, and deletes the pool if this run has created it. @throws ExpectedError
 */
export async function installWithPool<T>(
  plan: TokenPlan,
  client: ScalrClient,
  {interrupts, onStep}: AccountDeps,
  install: (token: CreatedToken | undefined, keep: () => void) => Promise<T>,
): Promise<{result: T; pool: ScalrPool}> {
  const change = new AccountChange(plan, client, {interrupts, onStep});
  try {
    const token = await change.run();
    const result = await install(token, () => change.keep());
    return {result, pool: change.pool};
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    throw await change.undo(error);
  }
}

/** A request that takes back what was created. */
interface Undo {
  request: AccountRequest;
  what: string;
  done: string;
  /** For the user, if the request fails. */
  command: string;
}

/** The change of the account by one plan, and the way back. */
class AccountChange {
  pool: ScalrPool;
  readonly #plan: TokenPlan;
  readonly #client: ScalrClient;
  readonly #deps: AccountDeps;
  /** The newest first. */
  #undos: Undo[] = [];

  constructor(plan: TokenPlan, client: ScalrClient, deps: AccountDeps) {
    this.pool = plan.pool;
    this.#plan = plan;
    this.#client = client;
    this.#deps = deps;
  }

  async run(): Promise<CreatedToken | undefined> {
    const {orphans, pool, creation} = this.#plan;
    await runAccountSteps(orphanSteps(orphans, pool), this.#client, this.#deps);
    // Without steps, somebody else has created it meanwhile.
    if (creation !== undefined && creation.steps.length > 0) await this.#createPool(creation);
    this.#refuseInterrupt();
    const token = await this.#createToken();
    this.#refuseInterrupt();
    return token;
  }

  /** From now on, nothing is undone. */
  keep(): void {
    this.#undos = [];
  }

  async #createPool(creation: PoolPlan): Promise<void> {
    this.pool = await createdPool(this.#client, creation, () =>
      runAccountSteps(creation.steps, this.#client, this.#deps),
    );
    const {id, name} = this.pool;
    this.#undos.unshift({
      request: {method: 'DELETE', path: `/agent-pools/${id}`},
      what: `delete agent pool ${name}`,
      done: `Agent pool ${name}, which this run created, was deleted.`,
      command: `Delete it: scalr-agent pool delete ${id}`,
    });
  }

  async #createToken(): Promise<CreatedToken | undefined> {
    const {token: attributes} = this.#plan;
    if (attributes === undefined) return undefined;
    const {onStep} = this.#deps;
    const step = creationStep(this.pool, attributes);
    onStep(step, 'started');
    const {token, text} = await createToken(this.#client, this.pool, attributes);
    onStep(step, 'done');
    this.#undos.unshift({
      request: revocationStep(token, '').request,
      what: `revoke token ${token.id}`,
      done: 'The new token was revoked.',
      command: `Revoke it: scalr-agent pool token revoke ${this.pool.id} ${token.id}`,
    });
    return {host: this.#client.host, poolId: this.pool.id, tokenId: token.id, text};
  }

  #refuseInterrupt(): void {
    const {interrupt} = this.#deps.interrupts;
    if (interrupt.aborted) throw interrupted('', interrupt);
  }

  /** The failure, with what was undone. What cannot be undone is named with the command for it. */
  async undo(failure: ExpectedError): Promise<ExpectedError> {
    if (this.#undos.length === 0) return failure;
    const done: string[] = [];
    const left: string[] = [];
    for (const undo of this.#undos) {
      try {
        await this.#client.send(undo.request, undo);
        done.push(undo.done);
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        done.push(`${error.message} Could not ${undo.what}.`);
        left.push(undo.command);
      }
    }
    return failure.with([failure.message, ...done].join(' '), [...left, ...failure.suggestions]);
  }
}
