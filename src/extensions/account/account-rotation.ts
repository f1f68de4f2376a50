import type {PoolToken, ScalrAgent} from '../../checks/status/account.ts';
import type {Clock} from '../../ground/async.ts';
import {type ExpectedError, failed, interrupted, RUN_AGAIN} from '../../ground/errors.ts';
import type {Interrupts} from '../../ground/system/system.ts';
import {few} from '../../ground/text.ts';
import {listAgents, listTokens} from './account.ts';
import type {AccountStep} from './account-steps.ts';
import type {ScalrClient} from './client.ts';
import {findPool} from './find-object.ts';
import {type TokenPlan, tokenPlan, unusedTokens} from './release-token.ts';
import {revocationStep, type TokenAttributes} from './token-steps.ts';

/** Agents that read one token, and what is recorded beside the token. */
export interface TokenUsers {
  release: string;
  attributes: TokenAttributes;
  /** The attributes contain the ID of the cluster or of the machine, so no other one has them. */
  isIdentified: boolean;
  /** ID of the token in use; undefined if the user has given it. */
  current: string | undefined;
  /** ID of the token that an interrupted rotation has replaced, and not revoked. */
  replaced: string | undefined;
  /** Restarted agents have their old names. */
  keepsNames: boolean;
  /** Names of the agents, as Scalr shows them. */
  agents(): Promise<string[]>;
  /** Names of agents that an interrupted rotation has stopped; Scalr reports them as idle for half a minute. */
  stopped?: readonly string[];
}

export interface AccountRotation extends TokenPlan {
  client: ScalrClient;
  /** The token to revoke; undefined if it is not known, or already revoked. */
  previous: PoolToken | undefined;
  /** Working agents of the pool that are not among the users. They may use the same token. */
  others: readonly ScalrAgent[];
  revocation: readonly AccountStep[];
}

/**
 * Reads the pool. `needsToken` is false if the user gives the token, or if an interrupted rotation has written it already.
 * Read-only. @throws ExpectedError
 */
export async function readAccountRotation(
  client: ScalrClient,
  nameOrId: string,
  users: TokenUsers,
  needsToken: boolean,
): Promise<AccountRotation> {
  const {attributes, isIdentified, current, replaced, stopped = []} = users;
  const [pool, names] = await Promise.all([findPool(client, nameOrId), users.agents()]);
  const [tokens, agents] = await Promise.all([
    listTokens(client, pool),
    listAgents(client, pool.id),
  ]);
  const previous = tokens.find(({id}) => id === (replaced ?? current));
  // If the current token is not known, it can be one of those.
  const orphans =
    needsToken && isIdentified && current !== undefined
      ? unusedTokens(tokens, attributes, [current, replaced])
      : [];
  const own = new Set([...names, ...stopped]);
  const title = `Revoke token ${previous?.id} of agent pool ${pool.name} when every agent uses the new one`;
  return {
    ...tokenPlan({
      pool,
      orphans,
      token: needsToken ? attributes : undefined,
      agentsBefore: new Set(agents.map(({id}) => id)),
    }),
    client,
    previous,
    others: agents.filter((agent) => isWorking(agent) && !own.has(agent.name)),
    revocation: previous === undefined ? [] : [revocationStep(previous, title)],
  };
}

const isWorking = ({status}: ScalrAgent): boolean => status === 'idle' || status === 'busy';

const POLL_MS = 5000;
/** An agent that is connected sends a heartbeat within 30 s. */
const HEARTBEAT_MS = 35_000;

interface ProofDeps extends Clock {
  timeoutMs: number;
  interrupts: Pick<Interrupts, 'interrupt'>;
  onWait(text: string): void;
}

/**
 * Waits until Scalr reports every restarted agent as idle or busy, and then until the old token is not used for the time of a heartbeat.
 * Returns the names of the agents. @throws ExpectedError: the old token is still valid
 */
export async function verifyAgentsUseToken(
  users: TokenUsers,
  account: AccountRotation,
  deps: ProofDeps,
): Promise<string[]> {
  const names = await awaitRestartedAgents(users, account, deps);
  if (account.previous !== undefined) await requireUnused(account.previous, users, account, deps);
  return names;
}

async function awaitRestartedAgents(
  users: TokenUsers,
  account: AccountRotation,
  deps: ProofDeps,
): Promise<string[]> {
  const {client, pool, agentsBefore} = account;
  const {timeoutMs, now, sleep, onWait, interrupts} = deps;
  const end = now().getTime() + timeoutMs;
  // An agent that keeps its name can be the old one until its next heartbeat.
  let heartbeats: ReadonlyMap<string, string | undefined> | undefined;
  onWait('Waiting for Scalr to report every agent');
  for (;;) {
    const names = await users.agents();
    const agents = await listAgents(client, pool.id);
    heartbeats ??= new Map(users.keepsNames ? agents.map(({id, lastSeen}) => [id, lastSeen]) : []);
    const hasMoved = ({id, lastSeen}: ScalrAgent): boolean =>
      !agentsBefore.has(id) || heartbeats?.get(id) !== lastSeen;
    const moved = new Set(
      agents.filter((agent) => isWorking(agent) && hasMoved(agent)).map(({name}) => name),
    );
    const missing = names.filter((name) => !moved.has(name));
    if (names.length > 0 && missing.length === 0) return names;
    refuseInterrupt(account, deps);
    if (now().getTime() >= end) throw notMoved(missing, agents, account);
    await sleep(POLL_MS, interrupts.interrupt);
  }
}

async function requireUnused(
  {id}: PoolToken,
  {release}: TokenUsers,
  account: AccountRotation,
  deps: ProofDeps,
): Promise<void> {
  const {client, pool} = account;
  const lastUse = async (): Promise<string | null | undefined> =>
    (await listTokens(client, pool)).find((token) => token.id === id)?.lastUsedAt;
  const before = await lastUse();
  deps.onWait(`Checking for ${HEARTBEAT_MS / 1000} s that nothing uses token ${id}`);
  await deps.sleep(HEARTBEAT_MS, deps.interrupts.interrupt);
  refuseInterrupt(account, deps);
  const after = await lastUse();
  if (after === before || after === undefined) return;
  throw failed(
    'OBJECT_NOT_OWNED',
    `Something outside of release ${release} has used token ${id} at ${after}. ${stillValid(account)}`,
    [
      `Find the agents of the pool: scalr-agent pool show ${pool.id}`,
      `Revoke it when nothing uses it: scalr-agent pool token revoke ${pool.id} ${id}`,
    ],
  );
}

const stillValid = ({previous}: AccountRotation): string =>
  previous === undefined ? '' : `Token ${previous.id} is still valid.`;

function refuseInterrupt(
  account: AccountRotation,
  {interrupts: {interrupt}}: Pick<ProofDeps, 'interrupts'>,
): void {
  if (!interrupt.aborted) return;
  const text = `The agents have restarted with the new token. ${stillValid(account)}`;
  throw interrupted(text.trim(), interrupt);
}

function notMoved(
  missing: readonly string[],
  agents: readonly ScalrAgent[],
  account: AccountRotation,
): ExpectedError {
  const statusOf = (name: string): string =>
    agents.find((agent) => agent.name === name)?.status ?? 'not registered';
  const states = missing.map((name) => `${name} (${statusOf(name)})`);
  const text = `Scalr does not report every agent as idle or busy: ${few(states)}. ${stillValid(account)}`;
  return failed('TIMED_OUT', text.trim(), [
    `Show the agents: scalr-agent pool show ${account.pool.id}`,
    RUN_AGAIN,
  ]);
}

/** The token is not revoked: agents of others may use it. */
export const tokenUsedByOthers = (
  release: string,
  {pool, others, previous}: AccountRotation,
): ExpectedError =>
  failed(
    'OBJECT_NOT_OWNED',
    `The agents of release ${release} use the new token. Token ${previous?.id} is still valid, because other agents of pool ${pool.name} may use it: ${few(others.map((each) => each.name))}.`,
    [`If they have their own tokens, run the same command again with --confirm ${release}`],
  );
