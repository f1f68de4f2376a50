import type {AccountObject} from '../../checks/status/account.ts';
import type {AccountToken} from '../../cluster/release/account-token.ts';
import {type ExpectedError, failed} from '../../ground/errors.ts';
import {type SettingFinding, warningOf} from '../../ground/finding.ts';
import {count, few} from '../../ground/text.ts';
import {linksOf, listAgents, listTokens} from './account.ts';
import type {AccountPlan, PoolPlan} from './account-steps.ts';
import type {ScalrClient} from './client.ts';
import {findPool, lookUpPool} from './find-object.ts';
import {revocationStep} from './token-steps.ts';

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
  const warn = (all: readonly unknown[], text: string): SettingFinding[] =>
    all.length === 0 ? [] : [warningOf('IN_USE', text)];
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
        ? [warningOf('IN_USE', `Agent pool ${pool.name} is the account default.`)]
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
  const pool = await lookUpPool(client, poolId);
  if (pool === undefined) {
    const message = `Agent pool ${poolId} was not found on ${client.host}: it is deleted, or your user has no permission to read it.`;
    return {steps: [], warnings: [warningOf('SCALR_NOT_FOUND', message)]};
  }
  const token = (await listTokens(client, pool)).find(({id}) => id === tokenId);
  const revocation = revocationStep(
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
