import {scalrChart, type Target} from '../../charts/define.ts';
import {readSnapshot} from '../../checks/diagnose/read-snapshot.ts';
import type {ReleaseRecord} from '../../cluster/helm/release-record.ts';
import type {ClusterAccess} from '../../cluster/helm/releases.ts';
import {annotate} from '../../cluster/kubernetes/changes.ts';
import {
  isOwnFor,
  type KubernetesObject,
  type SecretObject,
} from '../../cluster/kubernetes/objects.ts';
import {getObject, REQUIRED_MS} from '../../cluster/kubernetes/resources.ts';
import {
  type AccountToken,
  accountAnnotations,
  accountPoolIn,
  accountTokenIn,
  PREVIOUS_TOKEN,
  ROTATED,
} from '../../cluster/release/namespace.ts';
import {readsSecret} from '../../cluster/release/object-users.ts';
import {type InstallFacts, readFacts} from '../../cluster/release/read-release.ts';
import type {Clock} from '../../ground/async.ts';
import {ownCommand, type ReleaseName} from '../../ground/command-line.ts';
import {ExitCode, type ExpectedError, failed, interrupted, RUN_AGAIN} from '../../ground/errors.ts';
import type {Secret} from '../../ground/secret.ts';
import type {Interrupts} from '../../ground/system/system.ts';
import {few} from '../../ground/text.ts';
import {requireKnownVersion} from '../../operations/debug.ts';
import {restartSteps, secretSteps, withSecretUsers} from '../../operations/install-secrets.ts';
import {runWarnings} from '../../operations/restart-warnings.ts';
import {inOrder, type Plan, type Step} from '../../operations/step.ts';
import {tokenSecret, tokenSecretKey} from '../../settings/agent.ts';
import {readValues} from '../../values/read-values.ts';
import {
  findPool,
  listAgents,
  listTokens,
  type PoolToken,
  type ScalrAgent,
  type ScalrPool,
} from './account.ts';
import {type AccountStep, revokeStep} from './account-steps.ts';
import type {ScalrClient} from './client.ts';
import {type TokenPlan, tokenAttributesOf, tokenPlan, unusedTokens} from './install-pool.ts';
import type {TokenAttributes} from './tokens.ts';

/** An installed release and the Secret that its agents read the token from. */
export interface TokenHolder {
  name: ReleaseName;
  facts: InstallFacts & {release: ReleaseRecord};
  target: Target;
  secret: SecretObject;
  key: string;
}

/** Reads the release and its Secret. Read-only. @throws ExpectedError if the Secret is not one that this program writes */
export async function readTokenHolder(
  name: ReleaseName,
  release: ReleaseRecord,
  access: ClusterAccess,
  signal: AbortSignal,
): Promise<TokenHolder> {
  const target = scalrChart(release.chart) as Target;
  requireKnownVersion(name, target);
  const {settings} = readValues(release.values, target);
  const secretName = settings.get(tokenSecret.id);
  const key = settings.get(tokenSecretKey.id);
  if (typeof secretName !== 'string' || typeof key !== 'string')
    throw failed(
      'UNSUPPORTED_SETTING',
      `The token of release ${name.release} is in its Helm values, not in its own Secret.`,
      [`Move it to a Secret: ${ownCommand('upgrade', name)}`],
    );
  const facts = await readFacts(name, [secretName], access, signal);
  const secret = facts.secrets.get(secretName);
  if (secret === undefined || !isOwnFor(secret, name.release))
    throw notOurs(name, secretName, secret);
  return {name, facts: {...facts, release}, target, secret, key};
}

function notOurs(
  {release, kubeTarget}: ReleaseName,
  secret: string,
  found: SecretObject | undefined,
): ExpectedError {
  const reason =
    found === undefined
      ? 'does not exist'
      : `was not created by scalr-agent for release ${release}`;
  return failed(
    'OBJECT_NOT_OWNED',
    `Secret ${secret} in ${kubeTarget.namespace} ${reason}, so its content is not replaced.`,
    [
      'Replace the token where this Secret is managed, then restart the agent with kubectl rollout restart',
    ],
    {exit: ExitCode.usage},
  );
}

/** What the Secret gets: the token, and the annotations that let an interrupted rotation continue. */
interface NewToken {
  text: Secret;
  /** Absent if the token was given by the user. */
  made?: AccountToken | undefined;
}

/** Steps in the cluster: the Secret, if there is a new token, and the restart of what reads it. @throws ExpectedError */
export async function planRotation(
  {name, facts, secret, key}: TokenHolder,
  next: NewToken | undefined,
  {kubernetes}: ClusterAccess,
  signal: AbortSignal,
): Promise<Plan> {
  const old = secret.metadata.annotations?.[PREVIOUS_TOKEN] ?? accountTokenIn(secret)?.tokenId;
  const account = next?.made ?? accountPoolIn(secret);
  const annotations = {
    ...(account === undefined ? {} : accountAnnotations(account)),
    ...(old === undefined ? {} : {[PREVIOUS_TOKEN]: old}),
    [ROTATED]: new Date().toISOString(),
  };
  const desired = {
    name,
    manifest: facts.installed,
    secrets: [
      {
        name: secret.metadata.name,
        type: 'Opaque' as const,
        annotations,
        data: {[key]: next?.text},
        howToGive: '',
        flag: '--token-secret',
      },
    ],
  };
  const known = await withSecretUsers(facts, desired, kubernetes, signal);
  const steps = inOrder({
    secrets: secretSteps(desired, known),
    restart: restartSteps(desired, known),
  });
  const manifest = facts.installed;
  return {
    steps,
    warnings: await runWarnings({name, steps, manifest, facts: known}, {kubernetes}, signal),
  };
}

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

/** The agents of a release: each has the name of its pod. @throws ExpectedError */
export async function agentsOfRelease(
  {name, secret}: TokenHolder,
  {kubernetes}: Pick<ClusterAccess, 'kubernetes'>,
  timeoutMs: number,
): Promise<TokenUsers> {
  const options = {signal: AbortSignal.timeout(timeoutMs), idleMs: REQUIRED_MS};
  const {object: system} = await getObject<KubernetesObject>(
    kubernetes,
    'namespaces',
    'kube-system',
    options,
  );
  const {release, kubeTarget} = name;
  return {
    release,
    isIdentified: system !== undefined,
    keepsNames: false,
    attributes: tokenAttributesOf({
      release,
      namespace: kubeTarget.namespace,
      clusterId: system?.metadata.uid,
    }),
    current: accountTokenIn(secret)?.tokenId,
    replaced: secret.metadata.annotations?.[PREVIOUS_TOKEN],
    async agents() {
      const {snapshot} = await readSnapshot(name, kubernetes, AbortSignal.timeout(timeoutMs));
      return snapshot.pods
        .filter(
          (pod) =>
            readsSecret(secret.metadata.name)(pod) && pod.metadata.deletionTimestamp === undefined,
        )
        .filter((pod) => pod.metadata.ownerReferences?.some(({kind}) => kind === 'Job') !== true)
        .map((pod) => pod.metadata.name);
    },
  };
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
    others: agents.filter(
      (agent) => isWorking(agent) && ![...names, ...stopped].includes(agent.name),
    ),
    revocation: previous === undefined ? [] : [revokeStep(previous, title)],
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
  const {client, pool, previous, agentsBefore} = account;
  const {timeoutMs, now, sleep, onWait} = deps;
  const {interrupt} = deps.interrupts;
  const end = now().getTime() + timeoutMs;
  const keeps = previous === undefined ? '' : `Token ${previous.id} is still valid.`;
  const requireTime = (): void => {
    if (interrupt.aborted)
      throw interrupted(`The agents have restarted with the new token. ${keeps}`.trim(), interrupt);
  };
  // An agent that keeps its name can be the old one until its next heartbeat.
  let heartbeats: ReadonlyMap<string, string | undefined> | undefined;
  onWait('Waiting for Scalr to report every agent');
  for (;;) {
    const names = await users.agents();
    const agents = await listAgents(client, pool.id);
    heartbeats ??= new Map(users.keepsNames ? agents.map(({id, lastSeen}) => [id, lastSeen]) : []);
    const hasMoved = (agent: ScalrAgent): boolean =>
      !agentsBefore.has(agent.id) || heartbeats?.get(agent.id) !== agent.lastSeen;
    const missing = names.filter(
      (name) => !agents.some((agent) => agent.name === name && isWorking(agent) && hasMoved(agent)),
    );
    if (names.length > 0 && missing.length === 0) {
      if (previous !== undefined) await requireUnused(previous);
      return names;
    }
    requireTime();
    if (now().getTime() >= end) throw notMoved(missing, agents, pool, keeps);
    await sleep(POLL_MS, interrupt);
  }

  async function requireUnused({id}: PoolToken): Promise<void> {
    const lastUse = async (): Promise<string | null | undefined> =>
      (await listTokens(client, pool)).find((token) => token.id === id)?.lastUsedAt;
    const before = await lastUse();
    onWait(`Checking for ${HEARTBEAT_MS / 1000} s that nothing uses token ${id}`);
    await sleep(HEARTBEAT_MS, interrupt);
    requireTime();
    const after = await lastUse();
    if (after === before || after === undefined) return;
    throw failed(
      'OBJECT_NOT_OWNED',
      `Something outside of release ${users.release} has used token ${id} at ${after}. ${keeps}`,
      [
        `Find the agents of the pool: scalr-agent pool show ${pool.id}`,
        `Revoke it when nothing uses it: scalr-agent pool token revoke ${pool.id} ${id}`,
      ],
    );
  }
}

function notMoved(
  missing: readonly string[],
  agents: readonly ScalrAgent[],
  pool: ScalrPool,
  keeps: string,
): ExpectedError {
  const states = missing.map(
    (name) =>
      `${name} (${agents.find((agent) => agent.name === name)?.status ?? 'not registered'})`,
  );
  return failed(
    'TIMED_OUT',
    `Scalr does not report every agent as idle or busy: ${few(states)}. ${keeps}`.trim(),
    [`Show the agents: scalr-agent pool show ${pool.id}`, RUN_AGAIN],
  );
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

/** Forgets the replaced token after it was revoked. */
export const removePreviousToken = ({name: {kubeTarget}, secret}: TokenHolder): Step => ({
  id: `rotated/${secret.metadata.name}`,
  title: `Remove the ID of the revoked token from Secret ${secret.metadata.name}`,
  call: annotate(
    kubeTarget,
    {kind: 'Secret', name: secret.metadata.name},
    {[PREVIOUS_TOKEN]: null},
  ),
});
