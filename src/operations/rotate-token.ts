import {scalrChart, type Target} from '../charts/define.ts';
import type {Clock} from '../ground/async.ts';
import {ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {ExitCode, type ExpectedError, failed, interrupted, RUN_AGAIN} from '../ground/errors.ts';
import type {Secret} from '../ground/secret.ts';
import {few} from '../ground/text.ts';
import type {ReleaseRecord} from '../helm/release-record.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {annotate} from '../kubernetes/kubectl.ts';
import {isMadeFor, type KubernetesObject, type SecretObject} from '../kubernetes/objects.ts';
import {getObject, REQUIRED_MS} from '../kubernetes/resources.ts';
import {type AccountToken, accountAnnotations, accountPoolIn, accountTokenIn, PREVIOUS_TOKEN, readsSecret} from '../release/namespace.ts';
import {type InstallFacts, readFacts} from '../release/read-release.ts';
import {readSnapshot} from '../release/read-snapshot.ts';
import {findPool, listAgents, listTokens, type PoolToken, type ScalrAgent, type ScalrPool} from '../scalr/account.ts';
import type {ScalrClient} from '../scalr/client.ts';
import {tokenSecret, tokenSecretKey} from '../settings/agent.ts';
import {readValues} from '../values/read-values.ts';
import {type AccountStep, revokeStep} from './account-steps.ts';
import {requireKnownVersion} from './debug.ts';
import {type PreparedPool, tokenAttributesOf, tokenCreationStep, unusedTokenStep} from './install-pool.ts';
import {restartSteps, secretSteps, withSecretUsers} from './install-secrets.ts';
import {inOrder, type Plan, type Step} from './step.ts';

/** An installed release and the Secret that its agents read the token from. */
export interface TokenHolder {
  name: ReleaseName;
  facts: InstallFacts & {release: ReleaseRecord};
  target: Target;
  secret: SecretObject;
  /** The key of the token. */
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
  const [secretName, key] = [settings.get(tokenSecret.id), settings.get(tokenSecretKey.id)];
  if (typeof secretName !== 'string' || typeof key !== 'string') throw inValues(name);
  const facts = await readFacts(name, [secretName], access, signal);
  const secret = facts.secrets.get(secretName);
  if (secret === undefined || !isMadeFor(secret, name.release)) throw notOurs(name, secretName, secret);
  return {name, facts: {...facts, release}, target, secret, key};
}

const inValues = (name: ReleaseName): ExpectedError =>
  failed('UNSUPPORTED_SETTING', `The token of release ${name.release} is in its Helm values, not in a Secret of its own.`, [
    `Move it to a Secret: ${ownCommand('upgrade', name)}`,
  ]);

function notOurs({release, kubeTarget}: ReleaseName, secret: string, found: SecretObject | undefined): ExpectedError {
  const reason = found === undefined ? 'does not exist' : `was not created by scalr-agent for release ${release}`;
  return failed(
    'OBJECT_NOT_OWNED',
    `Secret ${secret} in ${kubeTarget.namespace} ${reason}, so its content is not replaced.`,
    ['Replace the token where this Secret is managed, then restart the agent with kubectl rollout restart'],
    {exit: ExitCode.usage},
  );
}

/** What the Secret gets: the token, and the annotations that let an interrupted rotation continue. */
interface NewToken {
  text: Secret;
  /** Absent if the token was given by the user. */
  made?: AccountToken | undefined;
}

/** True if an earlier run has replaced the token and not revoked the old one. */
export const isUnfinished = ({secret}: TokenHolder): boolean => secret.metadata.annotations?.[PREVIOUS_TOKEN] !== undefined;

export const hasToken = ({secret, key}: TokenHolder, text: Secret): boolean =>
  secret.data?.[key] === Buffer.from(text.reveal(), 'utf8').toString('base64');

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
  };
  const wanted = {
    name,
    manifest: facts.installed,
    secrets: [
      {name: secret.metadata.name, type: 'Opaque' as const, annotations, data: {[key]: next?.text}, howToGive: '', flag: '--token-secret'},
    ],
  };
  const known = await withSecretUsers(facts, wanted, kubernetes, signal);
  return {steps: inOrder({secrets: secretSteps(wanted, known), restart: restartSteps(wanted, known)})};
}

export interface AccountRotation extends PreparedPool {
  client: ScalrClient;
  /** The token to revoke; undefined if it is not known, or already revoked. */
  previous: PoolToken | undefined;
  /** Working agents of the pool that do not belong to the release. They may use the same token. */
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
  {name, secret}: TokenHolder,
  needsToken: boolean,
  {kubernetes}: ClusterAccess,
  signal: AbortSignal,
): Promise<AccountRotation> {
  const options = {signal, idleMs: REQUIRED_MS};
  const [pool, system, pods] = await Promise.all([
    findPool(client, nameOrId),
    getObject<KubernetesObject>(kubernetes, 'namespaces', 'kube-system', options),
    agentPods(name, secret, kubernetes, signal),
  ]);
  const [tokens, agents] = await Promise.all([listTokens(client, pool), listAgents(client, pool.id)]);
  const attributes = tokenAttributesOf({
    ...{release: name.release, namespace: name.kubeTarget.namespace, clusterId: system.object?.metadata.uid},
  });
  const [current, replaced] = [accountTokenIn(secret)?.tokenId, secret.metadata.annotations?.[PREVIOUS_TOKEN]];
  const previous = tokens.find(({id}) => id === (replaced ?? current));
  const isUnused = ({id, description, lastUsedAt}: PoolToken): boolean =>
    description === attributes.description && lastUsedAt === null && id !== current && id !== replaced;
  // Without the ID of the cluster, the description can be that of another one; without that of the current token, it can be this one.
  const orphans = needsToken && system.object !== undefined && current !== undefined ? tokens.filter(isUnused) : [];
  return {
    ...{client, pool, previous, orphans, agentsBefore: new Set(), warnings: []},
    token: needsToken ? attributes : undefined,
    others: agents.filter((agent) => isWorking(agent) && !pods.includes(agent.name)),
    steps: [...orphans.map((each) => unusedTokenStep(each, pool)), ...(needsToken ? [tokenCreationStep(pool, attributes)] : [])],
    revocation: previous === undefined ? [] : [revocationStep(previous, pool)],
  };
}

const isWorking = ({status}: ScalrAgent): boolean => status === 'idle' || status === 'busy';

const revocationStep = (token: PoolToken, {name}: ScalrPool): AccountStep =>
  revokeStep(token, `Revoke token ${token.id} of agent pool ${name} when every agent uses the new one`);

/** Pods that read the Secret, without those of runs and those that are being deleted: each is an agent with the name of the pod. */
async function agentPods(
  name: ReleaseName,
  {metadata}: SecretObject,
  kubernetes: ClusterAccess['kubernetes'],
  signal: AbortSignal,
): Promise<string[]> {
  const {snapshot} = await readSnapshot(name, kubernetes, signal);
  return snapshot.pods
    .filter((pod) => readsSecret(metadata.name)(pod) && pod.metadata.deletionTimestamp === undefined)
    .filter((pod) => pod.metadata.ownerReferences?.some(({kind}) => kind === 'Job') !== true)
    .map((pod) => pod.metadata.name);
}

const POLL_MS = 5000;
/** An agent that is connected sends a heartbeat within 30 s. */
const HEARTBEAT_MS = 35_000;

interface ProofDeps extends Clock {
  kubernetes: ClusterAccess['kubernetes'];
  timeoutMs: number;
  interrupt: AbortSignal;
  onWait(text: string): void;
}

/**
 * Waits until Scalr reports the agent of every pod as idle or busy, and then until the old token is not used for the time of a
 * heartbeat. The pods have restarted already. Returns the names of the agents. @throws ExpectedError: the old token is still valid
 */
export async function proveMoved({name, secret}: TokenHolder, account: AccountRotation, deps: ProofDeps): Promise<string[]> {
  const {client, pool, previous} = account;
  const {kubernetes, timeoutMs, interrupt, now, sleep, onWait} = deps;
  const end = now().getTime() + timeoutMs;
  const keeps = `Token ${previous?.id} is still valid.`;
  onWait('Waiting for Scalr to report every agent');
  for (;;) {
    const pods = await agentPods(name, secret, kubernetes, AbortSignal.timeout(timeoutMs));
    const agents = await listAgents(client, pool.id);
    const missing = pods.filter((pod) => !agents.some((agent) => agent.name === pod && isWorking(agent)));
    if (pods.length > 0 && missing.length === 0) {
      if (previous !== undefined) await requireUnused(previous, pool, client, keeps);
      return pods;
    }
    if (interrupt.aborted) throw interrupted(`The agents have restarted with the new token. ${keeps}`, interrupt);
    if (now().getTime() >= end) throw notMoved(missing, agents, pool, keeps);
    await sleep(POLL_MS, interrupt);
  }

  async function requireUnused({id}: PoolToken, from: ScalrPool, account: ScalrClient, text: string): Promise<void> {
    const lastUse = async (): Promise<string | null | undefined> =>
      (await listTokens(account, from)).find((token) => token.id === id)?.lastUsedAt;
    const before = await lastUse();
    onWait(`Checking for ${HEARTBEAT_MS / 1000} s that nothing uses token ${id}`);
    await sleep(HEARTBEAT_MS, interrupt);
    if (interrupt.aborted) throw interrupted(`The agents have restarted with the new token. ${text}`, interrupt);
    const after = await lastUse();
    if (after === before || after === undefined) return;
    throw failed('OBJECT_NOT_OWNED', `Something outside of release ${name.release} has used token ${id} at ${after}. ${text}`, [
      `Find the agents of the pool: scalr-agent pool show ${from.id}`,
      howToRevoke(from, id),
    ]);
  }
}

const howToRevoke = ({id: pool}: ScalrPool, token: string): string =>
  `Revoke it when nothing uses it: scalr-agent pool token revoke ${pool} ${token}`;

function notMoved(missing: readonly string[], agents: readonly ScalrAgent[], pool: ScalrPool, keeps: string): ExpectedError {
  const states = missing.map((pod) => `${pod} (${agents.find((agent) => agent.name === pod)?.status ?? 'not registered'})`);
  return failed('TIMED_OUT', `Scalr does not report every agent as idle or busy: ${few(states)}. ${keeps}`, [
    `Show the agents: scalr-agent pool show ${pool.id}`,
    RUN_AGAIN,
  ]);
}

/** The token is not revoked: agents of others may use it. */
export const usedByOthers = ({release}: ReleaseName, {pool, others, previous}: AccountRotation): ExpectedError =>
  failed(
    'OBJECT_NOT_OWNED',
    `The agents of release ${release} use the new token. Token ${previous?.id} is still valid, because other agents of pool ${pool.name} may use it: ${few(others.map((each) => each.name))}.`,
    [`If they have tokens of their own, run the same command again with --confirm ${release}`],
  );

/** Forgets the replaced token after it was revoked. */
export const forgetPrevious = ({name: {kubeTarget}, secret}: TokenHolder): Step => ({
  id: `rotated/${secret.metadata.name}`,
  title: `Remove the ID of the revoked token from Secret ${secret.metadata.name}`,
  call: annotate(kubeTarget, {kind: 'Secret', name: secret.metadata.name}, {[PREVIOUS_TOKEN]: null}),
});
