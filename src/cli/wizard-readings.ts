import {chartFor} from '../charts/chart-version.ts';
import {versionStatus} from '../charts/charts.ts';
import {scalrChart} from '../charts/releases/chart-name.ts';
import type {Target} from '../charts/releases/target.ts';
import {newestOf} from '../charts/releases/target.ts';
import type {ChartDefault} from '../charts/shared/row.ts';
import type {ScalrAgent, ScalrPool} from '../checks/status/account.ts';
import {readStatus} from '../checks/status/read-status.ts';
import type {ReleaseStatus} from '../checks/status/status.ts';
import {showChart} from '../cluster/helm/chart-calls.ts';
import {helmVersion} from '../cluster/helm/release-calls.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import type {SecretObject} from '../cluster/kubernetes/objects.ts';
import {isOwnFor} from '../cluster/kubernetes/own-objects.ts';
import {reviewAccess} from '../cluster/kubernetes/permissions.ts';
import {getObject, REQUIRED_MS} from '../cluster/kubernetes/resources.ts';
import {newestRevision} from '../cluster/release/read-release.ts';
import {listAgents, listPools} from '../extensions/account/account.ts';
import type {ScalrClient} from '../extensions/account/client.ts';
import type {ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import {ExpectedError, onFailure, TOKEN_REJECTED} from '../ground/errors.ts';
import {Secret} from '../ground/secret.ts';
import {count} from '../ground/text.ts';
import {getAt, isMap, sameTree, spellPath, type Tree, textAt, type Values} from '../ground/tree.ts';
import {token, tokenSecret, url} from '../settings/agent.ts';
import {set} from '../settings/chart-values.ts';
import {cloud, nodeOs} from '../settings/cluster.ts';
import type {Get, Setting} from '../settings/define.ts';
import {InvalidValue} from '../settings/kinds/kind.ts';
import {secretNamesOf} from '../settings/release.ts';
import {quote, type Settings} from '../settings/settings.ts';
import {agentCounts} from '../ui/agent-counts.ts';
import {parseAssignment} from '../values/assignment.ts';
import {readValues, writtenSettings} from '../values/reading/read-values.ts';
import type {InstalledAgent, Missing, OfferedPools} from '../wizard/gathered-facts.ts';
import type {ChosenPool, WizardState} from '../wizard/wizard-state.ts';
import {optionalAccount} from './account.ts';
import type {PoolInstall} from './install-pool.ts';
import type {CommandContext} from './operate.ts';

/** The pool for the code of `install --pool`. */
export const poolInstallOf = async (
  {host, name, id, mustExist = false}: ChosenPool,
  account: (host: string) => Promise<ScalrClient>,
): Promise<PoolInstall> => ({
  client: await account(host),
  pool: id ?? name,
  creates: id === undefined && !mustExist,
});

/** The flags that give the same pool. */
export const poolFlags = ({pool}: Pick<WizardState, 'pool'>): string[] =>
  pool === undefined
    ? []
    : [
        `--pool ${quote(pool.name)}${pool.id === undefined && !pool.mustExist ? ' --create-pool' : ''}`,
      ];

const NOTHING = onFailure(() => undefined);

/** Agent pools of the account, or the error of the request. Undefined without a Scalr API token. */
export async function offeredPools(
  settings: Settings,
  context: Pick<CommandContext, 'app' | 'version' | 'timeoutMs'>,
): Promise<OfferedPools | undefined> {
  const client = await optionalAccount(settings.get(url), settings, context).catch(NOTHING);
  if (client === undefined) return undefined;
  const {host} = client;
  const read = await Promise.all([listPools(client), listAgents(client)]).catch(
    onFailure((failure) => failure),
  );
  if (read instanceof ExpectedError) return {host, pools: [], problem: read.message.split('\n')[0]};
  const [pools, agents] = read;
  return {
    host,
    pools: pools.map((pool) => ({...pool, description: descriptionOf(pool, agents)})),
  };
}

function descriptionOf(pool: ScalrPool, agents: readonly ScalrAgent[]): string {
  const {id, isForVcs} = pool;
  const own = agentCounts(agents.filter(({poolId}) => poolId === id).map(({status}) => status));
  return [
    own === 'none' ? 'no agents' : `agents: ${own}`,
    ...(isForVcs ? ['for VCS access'] : []),
    useOf(pool),
  ].join(' · ');
}

function useOf({isDefault, isInUse, environments}: ScalrPool): string {
  if (isDefault) return 'account default';
  if (environments.length > 0) return `for ${environments.map(({name}) => name).join(', ')}`;
  return isInUse ? 'in use' : 'nothing is linked to it';
}

/** The release of this name with its settings. Undefined if there is none, it cannot be read, or its version is too old to be read. */
export async function installedAgent(
  name: ReleaseName,
  access: ClusterAccess & {now(): Date},
  signal: AbortSignal,
): Promise<InstalledAgent | undefined> {
  const newest = newestRevision(name, access, signal).catch(NOTHING);
  const reading = readStatus(name, {desired: undefined, signal}, access).catch(NOTHING);
  const [found, status] = await Promise.all([newest, reading]);
  const target = scalrChart(found?.chart ?? '');
  if (found === undefined || target === undefined || found.status === 'uninstalled')
    return undefined;
  if (versionStatus(target.chart, target.version).standing === 'older-than-known') return undefined;
  const settings = settingsOfRelease(found.values, target);
  const isTokenRejected = status?.causes.some(({code}) => code === TOKEN_REJECTED) ?? false;
  return {
    release: name.release,
    namespace: name.kubeTarget.namespace,
    ...target,
    status: found.status,
    live: status && liveText(status),
    cause: status?.state === 'ready' ? undefined : status?.causes[0],
    isTokenRejected,
    newTokenSecret: isTokenRejected
      ? await writableSecret(name, settings.get(tokenSecret.id), access, signal)
      : undefined,
    settings,
  };
}

/** All settings of a release: with these, an update changes nothing. Pure. */
export const settingsOfRelease = (values: Values, target: Target): Map<string, unknown> =>
  new Map([
    ...keptDefaults(values, target),
    ...writtenSettings(values, target),
    [set.id, unmappedValues(values, target)],
    ...tokenIn(values),
  ]);

/** A token in plain text, which an update moves to a Secret. */
function tokenIn(values: Values): [string, Secret][] {
  const text = textAt(values, 'agent.token');
  return text === '' ? [] : [[token.id, new Secret(text)]];
}

/** The Secret that a new token can be written to: the present one, unless somebody else has created it. */
async function writableSecret(
  {release, kubeTarget}: ReleaseName,
  present: unknown,
  {kubernetes}: ClusterAccess,
  signal: AbortSignal,
): Promise<string | undefined> {
  const {namespace} = kubeTarget;
  const {token: usual} = secretNamesOf(release);
  const candidates = [...(typeof present === 'string' ? [present] : []), usual, `${usual}-2`];
  for (const name of candidates) {
    const options = {namespace, signal, idleMs: REQUIRED_MS};
    const {object, error} = await getObject<SecretObject>(kubernetes, 'secrets', name, options);
    // Whose it is, the plan finds out.
    if (error !== undefined) return undefined;
    if (object === undefined || isOwnFor(object, release)) return name;
  }
  return undefined;
}

/** The chart defaults that a new install replaces, on whatever cloud: an installed release keeps them until the user edits them. */
function keptDefaults(values: Values, target: Target): Map<string, unknown> {
  const {settings} = readValues(values, target);
  const gets = PLATFORMS.map(
    (platform): Get =>
      <T>(setting: Setting<T>) =>
        (platform.get(setting.id) ?? settings.get(setting.id)) as T | undefined,
  );
  const isReplaced = ({setting, value}: ChartDefault): boolean =>
    gets.some((get) => {
      const derived = value(get)?.value;
      return derived !== undefined && derived !== settings.get(setting.id);
    });
  return new Map(
    chartFor(target)
      .defaults.filter((each) => settings.has(each.setting.id) && isReplaced(each))
      .map(({setting: {id}}) => [id, settings.get(id)]),
  );
}

/** Every cloud with every system of nodes. */
const PLATFORMS: readonly ReadonlyMap<string, string>[] = (cloud.kind.options ?? []).flatMap(
  (each) =>
    (nodeOs.kind.options ?? []).map(
      (system) =>
        new Map([
          [cloud.id, each],
          [nodeOs.id, system],
        ]),
    ),
);

/** "ready · 3 of 3 agents registered · 2 runs in flight" */
function liveText({state, agents, runs}: ReleaseStatus): string {
  return [
    state === 'ready' ? 'ready' : 'not ready',
    ...(agents.length === 0 ? [] : [registeredText(agents)]),
    ...(runs === undefined || runs.length === 0 ? [] : [`${count(runs.length, 'run')} in flight`]),
  ].join(' · ');
}

/** Not all logs are read, and not every log shows it. */
function registeredText(agents: ReleaseStatus['agents']): string {
  const {length} = agents.filter(({state}) => state === 'registered');
  if (length === 0) return 'registration unknown';
  const atLeast = length < agents.length ? 'at least ' : '';
  return `${atLeast}${length} of ${count(agents.length, 'agent')} registered`;
}

/** Values of the release that no setting expresses, as --set writes them; without those that its chart version does not know. */
export function unmappedValues(
  values: Values,
  target: Target,
): Readonly<Record<string, string>> | undefined {
  const textOf = (value: Tree): string =>
    isMap(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);
  const pairs = readValues(values, target).rest.flatMap((path) => {
    const value = getAt(values, path) as Tree;
    const pair = [spellPath(path), textOf(value)] as const;
    return isSame(() => parseAssignment(...pair, target).value, value) ? [pair] : [];
  });
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}

function isSame(read: () => Tree, value: Tree): boolean {
  try {
    return sameTree(read(), value);
  } catch (error) {
    if (error instanceof InvalidValue) return false;
    throw error;
  }
}

interface TryOptions {
  kubeTarget: ClusterTarget;
  access: ClusterAccess;
  signal: AbortSignal;
  /** The chart is not in the public repository. */
  hasOwnChart: boolean;
}

/** What an install needs: to create these in the namespace. */
const CREATED = [
  {verb: 'create', resource: 'secrets'},
  {verb: 'create', group: 'apps', resource: 'deployments'},
];

/** Messages of helm about a repository that does not answer; other errors are left to the review. */
const UNREACHABLE =
  /cannot be reached|no such host|connection refused|i\/o timeout|Client\.Timeout|x509|proxyconnect|server misbehaving/i;

/** Tries what an install needs. An unknown fact is not reported as missing. */
export async function tryRequirements({
  kubeTarget,
  access,
  signal,
  hasOwnChart,
}: TryOptions): Promise<Missing[]> {
  const {processes, kubernetes} = access;
  try {
    await processes.run(helmVersion, {signal});
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return error.code === 'TOOL_NOT_FOUND'
      ? [{what: 'helm', text: error.message.replace(/\.$/, '')}]
      : [];
  }
  const repository = async (): Promise<Missing[]> => {
    if (hasOwnChart) return [];
    const {exitCode, stderr} = await processes.run(
      showChart({chart: 'agent-local', version: newestOf('agent-local')}),
      {signal},
    );
    const reason = stderr
      .trim()
      .split(/: (?=[^:]*$)/)
      .at(-1);
    return exitCode !== 0 && UNREACHABLE.test(stderr)
      ? [{what: 'chart', text: `The chart repository cannot be reached: ${reason}`}]
      : [];
  };
  const permissions = async (): Promise<Missing[]> => {
    const {namespace} = kubeTarget;
    const reviews = await Promise.all(
      CREATED.map(async (attributes) => ({
        ...attributes,
        ...(await reviewAccess(kubernetes, {...attributes, namespace}, {signal})),
      })),
    );
    const refused = reviews.filter(({value}) => value === false).map(({resource}) => resource);
    return refused.length === 0
      ? []
      : [
          {
            what: 'permissions',
            text: `Your user cannot create ${refused.join(' and ')} in namespace ${namespace}`,
          },
        ];
  };
  const found = await Promise.allSettled([repository(), permissions()]);
  return found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
}
