import type {AccountObject, ScalrPool} from '../../checks/status/account.ts';
import type {AccountToken} from '../../cluster/release/namespace.ts';
import {ExitCode, ExpectedError, failed, type Warning} from '../../ground/errors.ts';
import {count, few} from '../../ground/text.ts';
import {
  type AccountKind,
  findObject,
  findPool,
  linksOf,
  listAgents,
  listPools,
  listTokens,
  namedOf,
  poolOf,
  refsIn,
} from './account.ts';
import {type AccountPlan, type AccountStep, revokeStep} from './account-steps.ts';
import type {Resource, ScalrClient} from './client.ts';

/** A plan for a pool; without steps, the pool is as it should be. */
export interface PoolPlan extends AccountPlan {
  pool: ScalrPool;
}

/** The ID of a pool that does not exist yet. */
const NEW = '';

/** The plan that creates a pool for environments, by name or ID. @throws ExpectedError if one with this name exists and differs */
export async function planPoolCreation(
  client: ScalrClient,
  {
    name,
    environments,
    isShared,
    isForVcs,
  }: Pick<ScalrPool, 'name' | 'isShared' | 'isForVcs'> & {environments: readonly string[]},
): Promise<PoolPlan> {
  const chosen: AccountObject[] = [];
  for (const each of environments)
    chosen.push(namedOf(await findObject(client, 'environment', each)));
  const pool = {
    id: NEW,
    name,
    isDefault: false,
    isForVcs,
    isShared,
    isInUse: false,
    environments: chosen,
  };
  const existing = await poolNamed(client, name);
  if (existing !== undefined) {
    refuseDifferent(existing, pool);
    return {pool: existing, steps: [], warnings: []};
  }
  const refs = chosen.map(({id}) => ({type: 'environments', id}));
  const data = {
    type: 'agent-pools',
    attributes: {name, 'vcs-enabled': isForVcs, 'is-shared': isShared},
    ...(refs.length === 0 ? {} : {relationships: {environments: {data: refs}}}),
  };
  const where = isShared
    ? ' for all environments'
    : chosen.length === 0
      ? ''
      : ` for ${chosen.map((each) => each.name).join(', ')}`;
  const step: AccountStep = {
    id: 'create-pool',
    title: `Create ${isForVcs ? 'VCS agent pool' : 'agent pool'} ${name}${where}`,
    request: {method: 'POST', path: '/agent-pools', body: {data}},
    purpose: {what: `create agent pool ${name}`, permission: 'agent-pools:create'},
  };
  const warnings: Warning[] =
    isShared || isForVcs || chosen.length > 0
      ? []
      : [
          {
            code: 'NOT_SHARED',
            message: `Agent pool ${name} is not shared with an environment. Add --environment NAME or --shared.`,
          },
        ];
  return {pool, steps: [step], warnings};
}

async function poolNamed(client: ScalrClient, name: string): Promise<ScalrPool | undefined> {
  const same = (await listPools(client, name)).filter((each) => each.name === name);
  return same.length > 1 ? findPool(client, name) : same[0];
}

/** @throws ExpectedError that lists what differs */
function refuseDifferent(existing: ScalrPool, desired: ScalrPool): void {
  const names = ({environments}: ScalrPool): string =>
    environments
      .map(({name}) => name)
      .toSorted()
      .join(', ') || 'none';
  const differences = [
    ...(existing.isForVcs === desired.isForVcs
      ? []
      : [`it is ${existing.isForVcs ? '' : 'not '}for VCS`]),
    ...(existing.isShared === desired.isShared
      ? []
      : [`it is ${existing.isShared ? '' : 'not '}shared with all environments`]),
    ...(existing.isShared || names(existing) === names(desired)
      ? []
      : [`its environments are: ${names(existing)}`]),
  ];
  if (differences.length === 0) return;
  throw failed(
    'CONFLICTING_SETTINGS',
    `Agent pool ${existing.name} already exists, but ${differences.join(', and ')}.`,
    ['Use another name', `Show the pool: scalr-agent pool show ${existing.id}`],
  );
}

/** The pool that this request has created. If the answer was lost, it is found by its name, which did not exist before. @throws ExpectedError */
export async function createdPool(
  client: ScalrClient,
  plan: PoolPlan,
  create: () => Promise<readonly (Resource | undefined)[]>,
): Promise<ScalrPool> {
  try {
    const [created] = await create();
    return {
      ...plan.pool,
      ...(created === undefined ? {} : {...poolOf(created), environments: plan.pool.environments}),
    };
  } catch (error) {
    if (!(error instanceof ExpectedError && error.code === 'SCALR_UNREACHABLE')) throw error;
    const found = await poolNamed(client, plan.pool.name).catch(() => undefined);
    if (found === undefined) throw error;
    return found;
  }
}

/** What uses a pool, by name or ID. */
export interface PoolLinks {
  workspaces: readonly string[];
  environments: readonly string[];
  vcsProviders: readonly string[];
  isAccountDefault: boolean;
}

interface LinkKind {
  kind: Exclude<AccountKind, 'pool'>;
  noun: string;
  relationship: string;
  permission: string;
}

/** Links are set on the side that has one pool: a list on the side of the pool would replace all others. */
const LINKS: Readonly<Record<Exclude<keyof PoolLinks, 'isAccountDefault'>, LinkKind>> = {
  workspaces: {
    kind: 'workspace',
    noun: 'workspace',
    relationship: 'agent-pool',
    permission: 'workspaces:update',
  },
  environments: {
    kind: 'environment',
    noun: 'the default of environment',
    relationship: 'default-workspace-agent-pool',
    permission: 'environments:update',
  },
  vcsProviders: {
    kind: 'vcsProvider',
    noun: 'VCS provider',
    relationship: 'agent-pool',
    permission: 'vcs-providers:update',
  },
};

/** The plan that links a pool, or unlinks it. Links that exist, and links of other pools, are left alone. @throws ExpectedError */
export async function planLinks(
  client: ScalrClient,
  nameOrId: string,
  links: PoolLinks,
  isLinking: boolean,
): Promise<PoolPlan> {
  const pool = await findPool(client, nameOrId);
  if (isLinking && links.vcsProviders.length > 0 && !pool.isForVcs)
    throw failed(
      'CONFLICTING_SETTINGS',
      `Agent pool ${pool.name} is not for VCS, so a VCS provider cannot use it.`,
      ['Create a VCS agent pool: scalr-agent pool create NAME --vcs'],
    );
  const pools = isLinking ? await listPools(client) : [pool];
  const found: Link[] = [];
  for (const [group, {kind, noun, relationship, permission}] of Object.entries(LINKS)) {
    for (const given of links[group as keyof typeof LINKS]) {
      const object = await findObject(client, kind, given);
      const {type, id} = object;
      const relationships = {
        [relationship]: {data: isLinking ? {type: 'agent-pools', id: pool.id} : null},
      };
      const [used] = refsIn(object, relationship);
      found.push({
        id,
        what: `${noun} ${namedOf(object).name}`,
        used: used?.id,
        data: {type, id, relationships},
        permission,
      });
    }
  }
  if (links.isAccountDefault) {
    const used = pools.find(({isDefault}) => isDefault)?.id;
    const data = {type: 'agent-pools', id: pool.id, attributes: {default: isLinking}};
    found.push({
      id: 'account',
      what: 'the account default',
      used,
      data,
      permission: 'agent-pools:update',
    });
  }
  const isRunPool =
    !pool.isForVcs || !isLinking || links.workspaces.length + links.environments.length === 0;
  return {
    pool,
    steps: found
      .filter(({used}) => (used === pool.id) !== isLinking)
      .map((link) => linkStep(link, pool, pools, isLinking)),
    warnings: [
      ...found
        .filter(({used}) => !isLinking && used !== pool.id)
        .map(({what: [first = '', ...rest]}) => ({
          code: 'NOT_LINKED',
          message: `${first.toUpperCase()}${rest.join('')} does not use agent pool ${pool.name}.`,
        })),
      ...(isRunPool
        ? []
        : [
            {
              code: 'VCS_POOL',
              message: `Agent pool ${pool.name} is for VCS. Its agents do not execute runs.`,
            },
          ]),
    ],
  };
}

interface Link {
  id: string;
  what: string;
  /** ID of the pool that it uses now. */
  used: string | undefined;
  data: {type: string; id: string; relationships?: object; attributes?: object};
  permission: string;
}

function linkStep(
  {id, what, used, data, permission}: Link,
  pool: AccountObject,
  pools: readonly AccountObject[],
  isLinking: boolean,
): AccountStep {
  const before =
    used === undefined ? '' : ` instead of ${pools.find((each) => each.id === used)?.name ?? used}`;
  const verb = isLinking ? 'link' : 'unlink';
  return {
    id: `${verb}-${id}`,
    title: isLinking
      ? `Link ${what} to agent pool ${pool.name}${before}`
      : `Unlink ${what} from agent pool ${pool.name}`,
    request: {method: 'PATCH', path: `/${data.type}/${data.id}`, body: {data}},
    purpose: {what: `${verb} ${what}`, permission},
  };
}

/**
 * The plan that deletes a pool, with what still uses it. `own` are the names of the agents and the token of a release that is uninstalled
 * before; then nothing else may use the pool. @throws ExpectedError
 */
export async function planPoolDeletion(
  client: ScalrClient,
  nameOrId: string,
  own?: {agents: readonly string[]; tokenId: string},
): Promise<PoolPlan> {
  const pool = await findPool(client, nameOrId);
  const [allAgents, allTokens, {workspaces, vcsProviders}] = await Promise.all([
    listAgents(client, pool.id),
    listTokens(client, pool),
    linksOf(client, pool),
  ]);
  const agents = allAgents.filter(({name}) => !own?.agents.includes(name));
  const tokens = allTokens.filter(
    ({id, isExpired}) => own === undefined || (id !== own.tokenId && !isExpired),
  );
  const using = [...workspaces, ...vcsProviders].map(({name}) => name);
  const connected = agents.filter(({status}) => status === 'idle' || status === 'busy');
  const busy = agents.filter(({status}) => status === 'busy').map(({name}) => name);
  const warn = (all: readonly unknown[], text: string): Warning[] =>
    all.length === 0 ? [] : [{code: 'IN_USE', message: text}];
  return {
    pool,
    steps: [
      {
        id: 'delete-pool',
        title: `Delete agent pool ${pool.name}`,
        request: {method: 'DELETE', path: `/agent-pools/${pool.id}`},
        purpose: {what: `delete agent pool ${pool.name}`, permission: 'agent-pools:delete'},
        isDestructive: true,
      },
    ],
    warnings: [
      ...warn(
        connected,
        `${count(connected.length, 'connected agent')} will lose the connection to Scalr: ${few(connected.map(({name}) => name))}.`,
      ),
      ...warn(tokens, `${count(tokens.length, 'token')} will become invalid.`),
      ...warn(using, `Agent pool ${pool.name} is used by ${few(using)}.`),
      ...(pool.isDefault
        ? [{code: 'IN_USE', message: `Agent pool ${pool.name} is the account default.`}]
        : []),
    ],
    blocked:
      own !== undefined && connected.length + tokens.length > 0
        ? usedByOthers(pool, connected, tokens)
        : busyAgents(pool, busy),
  };
}

const usedByOthers = (
  {id, name}: AccountObject,
  agents: readonly AccountObject[],
  tokens: readonly {id: string}[],
): ExpectedError =>
  failed(
    'OBJECT_NOT_OWNED',
    `Others may use agent pool ${name}: it has ${few([...agents.map((each) => `agent ${each.name}`), ...tokens.map((each) => `token ${each.id}`)])}.`,
    [
      'Omit --delete-pool',
      `To delete it anyway after the uninstall: scalr-agent pool delete ${id}`,
    ],
    {exit: ExitCode.usage},
  );

const busyAgents = ({name}: AccountObject, busy: readonly string[]): ExpectedError | undefined =>
  busy.length === 0
    ? undefined
    : failed(
        'SCALR_REJECTED',
        `Agent pool ${name} has busy agents, so Scalr would not delete it: ${few(busy)}.`,
        ['Wait until their runs have ended', `Show the agents: scalr-agent pool show ${name}`],
      );

/** Revokes the token that an install has created, and deletes its pool if only agents in `pods` use it. Read-only. @throws ExpectedError */
export async function planAccountRemoval(
  client: ScalrClient,
  {poolId, tokenId}: AccountToken,
  {
    revokesToken,
    deletesPool,
    pods,
  }: {revokesToken: boolean; deletesPool: boolean; pods: readonly string[]},
): Promise<AccountPlan> {
  const pool = await findPool(client, poolId).catch((error: unknown) => {
    if (error instanceof ExpectedError && error.code === 'SCALR_NOT_FOUND') return undefined;
    throw error;
  });
  if (pool === undefined) {
    const message = `Agent pool ${poolId} was not found on ${client.host}: it is deleted, or your user has no permission to read it.`;
    return {steps: [], warnings: [{code: 'SCALR_NOT_FOUND', message}]};
  }
  const token = (await listTokens(client, pool)).find(({id}) => id === tokenId);
  const revocation = revokeStep(
    {id: tokenId},
    `Revoke token ${tokenId} of agent pool ${pool.name}`,
  );
  const deletion = deletesPool
    ? await planPoolDeletion(client, pool.id, {agents: pods, tokenId})
    : undefined;
  return {
    steps: [...(revokesToken && token ? [revocation] : []), ...(deletion?.steps ?? [])],
    warnings: deletion?.warnings ?? [],
    blocked: deletion?.blocked,
  };
}

/** The Secrets of the release have no token that an install has created. */
export const noAccountToken = (release: string): ExpectedError =>
  failed(
    'SCALR_NOT_FOUND',
    `The Secrets of release ${release} do not record a token in a Scalr account.`,
    [
      'Only install with --pool records it. Omit --revoke-token and --delete-pool',
      'Find the token in Scalr: scalr-agent pool token list NAME',
    ],
  );
