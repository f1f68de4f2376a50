import {scalrChart, type Target} from '../../charts/define.ts';
import {helmVersion} from '../../cluster/helm/release-calls.ts';
import {objectsIn} from '../../cluster/helm/release-record.ts';
import {type ClusterAccess, releasesIn} from '../../cluster/helm/releases.ts';
import type {KubernetesClient} from '../../cluster/kubernetes/client.ts';
import {servedResources, serverVersion} from '../../cluster/kubernetes/discovery.ts';
import {isWideObject, resourceOf} from '../../cluster/kubernetes/kinds.ts';
import type {Kubeconfig} from '../../cluster/kubernetes/kubeconfig.ts';
import {clientVersion, currentContext} from '../../cluster/kubernetes/kubectl.ts';
import {
  failureOf,
  jsonOf,
  listFact,
  objectFact,
  unknownBy,
} from '../../cluster/kubernetes/object-facts.ts';
import {kindAndName} from '../../cluster/kubernetes/object-refs.ts';
import type {Claim, KubernetesObject, Pod, SecretObject} from '../../cluster/kubernetes/objects.ts';
import {helmOwner} from '../../cluster/kubernetes/owners.ts';
import {currentUser, reviewPermissions} from '../../cluster/kubernetes/permissions.ts';
import {failingClient, REQUEST_MS} from '../../cluster/kubernetes/resources.ts';
import {cachedAccess, type RetryOptions} from '../../cluster/kubernetes/with-retries.ts';
import {clusterFactsOf, DEFINITIONS, definitionOf} from '../../cluster/platform/cluster-facts.ts';
import {type PlatformReadings, readCluster} from '../../cluster/platform/readings.ts';
import {
  type DesiredRelease,
  RENDERED_BY,
  renderManifest,
} from '../../cluster/release/desired-release.ts';
import {clusterOfPod, contextOf, type InstallFacts} from '../../cluster/release/read-release.ts';
import type {Call} from '../../ground/call.ts';
import type {ClusterTarget, ReleaseName} from '../../ground/command-line.ts';
import {type Fact, follow, isKnown, known, knownValue, mapped, unknown} from '../../ground/fact.ts';
import type {Processes, Registries} from '../../ground/system/system.ts';
import {isMap} from '../../ground/tree.ts';
import {MANIFEST_TYPES, manifestUrl} from '../../settings/addresses.ts';
import {token, tokenFile} from '../../settings/agent.ts';
import type {Get} from '../../settings/define.ts';
import {set, valuesFile} from '../../settings/escape-hatch.ts';
import {agentImage, imageRegistry, runnerImage} from '../../settings/pods.ts';
import {flagsOf} from '../../settings/settings.ts';
import {cacheClaim} from '../../settings/storage.ts';
import type {Generated} from '../../values/generate.ts';
import {imagesIn} from '../../values/images.ts';
import {effectiveGet, effectiveValues} from '../../values/reading/read-values.ts';
import {neededPermissions} from './checks/permissions.ts';
import {referencedClaims as claimsNamedIn, requiredSecrets} from './pod-resources.ts';
import type {
  LimitRange,
  LiveState,
  Mirror,
  PreflightContext,
  ResourceQuota,
  ReviewedPermission,
} from './preflight-context.ts';

export interface ReadingDeps extends ClusterAccess, RetryOptions {
  registries: Registries;
  now(): Date;
  /** Time limit of the version request, so that time is left to render the chart (default: `signal`). */
  versionSignal?: AbortSignal;
}

/** Data that an install has already read. */
export interface AlreadyRead {
  manifest?: readonly KubernetesObject[];
  context?: InstallFacts['context'];
}

/** Reads all data for the checks. Read-only, never fails, and ends at the timeout with partial data. */
export async function readPreflightContext(
  generated: Generated,
  desired: DesiredRelease,
  deps: ReadingDeps,
  already: AlreadyRead = {},
): Promise<PreflightContext> {
  const {target, settings, effective, values} = generated;
  const {kubeTarget} = desired.name;
  const get = effectiveGet(settings, effective);
  const access = cachedAccess(deps, deps);
  const {kubernetes, processes} = access;
  const version = serverVersion(kubernetes, {
    signal: deps.versionSignal ?? deps.signal,
    idleMs: REQUEST_MS,
  });
  const rendering =
    already.manifest === undefined
      ? version.then((found) => renderManifest(desired, found.version, get, processes))
      : Promise.resolve({manifest: known(already.manifest, RENDERED_BY)});
  // A server that did not report its version will not answer the later requests either.
  const reading = Promise.all([rendering, version]).then(([{manifest}, {error}]) => {
    const client = error && error.kind !== 'forbidden' ? failingClient(error) : kubernetes;
    const asked: ReadOptions = {
      ...access,
      kubernetes: client,
      name: desired.name,
      options: {signal: deps.signal, idleMs: REQUEST_MS},
    };
    const objects = knownValue(manifest) ?? [];
    return Promise.all([
      readNamed(desired, get, objects, asked),
      readPermissions(objects, asked),
      readLive(objects, asked),
    ]);
  });
  const [readings, tools, context, [named, permissions, live], mirror] = await Promise.all([
    readCluster(kubeTarget, access),
    readTools(kubeTarget, processes),
    readContext(kubeTarget, processes, already.context ?? access.context),
    reading,
    readMirror(generated, deps),
  ]);
  const users = await readDefinitionUsers(readings, target, {
    ...access,
    name: desired.name,
    options: {signal: deps.signal, idleMs: REQUEST_MS},
  });
  return {
    name: desired.name,
    target,
    get,
    values: effectiveValues(values, target),
    ...(await rendering),
    facts: clusterFactsOf(readings),
    readings,
    context,
    tools,
    permissions: mapped(permissions, (all) => withoutMaking(all, readings.namespaceObject)),
    ...named,
    live: {...live, ...users},
    ...(mirror === undefined ? {} : {mirror}),
    token: (settings.get(token) ?? settings.get(tokenFile))?.reveal(),
    now: deps.now(),
  };
}

async function readContext(
  kubeTarget: ClusterTarget,
  processes: Processes,
  context?: InstallFacts['context'],
): Promise<PreflightContext['context']> {
  const source = 'kubectl config view';
  if (context) return known(context, source);
  const outcome = await processes.run(currentContext(kubeTarget));
  const ofPod = clusterOfPod(outcome);
  if (ofPod !== undefined) return known(ofPod, source);
  const config = jsonOf<Kubeconfig>(outcome, source, isMap);
  return follow(config, (found) => known(contextOf(found), source));
}

interface ReadOptions extends Omit<ClusterAccess, 'kubernetes'> {
  kubernetes: Pick<KubernetesClient, 'get' | 'post'>;
  name: ReleaseName;
  options: {signal: AbortSignal; idleMs: number};
}

type AccountObject = Pick<PreflightContext, 'wantedSecrets' | 'secrets' | 'claims'>;

async function readNamed(
  {secrets: made}: DesiredRelease,
  get: Get,
  objects: readonly KubernetesObject[],
  {name: {kubeTarget}, kubernetes, options}: ReadOptions,
): Promise<AccountObject> {
  const desired = requiredSecrets(made, get, objects);
  const own = get(cacheClaim);
  const claims = new Set([...claimsNamedIn(objects), ...(own === undefined ? [] : [own])]);
  const where = {...options, namespace: kubeTarget.namespace};
  const read = async <T extends KubernetesObject>(
    kind: string,
    names: Iterable<string>,
  ): Promise<Map<string, Fact<T | undefined>>> =>
    new Map(
      await Promise.all(
        [...names].map(
          async (name) => [name, await objectFact<T>(kubernetes, kind, name, where)] as const,
        ),
      ),
    );
  const secretNames = desired.map(({name}) => name);
  const [secrets, found] = await Promise.all([
    read<SecretObject>('secrets', secretNames),
    read<Claim>('persistentvolumeclaims', claims),
  ]);
  return {wantedSecrets: desired, secrets, claims: found};
}

async function readPermissions(
  objects: readonly KubernetesObject[],
  {name: {kubeTarget}, kubernetes, options}: ReadOptions,
): Promise<PreflightContext['permissions']> {
  const {served} = await servedResources(kubernetes, options);
  const needed = neededPermissions(kubeTarget.namespace, objects, [...served.keys()]);
  return reviewPermissions(needed, kubernetes, options.signal);
}

/** An existing namespace need not be created; one that cannot be read may exist. */
function withoutMaking(
  permissions: readonly ReviewedPermission[],
  namespace: Fact<KubernetesObject | undefined>,
): readonly ReviewedPermission[] {
  const isMaking = ({verb, resource}: ReviewedPermission): boolean =>
    verb === 'create' && resource === 'namespaces';
  if (!isKnown(namespace))
    return permissions.map((each) => (isMaking(each) ? {...each, isOptional: true} : each));
  return namespace.value === undefined
    ? permissions
    : permissions.filter((each) => !isMaking(each));
}

/** Versions of the tools themselves: 4.1.4 */
export async function readTools(
  kubeTarget: ClusterTarget,
  processes: Processes,
): Promise<{helm: Fact<string>; kubectl: Fact<string>}> {
  const [helm, kubectl] = await Promise.all([
    readVersion(helmVersion, processes),
    readVersion(clientVersion(kubeTarget), processes),
  ]);
  return {helm, kubectl};
}

async function readVersion(call: Call, processes: Processes): Promise<Fact<string>> {
  const outcome = await processes.run(call);
  if (outcome.exitCode !== 0) return failureOf(outcome);
  const [, plain, quoted] =
    /^\s*v?(\d+\.\d+\.\d+)|"gitVersion":\s*"v?(\d+\.\d+\.\d+)/.exec(outcome.stdout) ?? [];
  const version = plain ?? quoted;
  return version === undefined
    ? unknown('failed', `${call.tool} version did not return a version`)
    : known(version, `${call.tool} version`);
}

/** Asks --image-registry for every image of the install; undefined without this setting. */
export async function readMirror(
  {settings, effective, target, values}: Generated,
  {registries, signal}: {registries: Registries; signal: AbortSignal},
): Promise<Mirror | undefined> {
  const registry = effectiveGet(settings, effective)(imageRegistry);
  if (registry === undefined) return undefined;
  const images = imagesIn(registry, effectiveValues(values, target), target);
  const given = settings
    .entries()
    .filter(({setting}) => SELECT_IMAGES.includes(setting.id) && settings.isExplicit(setting));
  return {
    images: await Promise.all(
      images.map(async (image) => ({
        image,
        answer: await registries.manifest(manifestUrl(image), MANIFEST_TYPES, signal),
      })),
    ),
    flags: [
      `--${imageRegistry.id} ${registry}`,
      ...given.flatMap(({setting, answer}) => flagsOf(setting, answer)),
    ],
  };
}

const SELECT_IMAGES: readonly string[] = [agentImage, runnerImage, valuesFile, set].map(
  ({id}) => id,
);

/** Existing objects in the cluster and namespace of the release. Never fails: unreadable objects are unknown, with a reason. */
async function readLive(
  objects: readonly KubernetesObject[],
  deps: ReadOptions,
): Promise<Omit<LiveState, keyof DefinitionUsers>> {
  const {name, kubernetes, options} = deps;
  const {namespace} = name.kubeTarget;
  const list = <T extends KubernetesObject>(resource: string): Promise<Fact<readonly T[]>> =>
    listFact(kubernetes, resource, {...options, namespace});
  const [found, quotas, limitRanges, user] = await Promise.all([
    readObjects(objects, deps),
    list<ResourceQuota>('resourcequotas'),
    list<LimitRange>('limitranges'),
    currentUser(kubernetes, options),
  ]);
  const isOwn = (object: KubernetesObject): boolean => {
    const owner = helmOwner(object);
    return owner?.release === name.release && owner.namespace === namespace;
  };
  const isForeign = [...found.values()].some(
    (fact) => isKnown(fact) && fact.value !== undefined && !isOwn(fact.value),
  );
  return {
    objects: found,
    // Helm checks the owner only of objects that are new in the release.
    installed: isForeign ? await readInstalled(deps) : new Set(),
    quotas,
    limitRanges,
    pods:
      isKnown(quotas) && quotas.value.length === 0
        ? known([], 'no ResourceQuota')
        : await list<Pod>('pods'),
    user: user.error ? unknownBy(user.error) : known(user.value, 'SelfSubjectReview'),
  };
}

type DefinitionUsers = Pick<LiveState, 'customResources' | 'revisions'>;

/** Who uses the CRDs of other versions of agent-job. */
async function readDefinitionUsers(
  readings: PlatformReadings,
  {chart, version}: Target,
  {name, kubernetes, options, ...access}: ReadOptions,
): Promise<DefinitionUsers> {
  const {resources, releases} = readings;
  const others = DEFINITIONS.filter((each) => each !== definitionOf(version)).filter((each) =>
    knownValue(resources)?.includes(each),
  );
  const none = known([], 'no CRD of another version');
  if (chart !== 'agent-job' || others.length === 0) return {customResources: none, revisions: none};
  const {served} = await servedResources(kubernetes, options);
  const names = (knownValue(releases)?.releases ?? [])
    .filter((each) => scalrChart(each.chart) !== undefined)
    .map((each) => ({
      release: each.name,
      kubeTarget: {...name.kubeTarget, namespace: each.namespace},
    }));
  const [lists, revisions] = await Promise.all([
    Promise.all(
      others.map((each) => {
        const groupVersion = served.get(each);
        const where = groupVersion === undefined ? options : {...options, groupVersion};
        return listFact(kubernetes, each, where);
      }),
    ),
    releasesIn({...access, kubernetes}).revisions(names, options),
  ]);
  const source = 'custom resources of agent-job';
  return {
    customResources:
      lists.find((each) => !isKnown(each)) ??
      known(
        lists.flatMap((each) => knownValue(each) ?? []),
        source,
      ),
    revisions: revisions.error
      ? unknownBy(revisions.error)
      : known(revisions.items, 'revisions of agent releases'),
  };
}

async function readObjects(
  objects: readonly KubernetesObject[],
  {name, kubernetes, options}: ReadOptions,
): Promise<LiveState['objects']> {
  const served =
    objects.length === 0 ? [] : [...(await servedResources(kubernetes, options)).served.keys()];
  const read = async (object: KubernetesObject): Promise<Fact<KubernetesObject | undefined>> => {
    const where = isWideObject(object, objects) ? {} : {namespace: name.kubeTarget.namespace};
    const groupVersion = object.apiVersion ?? 'v1';
    return objectFact(kubernetes, resourceOf(object, objects, served), object.metadata.name, {
      ...options,
      ...where,
      groupVersion,
    });
  };
  return new Map(
    await Promise.all(
      objects.map(async (object) => [kindAndName(object), await read(object)] as const),
    ),
  );
}

/** Keys of the objects in the newest manifest of the release; empty without a release. */
async function readInstalled({name, options, ...access}: ReadOptions): Promise<Set<string>> {
  const {object} = await releasesIn(access).newest(name, options);
  return new Set(objectsIn(object?.manifest ?? '').map(kindAndName));
}
