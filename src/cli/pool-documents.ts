import * as Args from '@oclif/core/args';
import type {Warning} from '../ground/errors.ts';
import type {PoolPlan} from '../operations/pool.ts';
import {AGENT_STATUSES, type AgentStatus, type Named, type PoolToken, type ScalrAgent, type ScalrPool} from '../scalr/account.ts';
import {stepsOf} from './operate.ts';

/** An agent pool, as --json prints it. */
export interface PoolDocument {
  /** Null in a dry run. */
  id: string | null;
  name: string;
  default: boolean;
  vcs: boolean;
  shared: boolean;
  inUse: boolean;
  /** Names of the environments that can use it. */
  environments: readonly string[];
  agents: Record<AgentStatus, number>;
}

export interface PoolDetails extends PoolDocument {
  /** Names. */
  workspaces: readonly string[];
  agentsList: {id: string; name: string; status: ScalrAgent['status']; version: string | null; lastSeen: string | null}[];
}

/** The result of a change of a pool. */
export interface PoolChange {
  pool: Named;
  changed: boolean;
  steps: {id: string; title: string}[];
  warnings: readonly Warning[];
}

export interface TokenDocument extends Omit<PoolToken, 'isExpired'> {
  expired: boolean;
}

export function poolDocument(
  {id, name, isDefault, isForVcs, isShared, isInUse, environments}: ScalrPool,
  agents: readonly ScalrAgent[],
): PoolDocument {
  const own = agents.filter(({poolId}) => poolId === id);
  const counts = AGENT_STATUSES.map((status) => [status, own.filter((agent) => agent.status === status).length]);
  return {
    ...{id: id || null, name, default: isDefault, vcs: isForVcs, shared: isShared, inUse: isInUse},
    environments: environments.map((each) => each.name),
    agents: Object.fromEntries(counts) as PoolDocument['agents'],
  };
}

export const poolDetails = (pool: ScalrPool, agents: readonly ScalrAgent[], workspaces: readonly Named[]): PoolDetails => ({
  ...poolDocument(pool, agents),
  workspaces: workspaces.map(({name}) => name),
  agentsList: agents.map(({id, name, status, version, lastSeen}) => ({
    id,
    name,
    status,
    version: version ?? null,
    lastSeen: lastSeen ?? null,
  })),
});

export const poolChange = ({pool: {id, name}, steps, warnings}: PoolPlan, changed: boolean): PoolChange => ({
  ...{pool: {id, name}, changed},
  ...{steps: stepsOf(steps), warnings},
});

export const tokenDocument = ({isExpired, ...token}: PoolToken): TokenDocument => ({...token, expired: isExpired});

/** The argument of most pool commands. */
export const poolArgument = {name: Args.string({description: 'Name or ID of the agent pool.', ignoreStdin: true})};
