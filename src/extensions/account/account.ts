import {
  type AccountObject,
  AGENT_STATUSES,
  type PoolToken,
  type ScalrAgent,
  type ScalrPool,
} from '../../checks/status/account.ts';
import {ExpectedError, failed} from '../../ground/errors.ts';
import {closest} from '../../ground/text.ts';
import type {Resource, ResourceRef, ScalrClient} from './client.ts';

/** Kinds of objects that commands take by name or ID. */
const KINDS = {
  pool: {
    path: '/agent-pools',
    prefix: 'apool-',
    noun: 'agent pool',
    plural: 'agent pools',
    permission: 'agent-pools:read',
  },
  workspace: {
    path: '/workspaces',
    prefix: 'ws-',
    noun: 'workspace',
    plural: 'workspaces',
    permission: 'workspaces:read',
  },
  environment: {
    path: '/environments',
    prefix: 'env-',
    noun: 'environment',
    plural: 'environments',
    permission: 'environments:read',
  },
  vcsProvider: {
    path: '/vcs-providers',
    prefix: 'vcs-',
    noun: 'VCS provider',
    plural: 'VCS providers',
    permission: 'vcs-providers:read',
  },
} as const;
export type AccountKind = keyof typeof KINDS;

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const refsIn = ({relationships}: Resource, name: string): readonly ResourceRef[] => {
  const data = relationships?.[name]?.data ?? [];
  return Array.isArray(data) ? data : [data as ResourceRef];
};

export const namedOf = ({id, attributes}: Resource): AccountObject => ({
  id,
  name: text(attributes['name']) ?? id,
});

/** `included` has the names of the environments. */
export function poolOf(resource: Resource, included: readonly Resource[] = []): ScalrPool {
  const {attributes} = resource;
  const names = new Map(included.map((each) => [each.id, namedOf(each)]));
  return {
    ...namedOf(resource),
    isDefault: attributes['default'] === true,
    isForVcs: attributes['vcs-enabled'] === true,
    isShared: attributes['is-shared'] === true,
    isInUse: attributes['in-use'] === true,
    environments: refsIn(resource, 'environments').map(({id}) => names.get(id) ?? {id, name: id}),
  };
}

function agentOf(resource: Resource): ScalrAgent {
  const {attributes} = resource;
  return {
    ...namedOf(resource),
    poolId: refsIn(resource, 'pool')[0]?.id,
    status: AGENT_STATUSES.find((status) => status === attributes['status']) ?? 'unknown',
    version: text(attributes['version']),
    createdAt: text(attributes['created-at']),
    lastSeen: text(attributes['last-seen-at']),
    error: text(attributes['error-message']),
    upgrade: text(attributes['upgrade-status']),
  };
}

export const tokenOf = ({id, attributes}: Resource): PoolToken => ({
  id,
  name: text(attributes['name']) ?? null,
  description: text(attributes['description']) ?? null,
  createdAt: text(attributes['created-at']) ?? null,
  lastUsedAt: text(attributes['last-used-at']) ?? null,
  expiresAt: text(attributes['expires-at']) ?? null,
  isExpired: attributes['is-expired'] === true,
});

const reading = (kind: AccountKind, what: string = KINDS[kind].plural) => ({
  what: `read ${what}`,
  permission: KINDS[kind].permission,
});

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
        status: text(run.attributes['status']),
        createdAt: text(run.attributes['created-at']),
        workspace,
      },
    ];
  });
}

/** The pool with this name or ID, with the names of its environments. @throws ExpectedError */
export async function findPool(client: ScalrClient, nameOrId: string): Promise<ScalrPool> {
  const {data, included} = await findWith(client, 'pool', nameOrId, {include: 'environments'});
  return poolOf(data, included);
}

/**
 * The object with this name or ID. The name of a workspace is unique only in its environment; ENVIRONMENT/NAME selects one.
 * @throws ExpectedError that lists the candidates
 */
export const findObject = async (
  client: ScalrClient,
  kind: AccountKind,
  nameOrId: string,
): Promise<Resource> => (await findWith(client, kind, nameOrId)).data;

async function findWith(
  client: ScalrClient,
  kind: AccountKind,
  nameOrId: string,
  query: Record<string, string> = {},
) {
  const {path, prefix, plural} = KINDS[kind];
  if (new RegExp(`^${prefix}[A-Za-z0-9]+$`).test(nameOrId)) {
    const found = await client
      .get(`${path}/${nameOrId}`, reading(kind), query)
      .catch(undefinedIfMissing);
    if (found !== undefined) return found;
  }
  const [, environment, ofEnvironment] =
    kind === 'workspace' ? (/^([^/]+)\/(.+)$/.exec(nameOrId) ?? []) : [];
  const name = ofEnvironment ?? nameOrId;
  const inside =
    environment === undefined
      ? {}
      : {'filter[environment]': (await findObject(client, 'environment', environment)).id};
  const {data, included} = await client.list(path, reading(kind), {
    'filter[name]': name,
    ...inside,
    ...query,
  });
  const [found, ...others] = data.filter((each) => namedOf(each).name === name);
  if (found === undefined) {
    const all =
      kind === 'workspace'
        ? []
        : (await client.list(path, reading(kind))).data.map((each) => namedOf(each).name);
    throw notFound(kind, nameOrId, all);
  }
  if (others.length === 0) return {data: found, included};
  const candidates = [found, ...others].map((each) => {
    const [where] = refsIn(each, 'environment');
    return where === undefined ? each.id : `${each.id} (environment ${where.id})`;
  });
  throw failed(
    'SCALR_NOT_FOUND',
    `Several ${plural} have the name ${name}: ${candidates.join(', ')}.`,
    [
      `Use the ID instead of the name, for example ${found.id}`,
      ...(kind === 'workspace'
        ? [
            `Or write the name of the environment and a slash before it, for example production/${name}`,
          ]
        : []),
    ],
  );
}

function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof ExpectedError && error.code === 'SCALR_NOT_FOUND') return undefined;
  throw error;
}

function notFound(kind: AccountKind, nameOrId: string, names: readonly string[]): ExpectedError {
  const {noun, permission} = KINDS[kind];
  const near = closest(nameOrId, names);
  return failed(
    'SCALR_NOT_FOUND',
    `Cannot find ${noun} ${nameOrId}: it does not exist, or your user has no permission to read it.`,
    [
      ...(near === undefined ? [] : [`Did you mean ${near}?`]),
      ...(kind === 'pool' ? ['List agent pools: scalr-agent pool list'] : []),
      `Request the permission ${permission} for your user in Scalr`,
    ],
  );
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
