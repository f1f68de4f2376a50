import type {PoolToken, ScalrPool} from '../../checks/status/account.ts';
import type {AccountStep, PoolPlan} from './account-steps.ts';
import {creationStep, revocationStep, type TokenAttributes} from './token-steps.ts';

/** A pool and a new token for the agents of a release. */
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

export const tokenPlan = (plan: Omit<TokenPlan, 'steps'>): TokenPlan => ({
  ...plan,
  steps: [
    ...orphanSteps(plan.orphans, plan.pool),
    ...(plan.creation?.steps ?? []),
    ...(plan.token === undefined ? [] : [creationStep(plan.pool, plan.token)]),
  ],
});

export const orphanSteps = (
  orphans: readonly PoolToken[],
  {name}: Pick<ScalrPool, 'name'>,
): AccountStep[] =>
  orphans.map((token) => {
    const title = `Revoke token ${token.id} of agent pool ${name}, which an interrupted install has left unused`;
    // It works nowhere, so its loss is none.
    return {...revocationStep(token, title), id: `revoke/${token.id}`, isDestructive: false};
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

/** The agents that read a token. */
export interface TokenUser {
  release: string;
  namespace: string;
  /** UID of namespace kube-system, which identifies the cluster; undefined if it could not be read. */
  clusterId: string | undefined;
}

/** The description identifies tokens of this release in this cluster. */
export const tokenAttributesOf = ({release, namespace, clusterId}: TokenUser): TokenAttributes => ({
  name: release,
  description: `scalr-agent-install cluster=${clusterId ?? 'unknown'} namespace=${namespace} release=${release}`,
  expiresInMinutes: null,
});
