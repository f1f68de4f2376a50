import type {ReadError} from '../../ground/fact.ts';
import type {RequestOptions} from './client.ts';
import type {Reader} from './resources.ts';

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
