import type {ApiError} from '../ports/log-stream.ts';
import {apiErrorOf} from './api-error.ts';
import type {Answer, KubernetesClient, RequestOptions} from './client.ts';

export type Reader = Pick<KubernetesClient, 'get'>;

/** A list, or the part of it that came before the error. */
export interface Listing<T = unknown> {
  items: readonly T[];
  trouble?: ApiError;
}

/** An object; undefined where there is none of that name. */
export type Found<T> = {object: T | undefined; trouble?: undefined} | {object?: undefined; trouble: ApiError};

/** Group and version of every kind that each API server of a supported version has. Kinds of add-ons come from `servedResources`. */
const GROUP_VERSIONS: Readonly<Record<string, string>> = {
  configmaps: 'v1',
  events: 'v1',
  limitranges: 'v1',
  namespaces: 'v1',
  nodes: 'v1',
  persistentvolumeclaims: 'v1',
  persistentvolumes: 'v1',
  pods: 'v1',
  resourcequotas: 'v1',
  secrets: 'v1',
  serviceaccounts: 'v1',
  services: 'v1',
  'daemonsets.apps': 'apps/v1',
  'deployments.apps': 'apps/v1',
  'replicasets.apps': 'apps/v1',
  'statefulsets.apps': 'apps/v1',
  'cronjobs.batch': 'batch/v1',
  'jobs.batch': 'batch/v1',
  'customresourcedefinitions.apiextensions.k8s.io': 'apiextensions.k8s.io/v1',
  'ingresses.networking.k8s.io': 'networking.k8s.io/v1',
  'networkpolicies.networking.k8s.io': 'networking.k8s.io/v1',
  'poddisruptionbudgets.policy': 'policy/v1',
  'rolebindings.rbac.authorization.k8s.io': 'rbac.authorization.k8s.io/v1',
  'roles.rbac.authorization.k8s.io': 'rbac.authorization.k8s.io/v1',
  'storageclasses.storage.k8s.io': 'storage.k8s.io/v1',
};

/** `deployments` of `deployments.apps`. */
export const pluralOf = (resource: string): string => resource.split('.', 1)[0] as string;

/** The plural of a kind, by the rule that Kubernetes itself falls back to. */
export function resourceOfKind(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular.endsWith('s')) return `${singular}es`;
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

/** Where the API server has the objects of a kind, such as `deployments.apps`. */
export function collectionPath(resource: string, namespace?: string, groupVersion = GROUP_VERSIONS[resource]): string {
  if (groupVersion === undefined) throw new Error(`The group and version of ${resource} are not known.`);
  const root = groupVersion.includes('/') ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
  return `${root}${namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`}/${pluralOf(resource)}`;
}

/** So that a page stays small in memory, whatever the objects are. */
const PAGE = 250;

/** A list in pages; one that expires on the way continues with what is there now. */
export async function listAll(client: Reader, path: string, options: RequestOptions, limit = PAGE): Promise<Listing> {
  const items: unknown[] = [];
  const pageAt = (next: string): string =>
    `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`;
  for (let next: string | undefined = ''; next !== undefined; ) {
    const answer: Answer = await client.get(pageAt(next), options);
    if (answer.trouble) {
      const {continueAt} = answer.trouble;
      if (continueAt === undefined || continueAt === next) return {items, trouble: answer.trouble};
      next = continueAt;
      continue;
    }
    const page = answer.body as ListObject | null;
    if (!Array.isArray(page?.items)) return {items, trouble: apiErrorOf(answer.status, `${path} is no list`)};
    items.push(...page.items.map((item) => withType(item, page)));
    next = page.metadata?.continue || undefined;
  }
  return {items};
}

interface ListObject {
  kind?: string;
  apiVersion?: string;
  items?: unknown[];
  metadata?: {continue?: string};
}

/** Items of most lists do not name their kind, but who changed which of their fields: half of what they take of memory. */
function withType(item: unknown, {kind = '', apiVersion}: ListObject): unknown {
  if (typeof item !== 'object' || item === null || !('metadata' in item)) return item;
  const type = kind.endsWith('List') ? {kind: kind.slice(0, -'List'.length), ...(apiVersion === undefined ? {} : {apiVersion})} : {};
  return {...type, ...withoutManagedFields(item)};
}

function withoutManagedFields<T extends object>(object: T): T {
  const {managedFields: _, ...metadata} = (object as {metadata?: {managedFields?: unknown}}).metadata ?? {};
  return {...object, metadata};
}

interface Where {
  /** Without it the list is of the whole cluster. */
  namespace?: string;
  /** For kinds of add-ons: `kyverno.io/v1`. */
  groupVersion?: string;
}

/** Every object of a kind, such as `deployments.apps`. */
export const listObjects = async <T>(
  client: Reader,
  resource: string,
  {namespace, groupVersion, ...options}: RequestOptions & Where,
): Promise<Listing<T>> => (await listAll(client, collectionPath(resource, namespace, groupVersion), options)) as Listing<T>;

/** One object by its name. */
export async function getObject<T>(
  client: Reader,
  resource: string,
  name: string,
  {namespace, groupVersion, keepsManagedFields = false, ...options}: RequestOptions & Where & {keepsManagedFields?: boolean},
): Promise<Found<T>> {
  const answer = await client.get(`${collectionPath(resource, namespace, groupVersion)}/${encodeURIComponent(name)}`, options);
  if (answer.trouble) return answer.trouble.kind === 'not-found' ? {object: undefined} : {trouble: answer.trouble};
  if (typeof answer.body !== 'object' || answer.body === null)
    return {trouble: apiErrorOf(answer.status, `${resource} "${name}" is no object`)};
  return {object: (keepsManagedFields ? answer.body : withoutManagedFields(answer.body)) as T};
}

interface LogOptions extends RequestOptions {
  namespace: string;
  /** The last lines only. */
  tailLines?: number;
  /** From the first line that the node keeps, so many bytes. */
  limitBytes?: number;
  /** Of the container before its last restart. */
  previous?: boolean;
}

/** The text of a container's log. */
export async function podLog(
  client: Reader,
  pod: string,
  container: string,
  {namespace, tailLines, limitBytes, previous = false, ...options}: LogOptions,
): Promise<{text: string; trouble?: ApiError}> {
  const query = new URLSearchParams({
    container,
    ...(tailLines === undefined ? {} : {tailLines: String(tailLines)}),
    ...(limitBytes === undefined ? {} : {limitBytes: String(limitBytes)}),
    ...(previous ? {previous: 'true'} : {}),
  });
  const answer = await client.get(`${collectionPath('pods', namespace)}/${encodeURIComponent(pod)}/log?${query}`, {
    ...options,
    isText: true,
  });
  return answer.trouble ? {text: '', trouble: answer.trouble} : {text: String(answer.body)};
}

/** gitVersion of the API server: v1.34.1-gke.2541000; undefined where it answers something else. */
export async function serverVersion(client: Reader, options: RequestOptions): Promise<{version?: string; trouble?: ApiError}> {
  const answer = await client.get('/version', options);
  if (answer.trouble) return {trouble: answer.trouble};
  const version = (answer.body as {gitVersion?: unknown} | null)?.gitVersion;
  return typeof version === 'string' && version !== '' ? {version} : {};
}

/** What a SelfSubjectAccessReview asks about. */
export interface ResourceAttributes {
  verb: string;
  group?: string;
  resource: string;
  subresource?: string;
  namespace?: string;
  name?: string;
}

/** Whether this account may do it, by the API server itself, whatever decides there. */
export async function reviewAccess(
  client: Pick<KubernetesClient, 'post'>,
  resourceAttributes: ResourceAttributes,
  options: RequestOptions,
): Promise<{isAllowed?: boolean; trouble?: ApiError}> {
  const review = {apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: {resourceAttributes}};
  const answer = await client.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review, options);
  if (answer.trouble) return {trouble: answer.trouble};
  const isAllowed = (answer.body as {status?: {allowed?: boolean}} | null)?.status?.allowed;
  return typeof isAllowed === 'boolean' ? {isAllowed} : {};
}

/** The name under which the API server knows this account; undefined where it names none. Kubernetes 1.28 and newer tell. */
export async function currentUser(
  client: Pick<KubernetesClient, 'post'>,
  options: RequestOptions,
): Promise<{user?: string; trouble?: ApiError}> {
  const review = {apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview'};
  const answer = await client.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review, options);
  if (answer.trouble) return {trouble: answer.trouble};
  const user = (answer.body as {status?: {userInfo?: {username?: unknown}}} | null)?.status?.userInfo?.username;
  return typeof user === 'string' && user !== '' ? {user} : {};
}
