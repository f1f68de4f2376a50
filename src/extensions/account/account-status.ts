import type {ScalrAgent} from '../../checks/status/account.ts';
import type {AccountStatus, ReleaseStatus} from '../../checks/status/status.ts';
import {ownCommand, type ReleaseName} from '../../ground/command-line.ts';
import {type ExpectedError, onFailure} from '../../ground/errors.ts';
import {
  type Finding,
  type ObjectFinding,
  objectFinding,
  remediesOf,
  unknownOf,
} from '../../ground/finding.ts';
import {count, few} from '../../ground/text.ts';
import {findAgents, linksOf, listAgents, listTokens, readQuota} from './account.ts';
import type {ScalrClient} from './client.ts';
import {findPool} from './find-object.ts';

/** An agent connects with the name of its pod. If Scalr does not know the first pods, it will not know the others. */
const MAX_LOOKUPS = 3;

/** Finds the pool of a release by the names of its pods, and reads its agents. Read-only. @throws ExpectedError */
export async function readAccountStatus(
  client: ScalrClient,
  {agents: pods, workloads}: ReleaseStatus,
): Promise<AccountStatus> {
  const names = pods.map(({pod}) => pod);
  const unread: ObjectFinding[] = [];
  const optional: Optional = (what, part) =>
    part.catch(
      onFailure((failure) => {
        unread.push(unreadOfAccount(what, failure));
        return undefined;
      }),
    );
  const poolId = await poolOfPods(client, names);
  const reading = poolId === undefined ? NOTHING : await readPool(client, poolId, optional);
  const {known, ...read} = reading;
  const agents = names.map((pod) => ({
    pod,
    agent: onlyOne(known.filter(({name}) => name === pod)),
  }));
  const prefixes = workloads.map(({object}) => `${object.replace(/^.*\//, '')}-`);
  return {
    ...read,
    host: client.host,
    agents,
    // A full account is a reason for missing agents.
    quota: agents.some(({agent}) => agent === undefined)
      ? await optional('agent quota of the account', readQuota(client))
      : undefined,
    withoutPod: known.filter(
      ({name, status}) =>
        status === 'offline' &&
        !names.includes(name) &&
        prefixes.some((prefix) => name.startsWith(prefix)),
    ),
    unread,
  };
}

/** Undefined for a part that could not be read, which is then unknown. */
type Optional = <T>(what: string, part: Promise<T>) => Promise<T | undefined>;

type PoolReading = Pick<AccountStatus, 'pool' | 'isUnused' | 'tokens'> & {
  known: readonly ScalrAgent[];
};

const NOTHING: PoolReading = {
  pool: undefined,
  isUnused: undefined,
  tokens: [],
  known: [],
};

async function readPool(
  client: ScalrClient,
  poolId: string,
  optional: Optional,
): Promise<PoolReading> {
  const [pool, known, tokens] = await Promise.all([
    findPool(client, poolId),
    listAgents(client, poolId),
    optional('tokens of the agent pool', listTokens(client, {id: poolId, name: poolId})),
  ]);
  // Scalr reports most uses itself.
  const isUsed = pool.isInUse || pool.isDefault;
  const links = isUsed
    ? undefined
    : await optional('links of the agent pool', linksOf(client, pool));
  const isUnused = links && links.workspaces.length + links.vcsProviders.length === 0;
  return {pool, known, tokens: tokens ?? [], isUnused: isUsed ? false : isUnused};
}

export const unreadOfAccount = (what: string, error: ExpectedError): ObjectFinding =>
  unknownOf(what, error, 'Run the command again, or with --no-account');

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
): ObjectFinding[] {
  const registered = new Set(
    agents.filter((each) => state === 'ready' || each.state === 'registered').map(({pod}) => pod),
  );
  return account.agents.flatMap(({pod, agent}) => {
    if (agent === undefined || !registered.has(pod)) return [];
    const collect = `Collect the logs: ${ownCommand('collect-logs', name)}`;
    if (agent.status === 'offline') {
      const seen = agent.lastSeen === undefined ? '' : ` (last seen ${agent.lastSeen})`;
      return [
        objectFinding('warning', `pod/${pod}`, 'AGENT_OFFLINE', {
          message: `The pod is running, but Scalr reports its agent as offline${seen}`,
          remedy: `Check the network and the clock of the node, and the token. ${collect}`,
        }),
      ];
    }
    if (agent.status !== 'errored') return [];
    const message = `Scalr reports an error of the agent: ${agent.error ?? 'no details'}`;
    return [objectFinding('warning', `pod/${pod}`, 'AGENT_ERRORED', {message, remedy: collect})];
  });
}

const DAY_MS = 86_400_000;
/** A new token takes a maintenance window. */
const EXPIRY_DAYS = 14;

/** A condition, and what is advised under it. */
interface AdviceRow extends Pick<Finding, 'code' | 'verdict' | 'message'> {
  when: boolean;
  remedy: string;
}

const adviceIn = (status: ReleaseStatus, account: AccountStatus, now: Date): Finding[] =>
  [...poolAdvice(status, account), ...agentAdvice(status, account), ...expiryAdvice(account, now)]
    .filter(({when}) => when)
    .map(({code, verdict, message, remedy}) => ({
      code,
      verdict,
      subject: {},
      message,
      remedies: remediesOf(remedy),
    }));

function poolAdvice({purpose}: ReleaseStatus, {pool, isUnused}: AccountStatus): AdviceRow[] {
  const howToLink =
    purpose === 'vcs' || pool?.isForVcs
      ? `Link a VCS provider: scalr-agent pool link ${pool?.id} --vcs-provider NAME`
      : `Link a workspace or an environment: scalr-agent pool link ${pool?.id} --workspace NAME`;
  return [
    {
      when: isUnused === true,
      code: 'POOL_NOT_LINKED',
      verdict: 'warning',
      message: `Nothing is linked to agent pool ${pool?.name}, so it receives no runs`,
      remedy: howToLink,
    },
  ];
}

function agentAdvice(
  {state}: ReleaseStatus,
  {agents, withoutPod, host, quota}: AccountStatus,
): AdviceRow[] {
  const joined = agents.flatMap(({agent}) => agent ?? []);
  const versions = [...new Set(joined.flatMap(({version}) => version ?? []))].toSorted();
  const outdated = joined.filter(({upgrade}) => upgrade === 'medium' || upgrade === 'high');
  const missing = agents.filter(({agent}) => agent === undefined).map(({pod}) => pod);
  return [
    {
      when: state === 'ready' && missing.length > 0,
      code: 'AGENT_NOT_IN_ACCOUNT',
      verdict: 'unknown',
      message: `Scalr does not list an agent for each of these pods: ${few(missing)}`,
      remedy: `The agents have other names, or your user on ${host} has no permission agent-pools:read`,
    },
    {
      when: quota !== undefined && quota.used >= quota.allowed,
      code: 'AGENT_QUOTA',
      verdict: 'warning',
      message: `${host} allows ${count(quota?.allowed ?? 0, 'agent')}, and ${quota?.used} are connected`,
      remedy: 'Uninstall agents that are not needed, or request a larger quota from Scalr',
    },
    {
      when: versions.length > 1,
      code: 'MIXED_VERSIONS',
      verdict: 'note',
      message: `The agents have different versions: ${versions.join(', ')}`,
      remedy: 'Wait until a running upgrade has finished, or upgrade the release again',
    },
    {
      when: outdated.length > 0,
      code: 'UPGRADE_PENDING',
      verdict: 'note',
      message: `Scalr recommends an upgrade of ${count(outdated.length, 'agent')}`,
      remedy: 'Show the plan: scalr-agent upgrade --dry-run',
    },
    {
      when: withoutPod.length > 0,
      code: 'AGENT_WITHOUT_POD',
      verdict: 'note',
      message: `${count(withoutPod.length, 'agent')} of earlier pods ${withoutPod.length === 1 ? 'is' : 'are'} offline in Scalr: ${few(withoutPod.map((each) => each.name))}`,
      remedy: 'Nothing to do: Scalr removes offline agents after 4 hours',
    },
  ];
}

const expiryAdvice = ({pool, tokens}: AccountStatus, now: Date): AdviceRow[] =>
  tokens.map(({id, expiresAt, isExpired}) => ({
    when:
      !isExpired &&
      expiresAt !== null &&
      Date.parse(expiresAt) - now.getTime() < EXPIRY_DAYS * DAY_MS,
    code: 'TOKEN_EXPIRES',
    verdict: 'warning',
    message: `Token ${id} of agent pool ${pool?.name} expires at ${expiresAt}`,
    remedy: `If an agent uses it, create another one: scalr-agent pool token create ${pool?.id}`,
  }));
