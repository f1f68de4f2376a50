import type {ReleaseName} from '../ground/command-line.ts';
import {type Fact, isKnown, known} from '../ground/fact.ts';
import {objectsIn} from '../helm/release-record.ts';
import {type ClusterAccess, releasesIn} from '../helm/releases.ts';
import type {KubernetesClient} from '../kubernetes/client.ts';
import {listFact, objectFact, REQUEST_MS, unknownBy} from '../kubernetes/fact-readers.ts';
import {helmOwner, isWideObject, resourceOf} from '../kubernetes/kinds.ts';
import {type KubernetesObject, kindAndName, type Pod} from '../kubernetes/objects.ts';
import {currentUser, servedResources} from '../kubernetes/resources.ts';
import type {LimitRange, LiveState, ResourceQuota} from './preflight-context.ts';

interface LiveDeps extends Omit<ClusterAccess, 'kubernetes'> {
  kubernetes: Pick<KubernetesClient, 'get' | 'post'>;
  name: ReleaseName;
  signal: AbortSignal;
}

/** Existing objects in the cluster and namespace of the release. Never fails: unreadable objects are unknown, with a reason. */
export async function readLive(objects: readonly KubernetesObject[], deps: LiveDeps): Promise<LiveState> {
  const {name, kubernetes, signal} = deps;
  const options = {signal, idleMs: REQUEST_MS};
  const {namespace} = name.kubeTarget;
  const list = <T extends KubernetesObject>(resource: string): Promise<Fact<readonly T[]>> =>
    listFact(kubernetes, resource, {...options, namespace});
  const [found, quotas, limitRanges, user] = await Promise.all([
    readObjects(objects, deps),
    list<ResourceQuota>('resourcequotas'),
    list<LimitRange>('limitranges'),
    currentUser(kubernetes, options),
  ]);
  const isForeign = [...found.values()].some((fact) => isKnown(fact) && fact.value !== undefined && !isHelmOwned(fact.value, name));
  return {
    objects: found,
    // Helm checks the owner only of objects that are new in the release.
    installed: isForeign ? await readInstalled(deps) : new Set(),
    quotas,
    limitRanges,
    pods: isKnown(quotas) && quotas.value.length === 0 ? known([], 'no ResourceQuota') : await list<Pod>('pods'),
    user: user.error ? unknownBy(user.error) : known(user.value, 'SelfSubjectReview'),
  };
}

const isHelmOwned = (object: KubernetesObject, {release, kubeTarget}: ReleaseName): boolean => {
  const owner = helmOwner(object);
  return owner?.release === release && owner.namespace === kubeTarget.namespace;
};

async function readObjects(objects: readonly KubernetesObject[], {name, kubernetes, signal}: LiveDeps): Promise<LiveState['objects']> {
  const options = {signal, idleMs: REQUEST_MS};
  const served = objects.length === 0 ? [] : [...(await servedResources(kubernetes, options)).served.keys()];
  const read = async (object: KubernetesObject): Promise<Fact<KubernetesObject | undefined>> => {
    const where = isWideObject(object, objects) ? {} : {namespace: name.kubeTarget.namespace};
    const groupVersion = object.apiVersion ?? 'v1';
    return objectFact(kubernetes, resourceOf(object, objects, served), object.metadata.name, {...options, ...where, groupVersion});
  };
  return new Map(await Promise.all(objects.map(async (object) => [kindAndName(object), await read(object)] as const)));
}

/** Keys of the objects in the newest manifest of the release; empty without a release. */
async function readInstalled({name, signal, ...access}: LiveDeps): Promise<Set<string>> {
  const {object} = await releasesIn(access).newest(name, {signal, idleMs: REQUEST_MS});
  return new Set(objectsIn(object?.manifest ?? '').map(kindAndName));
}
