import {readSnapshot} from '../checks/diagnose/read-snapshot.ts';
import type {ScalrPool} from '../checks/status/account.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {requireAnswer} from '../cluster/kubernetes/api-error.ts';
import type {KubernetesObject, SecretObject} from '../cluster/kubernetes/objects.ts';
import {getObject, REQUIRED_MS} from '../cluster/kubernetes/resources.ts';
import {accountTokenIn} from '../cluster/release/account-token.ts';
import {PLACEHOLDER} from '../cluster/release/desired-release.ts';
import {linksOf} from '../extensions/account/account.ts';
import type {AccountDeps, AccountStep} from '../extensions/account/account-steps.ts';
import {awaitAgents} from '../extensions/account/await-agents.ts';
import type {ScalrClient} from '../extensions/account/client.ts';
import {
  type CreatedToken,
  installWithPool,
  type PreparedPool,
  preparePool,
} from '../extensions/account/install-pool.ts';
import {accountPlanText} from '../extensions/account/plan-text.ts';
import type {Clock} from '../ground/async.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {failed} from '../ground/errors.ts';
import type {SettingFinding} from '../ground/finding.ts';
import type {Secret} from '../ground/secret.ts';
import {token, tokenFile, tokenSecret, url} from '../settings/agent.ts';
import {purpose} from '../settings/purpose.ts';
import type {Settings} from '../settings/settings.ts';
import type {GeneratedValues} from '../values/generate.ts';
import type {CommandContext} from './operate.ts';

/** What `install --pool` reports: `agents` are those that Scalr reports as idle or busy; absent if the install did not wait. */
export type PoolResult = ReturnType<typeof resultOf> & {agents?: string[]};

/** An install whose token comes from the Scalr account. */
export interface PoolInstall {
  client: ScalrClient;
  /** Name or ID. */
  pool: string;
  creates: boolean;
}

/** The part of an install that concerns the account. */
export interface PlannedPool {
  client: ScalrClient;
  prepared: PreparedPool;
  steps: readonly AccountStep[];
  warnings: readonly SettingFinding[];
  /** Of a dry run. */
  planned: PoolResult;
  text: string;
  /** With a placeholder for the token, until the plan is confirmed. */
  generated: GeneratedValues;
}

/** The release that uses the pool. */
interface PoolUse {
  generated: GeneratedValues;
  name: ReleaseName;
  access: ClusterAccess;
  context: CommandContext;
}

type PoolRunDeps = AccountDeps & Clock & {onWait(text: string): void};

export const withToken = (generated: GeneratedValues, value: Secret): GeneratedValues => ({
  ...generated,
  settings: generated.settings.with(token, {value, source: 'prompt'}),
});

/** The agent connects to the account of the pool. @throws ExpectedError if the installed release connects to another one */
export function withAccountUrl(settings: Settings, {client}: PoolInstall): Settings {
  const address = settings.get(url);
  if (address === undefined)
    return settings.with(url, {value: `https://${client.host}`, source: 'prompt'});
  if (new URL(address).host === client.host) return settings;
  throw failed(
    'CONFLICTING_SETTINGS',
    `The agent pool is on ${client.host}, but the agent connects to ${address}.`,
    [
      `Select the account with --url ${address}`,
      `Or connect the agent to the other account: --url https://${client.host}`,
    ],
  );
}

/** Reads the account and the Secret of the release, and plans the steps; changes nothing. @throws ExpectedError */
export async function planPool(
  {client, pool, creates}: PoolInstall,
  {generated, name, access, context}: PoolUse,
): Promise<PlannedPool> {
  const {settings} = generated;
  const {screen, timeoutMs, app} = context;
  refuseToken(settings, app.env);
  const user = {
    release: name.release,
    namespace: name.kubeTarget.namespace,
    isForVcs: settings.get(purpose) === 'vcs',
    ...(await inCluster(settings, name, access, AbortSignal.timeout(timeoutMs))),
  };
  const prepared = await preparePool(client, {pool, creates}, user);
  const {steps, warnings, token: created} = prepared;
  return {
    client,
    prepared,
    steps,
    warnings,
    planned: {...resultOf(prepared, prepared.pool), created: false},
    text: steps.length === 0 ? '' : `${accountPlanText(steps, client, screen)}\n`,
    generated: created === undefined ? generated : withToken(generated, PLACEHOLDER),
  };
}

/** An install in a pool; without a result if it did not wait. */
export interface PoolInstallResult<T> {
  result: T | undefined;
  pool: PoolResult;
  /** What Scalr reports. */
  text: string;
}

/** Changes the account, installs, and waits for the agents to appear in the pool. @throws ExpectedError */
export async function installInPool<T>(
  {client, prepared}: PlannedPool,
  {name, access, context, isChanged}: PoolUse & {isChanged: boolean},
  deps: PoolRunDeps,
  install: (made: CreatedToken | undefined, keep: () => void) => Promise<T | undefined>,
): Promise<PoolInstallResult<T>> {
  const {result, pool: used} = await installWithPool(prepared, client, deps, install);
  const pool = resultOf(prepared, used);
  if (result === undefined) return {result, pool, text: ''};
  const {timeoutMs} = context;
  const signal = AbortSignal.timeout(timeoutMs);
  const {snapshot} = await readSnapshot(name, access.kubernetes, signal);
  deps.onWait(`Waiting for Scalr to report the agent in agent pool ${used.name}`);
  const agents = await awaitAgents(client, used, {
    pods: snapshot.pods.map(({metadata}) => metadata.name),
    agentsBefore: prepared.agentsBefore,
    timeoutMs: isChanged ? timeoutMs : 0,
    interrupt: deps.interrupts.interrupt,
    now: deps.now,
    sleep: deps.sleep,
  });
  const shown = agents.map((each) => `${each.name} (${each.status})`).join(', ');
  const text = `Scalr reports ${shown} in agent pool ${used.name}. ${await linkedText(client, used)}\n`;
  return {result, pool: {...pool, agents: agents.map((each) => each.name)}, text};
}

/** `id` is null in a dry run that would create the pool; without a new token, the Secret has a valid one. */
const resultOf = ({creation, token: attributes}: PreparedPool, {id, name}: ScalrPool) => ({
  id: id || null,
  name,
  created: creation !== undefined,
  newToken: attributes !== undefined,
});

/** What the pool serves, or the command that links it. */
async function linkedText(client: ScalrClient, pool: ScalrPool): Promise<string> {
  const {workspaces, vcsProviders} = await linksOf(client, pool).catch(() => ({
    workspaces: [],
    vcsProviders: [],
  }));
  const names = [...workspaces, ...vcsProviders].map(({name}) => name);
  if (names.length > 0) return `It serves ${names.join(', ')}.`;
  if (pool.isDefault) return 'It is the account default.';
  const link = pool.isForVcs
    ? `scalr-agent pool link ${pool.id} --vcs-provider NAME`
    : `scalr-agent pool link ${pool.id} --workspace NAME`;
  return `Nothing is linked to it: ${link}`;
}

async function inCluster(
  settings: Settings,
  {kubeTarget}: ReleaseName,
  {kubernetes}: ClusterAccess,
  signal: AbortSignal,
) {
  const options = {signal, idleMs: REQUIRED_MS};
  const {namespace} = kubeTarget;
  const [system, secret] = await Promise.all([
    getObject<KubernetesObject>(kubernetes, 'namespaces', 'kube-system', options),
    getObject<SecretObject>(kubernetes, 'secrets', settings.get(tokenSecret) as string, {
      ...options,
      namespace,
    }),
  ]);
  const {object} = requireAnswer(secret, kubeTarget);
  const tokenId = object && accountTokenIn(object)?.tokenId;
  return {
    clusterId: system.object?.metadata.uid,
    tokenId,
    isUnrecorded: object !== undefined && tokenId === undefined,
  };
}

/** @throws ExpectedError if a token is given as well */
function refuseToken(settings: Settings, env: Readonly<Record<string, string | undefined>>): void {
  if (settings.get(token) === undefined && settings.get(tokenFile) === undefined) return;
  const given = env[token.onlyEnv as string] ? token.onlyEnv : '--token-file';
  throw failed(
    'CONFLICTING_SETTINGS',
    `--pool creates a token, but one is also given with ${given}.`,
    [`Omit --pool, or remove ${given}`],
  );
}
