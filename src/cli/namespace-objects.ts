import {IDENTITY_ANNOTATIONS} from '../charts/shared/setting-rules.ts';
import {hardOf} from '../checks/preflight/checks/quota-usage.ts';
import {type Amounts, amountsOf} from '../checks/preflight/facts/amounts.ts';
import type {ResourceQuota} from '../checks/preflight/facts/namespace-limits.ts';
import {collectionPath} from '../cluster/kubernetes/kinds.ts';
import {listFact} from '../cluster/kubernetes/object-facts.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import {getObject, listAll, REQUEST_MS, type Reader} from '../cluster/kubernetes/resources.ts';
import {knownValue} from '../ground/fact.ts';
import type {NamespaceObjects} from '../wizard/gathered-facts.ts';

/** The content of Secrets is never read. */
const ONLY_METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const HELM_RECORD = 'sh.helm.release.';

interface ClaimObject extends KubernetesObject {
  spec?: {accessModes?: readonly string[]; storageClassName?: string};
}

interface ProxyObject extends KubernetesObject {
  status?: {httpsProxy?: string; noProxy?: string};
}

export const NO_OBJECTS: NamespaceObjects = {
  claims: [],
  secrets: [],
  serviceAccounts: [],
  identities: [],
  quotas: [],
};

/** What exists in a namespace that answers can refer to; what may not be read is left out. */
export async function readNamespaceObjects(
  {namespace, isOpenShift}: {namespace: string; isOpenShift: boolean},
  kubernetes: Reader,
  signal: AbortSignal,
): Promise<NamespaceObjects> {
  const options = {signal, idleMs: REQUEST_MS, namespace};
  const list = async <T extends KubernetesObject>(resource: string): Promise<readonly T[]> =>
    knownValue(await listFact<T>(kubernetes, resource, options)) ?? [];
  const [claims, secrets, accounts, quotas, proxy] = await Promise.all([
    list<ClaimObject>('persistentvolumeclaims'),
    listAll(kubernetes, collectionPath('secrets', namespace), {...options, accept: ONLY_METADATA}),
    list<KubernetesObject>('serviceaccounts'),
    list<ResourceQuota>('resourcequotas'),
    isOpenShift ? readProxy(kubernetes, signal) : undefined,
  ]);
  return {
    claims: claims.map(({metadata, spec}) => ({
      name: metadata.name,
      description: [...(spec?.accessModes ?? []), spec?.storageClassName]
        .filter(Boolean)
        .join(', '),
    })),
    secrets: secrets.items
      .map((each) => (each as KubernetesObject).metadata.name)
      .filter((name) => !name.startsWith(HELM_RECORD)),
    quotas: quotas.filter(isForAllPods).map(leftOf),
    serviceAccounts: accounts.map(({metadata}) => metadata.name),
    identities: accounts.flatMap(identitiesOf),
    ...(proxy === undefined ? {} : {proxy}),
  };
}

const isForAllPods = ({spec = {}}: ResourceQuota): boolean =>
  spec.scopes === undefined && spec.scopeSelector === undefined;

function leftOf(quota: ResourceQuota): Amounts {
  const used = amountsOf(quota.status?.used);
  const left = Object.entries(hardOf(quota)).map(
    ([key, hard]) => [key, hard - (used[key] ?? 0n)] as const,
  );
  return Object.fromEntries(left);
}

function identitiesOf({metadata}: KubernetesObject): NamespaceObjects['identities'][number][] {
  const {name: account, annotations = {}} = metadata;
  return Object.values(IDENTITY_ANNOTATIONS).flatMap((key) =>
    annotations[key] === undefined ? [] : [{account, key, value: annotations[key]}],
  );
}

/** The proxy that OpenShift sets for the whole cluster. https://docs.redhat.com/en/documentation/openshift_container_platform */
async function readProxy(
  kubernetes: Reader,
  signal: AbortSignal,
): Promise<NamespaceObjects['proxy']> {
  const options = {signal, idleMs: REQUEST_MS, groupVersion: 'config.openshift.io/v1'};
  const resource = 'proxies.config.openshift.io';
  const {object} = await getObject<ProxyObject>(kubernetes, resource, 'cluster', options);
  const {httpsProxy, noProxy = ''} = object?.status ?? {};
  if (!httpsProxy) return undefined;
  return {https: httpsProxy, bypass: noProxy.split(',').filter(Boolean)};
}
