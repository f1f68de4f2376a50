import type {ScalrPool} from '../../checks/status/account.ts';
import {type ExpectedError, failed, onFailure} from '../../ground/errors.ts';
import {closest} from '../../ground/similar-text.ts';
import {namedOf, poolOf, refsIn} from './account-objects.ts';
import type {Document, Query, Resource, ScalrClient} from './client.ts';
import type {Purpose} from './failure.ts';

/** Kinds of objects that commands take by name or ID. */
export const KINDS = {
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

export const reading = (kind: AccountKind, what: string = KINDS[kind].plural): Purpose => ({
  what: `read ${what}`,
  permission: KINDS[kind].permission,
});

/** The pool with this name or ID, with the names of its environments. @throws ExpectedError */
export async function findPool(client: ScalrClient, nameOrId: string): Promise<ScalrPool> {
  const pool = await lookUpPool(client, nameOrId);
  if (pool !== undefined) return pool;
  throw await missingObject(client, 'pool', nameOrId);
}

/** The same, or undefined if there is none. @throws ExpectedError */
export async function lookUpPool(
  client: ScalrClient,
  nameOrId: string,
): Promise<ScalrPool | undefined> {
  const found = await lookUp(client, 'pool', nameOrId, {include: 'environments'});
  return found && poolOf(found.data, found.included);
}

/**
 * The object with this name or ID. The name of a workspace is unique only in its environment; ENVIRONMENT/NAME selects one.
 * @throws ExpectedError that lists the candidates
 */
export async function findObject(
  client: ScalrClient,
  kind: AccountKind,
  nameOrId: string,
): Promise<Resource> {
  const found = await lookUp(client, kind, nameOrId);
  if (found !== undefined) return found.data;
  throw await missingObject(client, kind, nameOrId);
}

const lookUp = async (
  client: ScalrClient,
  kind: AccountKind,
  nameOrId: string,
  query: Query = {},
): Promise<Document<Resource> | undefined> =>
  (await lookUpId(client, kind, nameOrId, query)) ?? lookUpName(client, kind, nameOrId, query);

async function lookUpId(
  client: ScalrClient,
  kind: AccountKind,
  id: string,
  query: Query,
): Promise<Document<Resource> | undefined> {
  const {path, prefix} = KINDS[kind];
  if (!new RegExp(`^${prefix}[A-Za-z0-9]+$`).test(id)) return undefined;
  return client.get(`${path}/${id}`, reading(kind), query).catch(
    onFailure((failure) => {
      if (failure.code === 'SCALR_NOT_FOUND') return undefined;
      throw failure;
    }),
  );
}

async function lookUpName(
  client: ScalrClient,
  kind: AccountKind,
  text: string,
  query: Query,
): Promise<Document<Resource> | undefined> {
  const [, environment, inEnvironment] =
    kind === 'workspace' ? (/^([^/]+)\/(.+)$/.exec(text) ?? []) : [];
  const name = inEnvironment ?? text;
  const filter: Record<string, string> = {'filter[name]': name};
  if (environment !== undefined)
    filter['filter[environment]'] = (await findObject(client, 'environment', environment)).id;
  const {data, included} = await client.list(KINDS[kind].path, reading(kind), {
    ...filter,
    ...query,
  });
  const [found, ...others] = data.filter((each) => namedOf(each).name === name);
  if (found === undefined) return undefined;
  if (others.length > 0) throw ambiguous(kind, name, [found, ...others]);
  return {data: found, included};
}

function ambiguous(kind: AccountKind, name: string, found: readonly Resource[]): ExpectedError {
  const candidates = found.map((each) => {
    const [where] = refsIn(each, 'environment');
    return where === undefined ? each.id : `${each.id} (environment ${where.id})`;
  });
  const byEnvironment = `Or write the name of the environment and a slash before it, for example production/${name}`;
  return failed(
    'SCALR_NOT_FOUND',
    `Several ${KINDS[kind].plural} have the name ${name}: ${candidates.join(', ')}.`,
    [
      `Use the ID instead of the name, for example ${found[0]?.id}`,
      ...(kind === 'workspace' ? [byEnvironment] : []),
    ],
  );
}

/** The error for a name or ID that does not exist, with one that is similar. */
export async function missingObject(
  client: ScalrClient,
  kind: AccountKind,
  nameOrId: string,
): Promise<ExpectedError> {
  const {path, noun, permission} = KINDS[kind];
  // An account can have thousands of workspaces.
  const all = kind === 'workspace' ? [] : (await client.list(path, reading(kind))).data;
  const near = closest(
    nameOrId,
    all.map((each) => namedOf(each).name),
  );
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
