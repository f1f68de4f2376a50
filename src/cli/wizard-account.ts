import {ExpectedError} from '../ground/errors.ts';
import {listAgents, listPools, type ScalrAgent, type ScalrPool} from '../scalr/account.ts';
import {url} from '../settings/agent.ts';
import type {Settings} from '../settings/settings.ts';
import {agentCounts} from '../ui/pools.ts';
import type {OfferedPools} from '../wizard/choose-pool.ts';
import {optionalAccount} from './account.ts';
import type {CommandContext} from './operate.ts';

/** The pools of the account. Undefined without a token of a user, or if the account does not answer: then the wizard asks for a token. */
export async function offeredPools(
  settings: Settings,
  context: Pick<CommandContext, 'app' | 'version' | 'timeoutMs'>,
): Promise<OfferedPools | undefined> {
  try {
    const client = await optionalAccount(settings.get(url), settings, context);
    if (client === undefined) return undefined;
    const [pools, agents] = await Promise.all([listPools(client), listAgents(client)]);
    return {host: client.host, pools: pools.map((pool) => ({...pool, description: descriptionOf(pool, agents)}))};
  } catch (error) {
    if (error instanceof ExpectedError) return undefined;
    throw error;
  }
}

function descriptionOf({id, isDefault, isForVcs, isInUse, environments}: ScalrPool, agents: readonly ScalrAgent[]): string {
  const own = agentCounts(agents.filter(({poolId}) => poolId === id).map(({status}) => status));
  const use = isDefault
    ? 'account default'
    : environments.length > 0
      ? `for ${environments.map(({name}) => name).join(', ')}`
      : isInUse
        ? 'in use'
        : 'nothing is linked to it';
  return [own === 'none' ? 'no agents' : `agents: ${own}`, ...(isForVcs ? ['for VCS access'] : []), use].join(' · ');
}
