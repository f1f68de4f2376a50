import {scalrChart} from '../../charts/releases/chart-name.ts';
import type {Target} from '../../charts/releases/target.ts';
import {objectsIn} from '../../cluster/helm/release-record.ts';
import {releasesIn} from '../../cluster/helm/releases.ts';
import {servedResources} from '../../cluster/kubernetes/discovery.ts';
import {collectionPath, isWideObject, resourceOf} from '../../cluster/kubernetes/kinds.ts';
import {listFact, objectFact, unknownBy} from '../../cluster/kubernetes/object-facts.ts';
import {kindAndName} from '../../cluster/kubernetes/object-refs.ts';
import type {Claim, KubernetesObject, Pod, SecretObject} from '../../cluster/kubernetes/objects.ts';
import {helmOwner} from '../../cluster/kubernetes/owners.ts';
import {currentUser} from '../../cluster/kubernetes/permissions.ts';
import {listAll} from '../../cluster/kubernetes/resources.ts';
import {DEFINITIONS, definitionOf} from '../../cluster/platform/cluster-facts.ts';
import type {PlatformReadings} from '../../cluster/platform/readings.ts';
import type {ReleaseName} from '../../ground/command-line.ts';
import {type Fact, isKnown, known, knownValue} from '../../ground/fact.ts';
import type {ClusterReading} from './cluster-reading.ts';
import type {LiveState, PreflightContext, RequiredSecret} from './facts/context.ts';
import type {LimitRange, ResourceQuota} from './facts/namespace-limits.ts';
import {readUsableSccs} from './read-sccs.ts';

/** What the release refers to, by name. */
interface Referenced {
  secrets: readonly RequiredSecret[];
  claims: Iterable<string>;
  accounts: Iterable<string>;
}

/** Objects of the namespace that the release refers to. */
export async function readReferenced(
  {secrets, claims, accounts}: Referenced,
  {name: {kubeTarget}, kubernetes, options}: ClusterReading,
): Promise<Pick<PreflightContext, 'wantedSecrets' | keyof Referenced>> {
  const where = {...options, namespace: kubeTarget.namespace};
  const read = async <T extends KubernetesObject>(kind: string, names: Iterable<string>) =>
    new Map(
      await Promise.all(
        [...names].map(
          async (name) => [name, await objectFact<T>(kubernetes, kind, name, where)] as const,
        ),
      ),
    );
  const [foundSecrets, foundClaims, foundAccounts] = await Promise.all([
    read<SecretObject>(
      'secrets',
      secrets.map(({name}) => name),
    ),
    read<Claim>('persistentvolumeclaims', claims),
    read('serviceaccounts', accounts),
  ]);
  return {
    wantedSecrets: secrets,
    secrets: foundSecrets,
    claims: foundClaims,
    accounts: foundAccounts,
  };
}

type DefinitionUsers = Pick<LiveState, 'customResources' | 'revisions'>;

/** Existing objects in the cluster and namespace of the release. Never fails: unreadable objects are unknown, with a reason. */
export async function readLiveState(
  objects: readonly KubernetesObject[],
  reading: ClusterReading,
): Promise<Omit<LiveState, keyof DefinitionUsers | 'podsOnNodes'>> {
  const {name, kubernetes, options} = reading;
  const {namespace} = name.kubeTarget;
  const list = <T extends KubernetesObject>(resource: string): Promise<Fact<readonly T[]>> =>
    listFact(kubernetes, resource, {...options, namespace});
  const [found, quotas, limitRanges, user, sccs] = await Promise.all([
    readObjects(objects, reading),
    list<ResourceQuota>('resourcequotas'),
    list<LimitRange>('limitranges'),
    currentUser(kubernetes, options),
    readUsableSccs(objects, reading),
  ]);
  const isForeign = [...found.values()]
    .map(knownValue)
    .some((object) => object !== undefined && !isOfRelease(object, name));
  const hasNoQuota = isKnown(quotas) && quotas.value.length === 0;
  return {
    objects: found,
    // Helm checks the owner only of objects that are new in the release.
    installed: isForeign ? await readInstalled(reading) : new Set(),
    quotas,
    limitRanges,
    pods: hasNoQuota ? known([], 'no ResourceQuota') : await list<Pod>('pods'),
    user: user.error ? unknownBy(user.error) : known(user.value, 'SelfSubjectReview'),
    sccs,
  };
}

/** Larger pages than usual, so that the neighbours cost few requests. */
const PODS_AT_ONCE = 1000;

export async function readPodsOnNodes({
  kubernetes,
  options,
}: Pick<ClusterReading, 'kubernetes' | 'options'>): Promise<LiveState['podsOnNodes']> {
  const selector = 'spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed';
  const path = `${collectionPath('pods', undefined)}?fieldSelector=${encodeURIComponent(selector)}`;
  const {items, error} = await listAll(kubernetes, path, options, PODS_AT_ONCE);
  return error ? unknownBy(error) : known(items as readonly Pod[], 'pods of all namespaces');
}

function isOfRelease(object: KubernetesObject, {release, kubeTarget}: ReleaseName): boolean {
  const owner = helmOwner(object);
  return owner?.release === release && owner.namespace === kubeTarget.namespace;
}

async function readObjects(
  objects: readonly KubernetesObject[],
  {name, kubernetes, options}: ClusterReading,
): Promise<LiveState['objects']> {
  if (objects.length === 0) return new Map();
  const served = [...(await servedResources(kubernetes, options)).served.keys()];
  const read = (object: KubernetesObject): Promise<Fact<KubernetesObject | undefined>> => {
    const where = isWideObject(object, objects) ? {} : {namespace: name.kubeTarget.namespace};
    const resource = resourceOf(object, objects, served);
    const groupVersion = object.apiVersion ?? 'v1';
    const request = {...options, ...where, groupVersion};
    return objectFact(kubernetes, resource, object.metadata.name, request);
  };
  return new Map(
    await Promise.all(
      objects.map(async (object) => [kindAndName(object), await read(object)] as const),
    ),
  );
}

/** Keys of the objects in the newest manifest of the release; empty without a release. */
async function readInstalled({name, options, ...access}: ClusterReading): Promise<Set<string>> {
  const {object} = await releasesIn(access).newest(name, options);
  return new Set(objectsIn(object?.manifest ?? '').map(kindAndName));
}

/** Who uses the CRDs of other versions of agent-job. */
export async function readDefinitionUsers(
  {resources, releases}: PlatformReadings,
  {chart, version}: Target,
  {name, options, ...access}: ClusterReading,
): Promise<DefinitionUsers> {
  const others = DEFINITIONS.filter(
    (each) => each !== definitionOf(version) && knownValue(resources)?.includes(each),
  );
  const none = known([], 'no CRD of another version');
  if (chart !== 'agent-job' || others.length === 0) return {customResources: none, revisions: none};
  const agents = (knownValue(releases)?.releases ?? [])
    .filter((each) => scalrChart(each.chart) !== undefined)
    .map(({name: release, namespace}) => ({
      release,
      kubeTarget: {...name.kubeTarget, namespace},
    }));
  const [customResources, revisions] = await Promise.all([
    readCustomResources(others, access.kubernetes, options),
    releasesIn(access).revisions(agents, options),
  ]);
  return {
    customResources,
    revisions: revisions.error
      ? unknownBy(revisions.error)
      : known(revisions.items, 'revisions of agent releases'),
  };
}

async function readCustomResources(
  definitions: readonly string[],
  kubernetes: ClusterReading['kubernetes'],
  options: ClusterReading['options'],
): Promise<LiveState['customResources']> {
  const {served} = await servedResources(kubernetes, options);
  const lists = await Promise.all(
    definitions.map((each) => {
      const groupVersion = served.get(each);
      return listFact(kubernetes, each, {...options, ...(groupVersion && {groupVersion})});
    }),
  );
  const all = lists.flatMap((each) => knownValue(each) ?? []);
  return lists.find((each) => !isKnown(each)) ?? known(all, 'custom resources of agent-job');
}
