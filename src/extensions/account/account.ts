import type {AccountObject, PoolToken, ScalrAgent, ScalrPool} from '../../checks/status/account.ts';
import {agentOf, namedOf, nonEmptyText, poolOf, refsIn, tokenOf} from './account-objects.ts';
import type {ScalrClient} from './client.ts';
import {KINDS, reading} from './find-object.ts';

/** All pools that users manage; Scalr's own runners are one too. Without a name, all of them. */
export async function listPools(client: ScalrClient, name?: string): Promise<ScalrPool[]> {
  const query = {
    include: 'environments',
    sort: 'name',
    ...(name === undefined ? {} : {'filter[name]': name}),
  };
  const {data, included} = await client.list(KINDS.pool.path, reading('pool'), query);
  return data
    .filter(({attributes}) => attributes['is-scalr-managed'] !== true)
    .map((each) => poolOf(each, included));
}

/** Agents of one pool, or of the whole account. */
export async function listAgents(client: ScalrClient, poolId?: string): Promise<ScalrAgent[]> {
  const query = {
    sort: 'name',
    ...(poolId === undefined ? {include: 'pool'} : {'filter[agent-pool]': poolId}),
  };
  return (await client.list('/agents', reading('pool', 'agents'), query)).data.map(agentOf);
}

/** Agents with this name, in any pool. */
export async function findAgents(client: ScalrClient, name: string): Promise<ScalrAgent[]> {
  const {data} = await client.list('/agents', reading('pool', 'agents'), {
    include: 'pool',
    'filter[name]': name,
  });
  return data.map(agentOf).filter((agent) => agent.name === name);
}

export async function listTokens(client: ScalrClient, pool: AccountObject): Promise<PoolToken[]> {
  const purpose = reading('pool', `tokens of agent pool ${pool.name}`);
  return (
    await client.list(`/agent-pools/${pool.id}/access-tokens`, purpose, {sort: 'created-at'})
  ).data.map(tokenOf);
}

/** What uses a pool: runs of these workspaces, and these VCS providers. */
export async function linksOf(
  client: ScalrClient,
  pool: AccountObject,
): Promise<Record<'workspaces' | 'vcsProviders', AccountObject[]>> {
  const query = {'filter[agent-pool]': pool.id};
  const [workspaces, vcsProviders] = await Promise.all([
    client.list(KINDS.workspace.path, reading('workspace'), query),
    client.list(KINDS.vcsProvider.path, reading('vcsProvider'), query),
  ]);
  return {workspaces: workspaces.data.map(namedOf), vcsProviders: vcsProviders.data.map(namedOf)};
}

/** A run that waits or is in progress. */
interface QueuedRun {
  id: string;
  status: string | undefined;
  createdAt: string | undefined;
  workspace: string;
}

/** The runs of these workspaces that wait or are in progress. */
export async function queueOf(
  client: ScalrClient,
  workspaces: readonly AccountObject[],
): Promise<QueuedRun[]> {
  if (workspaces.length === 0) return [];
  const {data} = await client.list('/runs-queue', {
    what: 'read the run queue',
    permission: 'runs:read',
  });
  const names = new Map(workspaces.map(({id, name}) => [id, name]));
  return data.flatMap((run) => {
    const workspace = names.get(refsIn(run, 'workspace')[0]?.id ?? '');
    if (workspace === undefined) return [];
    return [
      {
        id: run.id,
        status: nonEmptyText(run.attributes['status']),
        createdAt: nonEmptyText(run.attributes['created-at']),
        workspace,
      },
    ];
  });
}

/** Connected agents of the account, and how many it allows; undefined without a limit. @throws ExpectedError */
export async function readQuota(
  client: ScalrClient,
): Promise<{used: number; allowed: number} | undefined> {
  const {agents: allowed} = await readLimits(client);
  if (allowed === undefined) return undefined;
  return {
    allowed,
    used: (await listAgents(client)).filter(({status}) => status !== 'offline').length,
  };
}

/** Limits of an account; undefined where Scalr reports none. */
interface AccountLimits {
  /** Maximum number of agents. */
  agents: number | undefined;
  /** Whether agents can connect VCS providers. */
  hasRelay: boolean | undefined;
}

/** The limits of the account that the host belongs to. @throws ExpectedError */
export async function readLimits(client: ScalrClient): Promise<AccountLimits> {
  const {data} = await client.list(
    '/accounts',
    {what: 'read the account', permission: 'accounts:read'},
    {},
  );
  const [label] = client.host.split('.');
  const account =
    data.find(({attributes}) => attributes['name'] === label) ??
    (data.length === 1 ? data[0] : undefined);
  const quotas = (account?.attributes['quotas'] ?? {}) as Readonly<Record<string, unknown>>;
  const {agents, 'agent-relay-available': relay} = quotas;
  return {
    agents: typeof agents === 'number' ? agents : undefined,
    hasRelay: typeof relay === 'boolean' ? relay : undefined,
  };
}
