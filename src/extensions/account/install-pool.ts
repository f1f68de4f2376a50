import type {PoolToken, ScalrAgent, ScalrPool} from '../../checks/status/account.ts';
import type {AccountToken} from '../../cluster/release/namespace.ts';
import type {Clock} from '../../ground/async.ts';
import {ExpectedError, failed, interrupted, type Warning} from '../../ground/errors.ts';
import type {Secret} from '../../ground/secret.ts';
import {findPool, listAgents, listTokens} from './account.ts';
import {
  type AccountDeps,
  type AccountStep,
  runAccountSteps,
  tokenCreationStep,
  unusedTokenStep,
} from './account-steps.ts';
import type {ScalrClient} from './client.ts';
import {createdPool, type PoolPlan, planPoolCreation} from './pool.ts';
import {createToken, revocationOf, type TokenAttributes} from './tokens.ts';

/** The release that an agent pool serves. */
export interface PoolUser {
  release: string;
  namespace: string;
  /** UID of namespace kube-system, which identifies the cluster; undefined if it could not be read. */
  clusterId: string | undefined;
  /** ID of the token in the Secret of the release, if an install with --pool has written it. */
  tokenId: string | undefined;
  /** The Secret exists, but does not record its token, which can be any token of the pool. */
  isUnrecorded: boolean;
  isForVcs: boolean;
}

/** A pool and a new token for agents. */
export interface TokenPlan {
  pool: ScalrPool;
  /** Undefined if the pool exists. */
  creation?: PoolPlan | undefined;
  /** Attributes of the new token; undefined if the agents have a valid token of the pool. */
  token: TokenAttributes | undefined;
  /** Tokens of interrupted runs for the same agents, which were never used. */
  orphans: readonly PoolToken[];
  /** IDs of the agents before the change. */
  agentsBefore: ReadonlySet<string>;
  steps: readonly AccountStep[];
}

/** What an install with --pool changes in the account. */
export type PreparedPool = TokenPlan & {warnings: readonly Warning[]};

/** Reads the account and plans; changes nothing. @throws ExpectedError */
export async function preparePool(
  client: ScalrClient,
  {pool: nameOrId, creates}: {pool: string; creates: boolean},
  user: PoolUser,
): Promise<PreparedPool> {
  const existing = await findPool(client, nameOrId).catch((error: unknown) => {
    if (
      !(
        error instanceof ExpectedError &&
        error.code === 'SCALR_NOT_FOUND' &&
        /^Cannot find /.test(error.message)
      )
    )
      throw error;
    if (creates) return undefined;
    throw error.with(error.message, ['Add --create-pool to create it', ...error.suggestions]);
  });
  const options = {name: nameOrId, environments: [], isShared: false, isForVcs: user.isForVcs};
  const creation = existing === undefined ? await planPoolCreation(client, options) : undefined;
  const pool = existing ?? (creation as PoolPlan).pool;
  if (pool.isForVcs !== user.isForVcs) throw wrongPurpose(pool);
  const [tokens, agents] =
    existing === undefined
      ? [[], []]
      : await Promise.all([listTokens(client, pool), listAgents(client, pool.id)]);
  const kept = tokens.find(({id, isExpired}) => id === user.tokenId && !isExpired);
  const attributes = tokenAttributesOf(user);
  // Without the ID of the cluster, the description can be that of another one.
  const isIdentified = user.clusterId !== undefined && !user.isUnrecorded;
  return {
    ...tokenPlan({
      pool,
      creation,
      token: kept === undefined ? attributes : undefined,
      agentsBefore: new Set(agents.map(({id}) => id)),
      orphans: isIdentified ? unusedTokens(tokens, attributes, [kept?.id]) : [],
    }),
    warnings: (creation?.warnings ?? []).map((warning) => ({
      ...warning,
      message: `Agent pool ${pool.name} will not be shared with an environment. To share it, create it first: scalr-agent pool create ${pool.name} --environment NAME`,
    })),
  };
}

export const tokenPlan = (plan: Omit<TokenPlan, 'steps'>): TokenPlan => ({
  ...plan,
  steps: [
    ...plan.orphans.map((each) => unusedTokenStep(each, plan.pool)),
    ...(plan.creation?.steps ?? []),
    ...(plan.token === undefined ? [] : [tokenCreationStep(plan.pool, plan.token)]),
  ],
});

/** Tokens with this description that were never used, except those with these IDs. */
export const unusedTokens = (
  tokens: readonly PoolToken[],
  {description}: TokenAttributes,
  known: readonly (string | undefined)[],
): PoolToken[] =>
  tokens.filter(
    (each) =>
      each.description === description && each.lastUsedAt === null && !known.includes(each.id),
  );

/** The description identifies tokens of this release in this cluster. */
export const tokenAttributesOf = ({
  release,
  namespace,
  clusterId,
}: Pick<PoolUser, 'release' | 'namespace' | 'clusterId'>): TokenAttributes => ({
  name: release,
  description: `scalr-agent-install cluster=${clusterId ?? 'unknown'} namespace=${namespace} release=${release}`,
  expiresInMinutes: null,
});

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
  prepared: TokenPlan,
  client: ScalrClient,
  {interrupts, onStep}: AccountDeps,
  install: (token: CreatedToken | undefined, keep: () => void) => Promise<T>,
): Promise<{result: T; pool: ScalrPool}> {
  const {interrupt} = interrupts;
  const deps = {interrupts, onStep};
  const {creation, token: attributes} = prepared;
  let {pool} = prepared;
  let isPoolMade = false;
  let isKept = false;
  let made: CreatedToken | undefined;
  try {
    await runAccountSteps(prepared.steps.slice(0, prepared.orphans.length), client, deps);
    if (creation !== undefined) {
      pool = await createdPool(client, creation, () =>
        runAccountSteps(creation.steps, client, deps),
      );
      isPoolMade = true;
    }
    if (interrupt.aborted) throw interrupted('', interrupt);
    if (attributes !== undefined) {
      const step = tokenCreationStep(pool, attributes);
      onStep(step, 'started');
      const {token, text} = await createToken(client, pool, attributes);
      onStep(step, 'done');
      made = {host: client.host, poolId: pool.id, tokenId: token.id, text};
    }
    if (interrupt.aborted) throw interrupted('', interrupt);
    const result = await install(made, () => {
      isKept = true;
    });
    return {result, pool};
  } catch (error) {
    if (isKept || !(error instanceof ExpectedError)) throw error;
    throw await cleanUp(error, client, pool, {made, isPoolMade});
  }
}

/** The failure, with what was undone. What cannot be undone is named with the command for it. */
async function cleanUp(
  failure: ExpectedError,
  client: ScalrClient,
  pool: ScalrPool,
  {made, isPoolMade}: {made: CreatedToken | undefined; isPoolMade: boolean},
): Promise<ExpectedError> {
  const [done, left]: [string[], string[]] = [[], []];
  const undo = async (
    request: Parameters<ScalrClient['send']>[0],
    what: string,
    text: string,
    command: string,
  ): Promise<void> => {
    try {
      await client.send(request, {what});
      done.push(text);
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      done.push(`${error.message} Could not ${what}.`);
      left.push(command);
    }
  };
  if (made !== undefined)
    await undo(
      revocationOf({id: made.tokenId}),
      `revoke token ${made.tokenId}`,
      'The new token was revoked.',
      `Revoke it: scalr-agent pool token revoke ${pool.id} ${made.tokenId}`,
    );
  if (isPoolMade)
    await undo(
      {method: 'DELETE', path: `/agent-pools/${pool.id}`},
      `delete agent pool ${pool.name}`,
      `Agent pool ${pool.name}, which this run created, was deleted.`,
      `Delete it: scalr-agent pool delete ${pool.id}`,
    );
  if (done.length === 0) return failure;
  return failure.with([failure.message, ...done].join(' '), [...left, ...failure.suggestions]);
}

const POLL_MS = 5000;

interface AwaitOptions extends Clock {
  pods: readonly string[];
  agentsBefore: ReadonlySet<string>;
  timeoutMs: number;
  interrupt: AbortSignal;
}

/** Waits until Scalr reports an idle or busy agent of the release: of one of its pods, or one that is new. @throws ExpectedError */
export async function awaitAgents(
  client: ScalrClient,
  pool: ScalrPool,
  {pods, agentsBefore, timeoutMs, interrupt, now, sleep}: AwaitOptions,
): Promise<ScalrAgent[]> {
  const end = now().getTime() + timeoutMs;
  for (;;) {
    const agents = (await listAgents(client, pool.id)).filter(
      ({id, name}) => pods.includes(name) || !agentsBefore.has(id),
    );
    const working = agents.filter(({status}) => status === 'idle' || status === 'busy');
    if (working.length > 0) return working;
    if (interrupt.aborted)
      throw interrupted(
        'The release is installed and ready. Scalr has not reported its agent yet.',
        interrupt,
      );
    if (now().getTime() >= end) throw noAgent(pool, agents, timeoutMs);
    await sleep(POLL_MS, interrupt);
  }
}

function noAgent(
  {name}: ScalrPool,
  agents: readonly ScalrAgent[],
  timeoutMs: number,
): ExpectedError {
  const seen = agents.map(
    (agent) =>
      `${agent.name} is ${agent.status}${agent.error === undefined ? '' : ` (${agent.error})`}`,
  );
  const because =
    seen.length === 0 ? 'It reports no agent of this release.' : `${seen.join(', ')}.`;
  return failed(
    'TIMED_OUT',
    `The release is ready, but Scalr reports no working agent in agent pool ${name} after ${timeoutMs / 1000} s. ${because}`,
    [
      'Check the network and the clock of the nodes',
      `Show the agents: scalr-agent pool show ${name}`,
    ],
  );
}
