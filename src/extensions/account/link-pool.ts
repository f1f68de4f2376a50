import {failed} from '../../ground/errors.ts';
import {listPools} from './account.ts';
import {type Named, namedOf, refsIn} from './account-objects.ts';
import type {AccountStep, PoolPlan} from './account-steps.ts';
import type {ScalrClient} from './client.ts';
import {type AccountKind, findObject, findPool} from './find-object.ts';

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
  pool: Named,
  pools: readonly Named[],
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
