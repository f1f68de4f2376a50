import type {AccountObject, ScalrPool} from '../../checks/status/account.ts';
import {ExpectedError, failed} from '../../ground/errors.ts';
import {type SettingFinding, warningOf} from '../../ground/finding.ts';
import {listPools} from './account.ts';
import {namedOf, poolOf} from './account-objects.ts';
import type {AccountStep, PoolPlan} from './account-steps.ts';
import type {Resource, ScalrClient} from './client.ts';
import {findObject, findPool} from './find-object.ts';

/** The ID of a pool that does not exist yet. */
const NEW = '';

type DesiredPool = Pick<ScalrPool, 'name' | 'isShared' | 'isForVcs'>;

/** The plan that creates a pool for environments, by name or ID. @throws ExpectedError if one with this name exists and differs */
export async function planPoolCreation(
  client: ScalrClient,
  {environments: given, ...desired}: DesiredPool & {environments: readonly string[]},
): Promise<PoolPlan> {
  const environments: AccountObject[] = [];
  for (const each of given)
    environments.push(namedOf(await findObject(client, 'environment', each)));
  const pool = {...desired, id: NEW, isDefault: false, isInUse: false, environments};
  const existing = await poolNamed(client, pool.name);
  if (existing === undefined)
    return {pool, steps: [creationStep(pool)], warnings: sharingWarnings(pool)};
  refuseDifferent(existing, pool);
  return {pool: existing, steps: [], warnings: []};
}

function creationStep(pool: ScalrPool): AccountStep {
  const {name, isForVcs, isShared, environments} = pool;
  const data = environments.map(({id}) => ({type: 'environments', id}));
  return {
    id: 'create-pool',
    title: `Create ${isForVcs ? 'VCS agent pool' : 'agent pool'} ${name}${scopeText(pool)}`,
    request: {
      method: 'POST',
      path: '/agent-pools',
      body: {
        data: {
          type: 'agent-pools',
          attributes: {name, 'vcs-enabled': isForVcs, 'is-shared': isShared},
          ...(data.length === 0 ? {} : {relationships: {environments: {data}}}),
        },
      },
    },
    purpose: {what: `create agent pool ${name}`, permission: 'agent-pools:create'},
  };
}

function scopeText({isShared, environments}: ScalrPool): string {
  if (isShared) return ' for all environments';
  if (environments.length === 0) return '';
  return ` for ${environments.map((each) => each.name).join(', ')}`;
}

function sharingWarnings({name, isShared, isForVcs, environments}: ScalrPool): SettingFinding[] {
  if (isShared || isForVcs || environments.length > 0) return [];
  const message = `Agent pool ${name} is not shared with an environment. Add --environment NAME or --shared.`;
  return [warningOf('NOT_SHARED', message)];
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
