import type {ScalrPool} from '../../checks/status/account.ts';
import {failed} from '../../ground/errors.ts';
import {type SettingFinding, warningOf} from '../../ground/finding.ts';
import {listPools} from './account.ts';
import {namedOf, refsIn} from './account-objects.ts';
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

/** A change of links, of one pool. */
interface LinkChange {
  pool: ScalrPool;
  /** With the names of the pools that are replaced. */
  pools: readonly ScalrPool[];
  isLinking: boolean;
}

/** A link that exists, or that is made. */
interface Link {
  id: string;
  what: string;
  /** ID of the pool that it uses now. */
  used: string | undefined;
  /** Of the request that changes it. */
  data: {type: string; id: string; relationships?: object; attributes?: object};
  permission: string;
}

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
  const change = {pool, pools: isLinking ? await listPools(client) : [pool], isLinking};
  const found = await linksOfObjects(client, links, change);
  if (links.isAccountDefault) found.push(accountDefault(change));
  return {
    pool,
    steps: found
      .filter(({used}) => (used === pool.id) !== isLinking)
      .map((link) => linkStep(link, change)),
    warnings: isLinking ? linkWarnings(pool, links) : unlinkWarnings(pool, found),
  };
}

async function linksOfObjects(
  client: ScalrClient,
  links: PoolLinks,
  {pool, isLinking}: LinkChange,
): Promise<Link[]> {
  const data = isLinking ? {type: 'agent-pools', id: pool.id} : null;
  const found: Link[] = [];
  for (const [group, {kind, noun, relationship, permission}] of Object.entries(LINKS)) {
    for (const given of links[group as keyof typeof LINKS]) {
      const object = await findObject(client, kind, given);
      const {type, id} = object;
      found.push({
        id,
        what: `${noun} ${namedOf(object).name}`,
        used: refsIn(object, relationship)[0]?.id,
        data: {type, id, relationships: {[relationship]: {data}}},
        permission,
      });
    }
  }
  return found;
}

const accountDefault = ({pool, pools, isLinking}: LinkChange): Link => ({
  id: 'account',
  what: 'the account default',
  used: pools.find(({isDefault}) => isDefault)?.id,
  data: {type: 'agent-pools', id: pool.id, attributes: {default: isLinking}},
  permission: 'agent-pools:update',
});

function linkWarnings(
  {name, isForVcs}: ScalrPool,
  {workspaces, environments}: PoolLinks,
): SettingFinding[] {
  if (!isForVcs || workspaces.length + environments.length === 0) return [];
  const message = `Agent pool ${name} is for VCS. Its agents do not execute runs.`;
  return [warningOf('VCS_POOL', message)];
}

const unlinkWarnings = ({id, name}: ScalrPool, found: readonly Link[]): SettingFinding[] =>
  found
    .filter(({used}) => used !== id)
    .map(({what}) =>
      warningOf(
        'NOT_LINKED',
        `${what.charAt(0).toUpperCase()}${what.slice(1)} does not use agent pool ${name}.`,
      ),
    );

function linkStep(
  {id, what, used, data, permission}: Link,
  {pool, pools, isLinking}: LinkChange,
): AccountStep {
  const verb = isLinking ? 'link' : 'unlink';
  const other = pools.find((each) => each.id === used)?.name ?? used;
  const before = other === undefined ? '' : ` instead of ${other}`;
  return {
    id: `${verb}-${id}`,
    title: isLinking
      ? `Link ${what} to agent pool ${pool.name}${before}`
      : `Unlink ${what} from agent pool ${pool.name}`,
    request: {method: 'PATCH', path: `/${data.type}/${data.id}`, body: {data}},
    purpose: {what: `${verb} ${what}`, permission},
  };
}
