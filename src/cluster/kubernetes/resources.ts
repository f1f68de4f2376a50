import type {ReadError} from '../../ground/fact.ts';
import {apiErrorOf} from './api-error.ts';
import type {ApiResult, GetOptions, KubernetesClient, RequestOptions} from './client.ts';
import {collectionPath} from './kinds.ts';

export type Reader = Pick<KubernetesClient, 'get'>;

/** A list, or the items before an error. */
export interface Listing<T = unknown> {
  items: readonly T[];
  error?: ReadError;
}

/** An object; undefined if it does not exist. */
export type ObjectResult<T> =
  | {object: T | undefined; error?: undefined}
  | {object?: undefined; error: ReadError};

/** Limits the memory of a page, regardless of the size of the objects. */
const PAGE = 250;

/** Reads a list in pages; after an expired continue token, the list continues with the current state. */
export async function listAll(
  client: Reader,
  path: string,
  options: GetOptions,
  limit = PAGE,
): Promise<Listing> {
  const items: unknown[] = [];
  const pageAt = (next: string): string =>
    `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`;
  for (let next: string | undefined = ''; next !== undefined; ) {
    const answer: ApiResult = await client.get(pageAt(next), options);
    if (answer.error) {
      const {continueAt} = answer.error;
      if (continueAt === undefined || continueAt === next) return {items, error: answer.error};
      next = continueAt;
      continue;
    }
    const page = answer.body as ListObject | null;
    // An empty list of metadata has null.
    const found = page?.kind?.endsWith('List') ? (page.items ?? []) : page?.items;
    if (page === null || !Array.isArray(found))
      return {items, error: apiErrorOf(answer.status, `the response for ${path} is not a list`)};
    items.push(...found.map((item) => withType(item, page)));
    next = page.metadata?.continue || undefined;
  }
  return {items};
}

interface ListObject {
  kind?: string;
  apiVersion?: string;
  items?: unknown[] | null;
  metadata?: {continue?: string};
}

/** Items of most lists have no kind. managedFields are removed, because they use half of the memory. */
function withType(item: unknown, {kind = '', apiVersion}: ListObject): unknown {
  if (typeof item !== 'object' || item === null || !('metadata' in item)) return item;
  const type = kind.endsWith('List')
    ? {kind: kind.slice(0, -'List'.length), ...(apiVersion === undefined ? {} : {apiVersion})}
    : {};
  return {...type, ...withoutManagedFields(item)};
}

function withoutManagedFields<T extends object>(object: T): T {
  const {managedFields: _, ...metadata} =
    (object as {metadata?: {managedFields?: unknown}}).metadata ?? {};
  return {...object, metadata};
}

/** Where the objects are, and how a request ends. */
export interface ObjectOptions extends RequestOptions {
  /** Lists the whole cluster if absent. */
  namespace?: string;
  /** For kinds of add-ons: `kyverno.io/v1`. */
  groupVersion?: string;
}

export const listObjects = async <T>(
  client: Reader,
  resource: string,
  {namespace, groupVersion, ...options}: ObjectOptions,
): Promise<Listing<T>> =>
  (await listAll(client, collectionPath(resource, namespace, groupVersion), options)) as Listing<T>;

export async function getObject<T>(
  client: Reader,
  resource: string,
  name: string,
  {
    namespace,
    groupVersion,
    keepsManagedFields = false,
    ...options
  }: ObjectOptions & {keepsManagedFields?: boolean},
): Promise<ObjectResult<T>> {
  const answer = await client.get(
    `${collectionPath(resource, namespace, groupVersion)}/${encodeURIComponent(name)}`,
    options,
  );
  if (answer.error)
    return answer.error.kind === 'not-found' ? {object: undefined} : {error: answer.error};
  if (typeof answer.body !== 'object' || answer.body === null)
    return {
      error: apiErrorOf(answer.status, `the response for ${resource} "${name}" is not an object`),
    };
  return {object: (keepsManagedFields ? answer.body : withoutManagedFields(answer.body)) as T};
}

interface LogOptions extends RequestOptions {
  namespace: string;
  tailLines?: number;
  /** Maximum bytes, from the first available line. */
  limitBytes?: number;
  /** Log of the previous container instance. */
  previous?: boolean;
  /** Each line begins with its time, by the clock of the node. */
  timestamps?: boolean;
}

export async function podLog(
  client: Reader,
  pod: string,
  container: string,
  {namespace, tailLines, limitBytes, previous, timestamps, ...options}: LogOptions,
): Promise<{text: string; error?: ReadError}> {
  const query = new URLSearchParams({
    container,
    ...(tailLines === undefined ? {} : {tailLines: String(tailLines)}),
    ...(limitBytes === undefined ? {} : {limitBytes: String(limitBytes)}),
    ...(previous ? {previous: 'true'} : {}),
    ...(timestamps ? {timestamps: 'true'} : {}),
  });
  const answer = await client.get(
    `${collectionPath('pods', namespace)}/${encodeURIComponent(pod)}/log?${query}`,
    {
      ...options,
      isText: true,
    },
  );
  return answer.error ? {text: '', error: answer.error} : {text: String(answer.body)};
}

/** A client of a server that did not answer: every request fails for the same reason, and none is sent. */
export const failingClient = (error: ReadError): Pick<KubernetesClient, 'get' | 'post'> => ({
  get: async () => ({error}),
  post: async () => ({error}),
});

/** Timeout of a single request of a reading, and of a required request, in milliseconds. */
export const REQUEST_MS = 5000;

export const REQUIRED_MS = 15_000;
