import type {ProcessResult} from '../../ground/command-line.ts';
import {
  type Fact,
  known,
  type ReadError,
  type Unknown,
  type UnknownReason,
  unknown,
} from '../../ground/fact.ts';
import {anonymousText, isAnonymousRefusal, userIn} from '../../ground/identity.ts';
import {jsonIn} from '../../ground/json.ts';
import {getAt, isMap, type Values} from '../../ground/tree.ts';
import {webPageIn, webPageText} from '../../ground/web-page.ts';
import {apiErrorOf, errorLine} from './api-error.ts';
import type {ApiResult, GetOptions, KubernetesClient, RequestOptions} from './client.ts';
import {collectionPath} from './kinds.ts';
import type {KubernetesObject} from './objects.ts';

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
}

export async function podLog(
  client: Reader,
  pod: string,
  container: string,
  {namespace, tailLines, limitBytes, previous = false, ...options}: LogOptions,
): Promise<{text: string; error?: ReadError}> {
  const query = new URLSearchParams({
    container,
    ...(tailLines === undefined ? {} : {tailLines: String(tailLines)}),
    ...(limitBytes === undefined ? {} : {limitBytes: String(limitBytes)}),
    ...(previous ? {previous: 'true'} : {}),
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

/** gitVersion of the API server, for example v1.34.1-gke.2541000; undefined for any other response. */
export async function serverVersion(
  client: Reader,
  options: RequestOptions,
): Promise<{version?: string; error?: ReadError}> {
  const answer = await client.get('/version', options);
  if (answer.error) return {error: answer.error};
  const version = (answer.body as {gitVersion?: unknown} | null)?.gitVersion;
  return typeof version === 'string' && version !== '' ? {version} : {};
}

const AGGREGATED = ['v2', 'v2beta1'].map(
  (version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
);
const ACCEPT = [...AGGREGATED, 'application/json'].join(',');

interface Groups {
  items?: readonly {
    metadata?: {name?: string};
    versions?: readonly {version: string; resources?: readonly {resource: string}[]}[];
  }[];
  groups?: readonly {name: string; preferredVersion?: {groupVersion: string}}[];
}

/**
 * All served resources, such as `deployments.apps`, with their preferred group and version, and errors. An unavailable API of an add-on
 * does not affect the others.
 */
export async function servedResources(
  client: Reader,
  options: RequestOptions,
): Promise<{served: ReadonlyMap<string, string>; error?: ReadError}> {
  const served = new Map<string, string>();
  const errors: ReadError[] = [];
  const add = (groupVersion: string, names: readonly string[]): void => {
    const group = groupVersion.includes('/') ? groupVersion.split('/')[0] : '';
    for (const name of names.filter((each) => !each.includes('/'))) {
      const spelled = group ? `${name}.${group}` : name;
      if (!served.has(spelled)) served.set(spelled, groupVersion);
    }
  };
  const get = async <T>(path: string): Promise<T | undefined> => {
    const answer = await client.get(path, {...options, accept: ACCEPT});
    if (answer.error) errors.push(answer.error);
    return answer.error || typeof answer.body !== 'object'
      ? undefined
      : ((answer.body ?? undefined) as T | undefined);
  };
  const listed = async (path: string, groupVersion: string): Promise<void> =>
    add(
      groupVersion,
      ((await get<{resources?: readonly {name: string}[]}>(path))?.resources ?? []).map(
        ({name}) => name,
      ),
    );
  await Promise.all(
    ['/api', '/apis'].map(async (path) => {
      const found = await get<Groups>(path);
      if (found?.items) {
        for (const {metadata, versions = []} of found.items) {
          for (const {version, resources = []} of versions)
            add(
              metadata?.name ? `${metadata.name}/${version}` : version,
              resources.map(({resource}) => resource),
            );
        }
        return;
      }
      // Kubernetes older than 1.26, or `kubectl get --raw`, which sends no media type.
      if (found && path === '/api') await listed('/api/v1', 'v1');
      await Promise.all(
        (found?.groups ?? []).flatMap(({preferredVersion}) =>
          preferredVersion
            ? [listed(`/apis/${preferredVersion.groupVersion}`, preferredVersion.groupVersion)]
            : [],
        ),
      );
    }),
  );
  const [error] = errors;
  return {served, ...(error === undefined ? {} : {error})};
}

/** Timeout of a single request of a reading, and of a required request, in milliseconds. */
export const REQUEST_MS = 5000;
export const REQUIRED_MS = 15_000;

const TIMED_OUT = /timeout|timed out|deadline exceeded|time allotted/i;

const REASONS: readonly [stderr: RegExp, reason: UnknownReason][] = [
  [/forbidden/i, 'forbidden'],
  [TIMED_OUT, 'timed-out'],
  [/NotFound|could not find the requested resource|doesn't have a resource type/, 'not-served'],
];

/** Why a call of helm or kubectl failed: the last line of stderr that is neither a warning nor a client log. */
export function failureOf({stderr, exitCode}: ProcessResult): Unknown {
  const line = stderr
    .split('\n')
    .map((each) => each.trim())
    .findLast((each) => each !== '' && !/^([EWIF]\d{4} |warning)/i.test(each));
  if (line === undefined) return unknown('failed', `exited with code ${exitCode}`);
  const access = accessProblem(line);
  if (access !== undefined) return access;
  const reason = REASONS.find(([pattern]) => pattern.test(line))?.[1] ?? 'failed';
  return unknown(reason, line.replace(/^error( from server \(\w+\))?:\s*/i, ''));
}

function reasonOf({kind}: ReadError, text: string): UnknownReason {
  if (kind === 'not-logged-in') return kind;
  return kind !== 'web-page' && TIMED_OUT.test(text) ? 'timed-out' : 'failed';
}

/** Not what kubectl and helm make of it: a missing permission. */
function accessProblem(line: string): Unknown | undefined {
  const page = webPageIn(line);
  if (page !== undefined) return unknown('failed', webPageText(page));
  return isAnonymousRefusal(line)
    ? unknown('not-logged-in', anonymousText(userIn(line)))
    : undefined;
}

/** Why the API server did not answer a request. */
export function unknownBy(error: ReadError): Unknown {
  const {kind, message, steps} = error;
  if (kind === 'forbidden') return unknown('forbidden', message);
  if (kind === 'not-found') return unknown('not-served', message);
  const text = kind === 'server' ? message : errorLine(error);
  return {...unknown(reasonOf(error, text), text), ...(steps === undefined ? {} : {steps})};
}

/** The JSON output of a call, a mapping or a list. */
export function jsonOf<T extends object>(
  outcome: ProcessResult,
  source: string,
  isRight: (answer: unknown) => boolean,
): Fact<T> {
  if (outcome.exitCode !== 0) return failureOf(outcome);
  const answer = jsonIn(outcome.stdout);
  return isRight(answer)
    ? known(answer as T, source)
    : unknown('failed', `unexpected response from ${source}`);
}

export async function listFact<T extends KubernetesObject>(
  client: Reader,
  resource: string,
  options: ObjectOptions,
): Promise<Fact<readonly T[]>> {
  const {items, error} = await listObjects<T>(client, resource, options);
  return error ? unknownBy(error) : known(items.filter(isObject), resource);
}

/** A single object; undefined if not found. The source has the form `services/kube-dns`. */
export async function objectFact<T extends KubernetesObject>(
  client: Reader,
  resource: string,
  name: string,
  options: ObjectOptions,
): Promise<Fact<T | undefined>> {
  const {object, error} = await getObject<T>(client, resource, name, options);
  return error
    ? unknownBy(error)
    : known(isObject(object) ? object : undefined, `${resource}/${name}`);
}

const isObject = (each: unknown): boolean =>
  isMap(each as Values) && typeof getAt(each as Values, ['metadata', 'name']) === 'string';
