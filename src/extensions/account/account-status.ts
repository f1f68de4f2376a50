import {type Cause, type Diagnosis, passing} from '../../checks/diagnose/cause.ts';
import {type AccountStatus, type ReleaseStatus, unreadPart} from '../../checks/status/status.ts';
import {ownCommand, type ReleaseName} from '../../ground/command-line.ts';
import {type Advice, ExpectedError, onFailure} from '../../ground/errors.ts';
import {count, few} from '../../ground/text.ts';
import {findAgents, findPool, linksOf, listAgents, listTokens, readQuota} from './account.ts';
import type {ScalrClient} from './client.ts';

/** An agent connects with the name of its pod. If Scalr does not know the first pods, it will not know the others. */
const MAX_LOOKUPS = 3;

/** Finds the pool of a release by the names of its pods, and reads its agents. Read-only. @throws ExpectedError */
export async function readAccountStatus(
  client: ScalrClient,
  {agents: pods, workloads}: ReleaseStatus,
): Promise<AccountStatus> {
  const names = pods.map(({pod}) => pod);
  const nothing = {
    host: client.host,
    pool: undefined,
    isUnused: undefined,
    withoutPod: [],
    tokens: [],
    unread: [],
  };
  const poolId = await poolOfPods(client, names);
  // A full account is a reason for missing agents.
  const quotaFor = async (agents: AccountStatus['agents']): Promise<AccountStatus['quota']> =>
    agents.some(({agent}) => agent === undefined)
      ? readQuota(client).catch(onFailure(() => undefined))
      : undefined;
  if (poolId === undefined) {
    const agents = names.map((pod) => ({pod, agent: undefined}));
    return {...nothing, agents, quota: await quotaFor(agents)};
  }
  const unread: Diagnosis[] = [];
  const optional = async <T>(what: string, reading: Promise<T>): Promise<T | undefined> => {
    try {
      return await reading;
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      unread.push(unreadOfAccount(what, error));
      return undefined;
    }
  };
  const [pool, known, tokens] = await Promise.all([
    findPool(client, poolId),
    listAgents(client, poolId),
    optional('tokens of the agent pool', listTokens(client, {id: poolId, name: poolId})),
  ]);
  // Scalr reports most uses itself.
  const links =
    pool.isInUse || pool.isDefault
      ? undefined
      : await optional('links of the agent pool', linksOf(client, pool));
  const agents = names.map((pod) => ({
    pod,
    agent: onlyOne(known.filter(({name}) => name === pod)),
  }));
  const prefixes = workloads.map(({object}) => `${object.replace(/^.*\//, '')}-`);
  return {
    host: client.host,
    pool,
    isUnused:
      pool.isInUse || pool.isDefault
        ? false
        : links && links.workspaces.length + links.vcsProviders.length === 0,
    agents,
    quota: await quotaFor(agents),
    withoutPod: known.filter(
      ({name, status}) =>
        status === 'offline' &&
        !names.includes(name) &&
        prefixes.some((prefix) => name.startsWith(prefix)),
    ),
    tokens: tokens ?? [],
    unread,
  };
}

export const unreadOfAccount = (what: string, error: ExpectedError): Diagnosis =>
  unreadPart(what, error, 'Run the command again, or with --no-account');

const onlyOne = <T>(all: readonly T[]): T | undefined => (all.length === 1 ? all[0] : undefined);

/** The pool of the first pod that Scalr knows as an agent. */
export async function poolOfPods(
  client: ScalrClient,
  pods: readonly string[],
): Promise<string | undefined> {
  for (const pod of pods.slice(0, MAX_LOOKUPS)) {
    const agent = onlyOne(await findAgents(client, pod));
    if (agent?.poolId !== undefined) return agent.poolId;
  }
  return undefined;
}

/** Adds what the account shows to the status. A ready pod whose agent is offline makes the release not ready. Pure. */
export function withAccount(
  name: ReleaseName,
  status: ReleaseStatus,
  account: AccountStatus,
  now: Date,
): ReleaseStatus {
  const causes = causesIn(name, status, account);
  return {
    ...status,
    account,
    state: status.state === 'ready' && causes.length > 0 ? 'not-ready' : status.state,
    causes: [...status.causes, ...causes],
    advice: [...status.advice, ...adviceIn(status, account, now)],
    unread: [...status.unread, ...account.unread],
  };
}

/** Pods that are not ready have causes of their own. */
function causesIn(
  name: ReleaseName,
  {state, agents}: ReleaseStatus,
  account: AccountStatus,
): Cause[] {
  const registered = new Set(
    agents.filter((each) => state === 'ready' || each.state === 'registered').map(({pod}) => pod),
  );
  return account.agents.flatMap(({pod, agent}) => {
    if (agent === undefined || !registered.has(pod)) return [];
    const collect = `Collect the logs: ${ownCommand('collect-logs', name)}`;
    if (agent.status === 'offline') {
      const seen = agent.lastSeen === undefined ? '' : ` (last seen ${agent.lastSeen})`;
      const reason = `The pod is running, but Scalr reports its agent as offline${seen}`;
      return [
        passing(
          `pod/${pod}`,
          'AGENT_OFFLINE',
          reason,
          `Check the network and the clock of the node, and the token. ${collect}`,
        ),
      ];
    }
    if (agent.status !== 'errored') return [];
    const reason = `Scalr reports an error of the agent: ${agent.error ?? 'no details'}`;
    return [passing(`pod/${pod}`, 'AGENT_ERRORED', reason, collect)];
  });
}

const DAY_MS = 86_400_000;
/** A new token takes a maintenance window. */
const EXPIRY_DAYS = 14;

function adviceIn({state, purpose}: ReleaseStatus, account: AccountStatus, now: Date): Advice[] {
  const {pool, isUnused, agents, withoutPod, tokens, host, quota} = account;
  const joined = agents.flatMap(({agent}) => agent ?? []);
  const versions = [...new Set(joined.flatMap(({version}) => version ?? []))].toSorted();
  const outdated = joined.filter(({upgrade}) => upgrade === 'medium' || upgrade === 'high');
  const soon = tokens.filter(
    ({expiresAt, isExpired}) =>
      !isExpired &&
      expiresAt !== null &&
      Date.parse(expiresAt) - now.getTime() < EXPIRY_DAYS * DAY_MS,
  );
  const missing =
    state === 'ready' ? agents.filter(({agent}) => agent === undefined).map(({pod}) => pod) : [];
  const when = (isTrue: boolean, code: string, message: string, remedy: string): Advice[] =>
    isTrue ? [{code, message, remedy}] : [];
  const howToLink =
    purpose === 'vcs' || pool?.isForVcs
      ? `Link a VCS provider: scalr-agent pool link ${pool?.id} --vcs-provider NAME`
      : `Link a workspace or an environment: scalr-agent pool link ${pool?.id} --workspace NAME`;
  return [
    ...when(
      isUnused === true,
      'POOL_NOT_LINKED',
      `Nothing is linked to agent pool ${pool?.name}, so it receives no runs`,
      howToLink,
    ),
    ...when(
      missing.length > 0,
      'AGENT_NOT_IN_ACCOUNT',
      `Scalr does not list an agent for each of these pods: ${few(missing)}`,
      `The agents have other names, or your user on ${host} has no permission agent-pools:read`,
    ),
    ...when(
      quota !== undefined && quota.used >= quota.allowed,
      'AGENT_QUOTA',
      `${host} allows ${count(quota?.allowed ?? 0, 'agent')}, and ${quota?.used} are connected`,
      'Uninstall agents that are not needed, or request a larger quota from Scalr',
    ),
    ...when(
      versions.length > 1,
      'MIXED_VERSIONS',
      `The agents have different versions: ${versions.join(', ')}`,
      'Wait until a running upgrade has finished, or upgrade the release again',
    ),
    ...when(
      outdated.length > 0,
      'UPGRADE_PENDING',
      `Scalr recommends an upgrade of ${count(outdated.length, 'agent')}`,
      'Show the plan: scalr-agent upgrade --dry-run',
    ),
    ...when(
      withoutPod.length > 0,
      'AGENT_WITHOUT_POD',
      `${count(withoutPod.length, 'agent')} of earlier pods ${withoutPod.length === 1 ? 'is' : 'are'} offline in Scalr: ${few(withoutPod.map((each) => each.name))}`,
      'Nothing to do: Scalr removes offline agents after 4 hours',
    ),
    ...soon.map(({id, expiresAt}) => ({
      code: 'TOKEN_EXPIRES',
      message: `Token ${id} of agent pool ${pool?.name} expires at ${expiresAt}`,
      remedy: `If an agent uses it, create another one: scalr-agent pool token create ${pool?.id}`,
    })),
  ];
}
