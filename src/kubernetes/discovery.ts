import type {ReadError} from '../ground/read-error.ts';
import type {RequestOptions} from './client.ts';
import type {Reader} from './resources.ts';

/** Served resources: `deployments.apps` with its preferred group and version, `apps/v1`. */
export type ServedResources = ReadonlyMap<string, string>;

const AGGREGATED = ['v2', 'v2beta1'].map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`);
const ACCEPT = [...AGGREGATED, 'application/json'].join(',');

interface GroupDiscovery {
  metadata?: {name?: string};
  versions?: readonly {version: string; resources?: readonly {resource: string}[]}[];
}

interface Groups {
  items?: readonly GroupDiscovery[];
  groups?: readonly {name: string; preferredVersion?: {groupVersion: string}}[];
}

interface Resources {
  resources?: readonly {name: string}[];
}

/** Names of all served resources, and errors. An unavailable API of an add-on does not affect the others. */
export async function servedResources(client: Reader, options: RequestOptions): Promise<{served: ServedResources; error?: ReadError}> {
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
    return answer.error || typeof answer.body !== 'object' ? undefined : ((answer.body ?? undefined) as T | undefined);
  };
  const listed = async (path: string, groupVersion: string): Promise<void> =>
    add(
      groupVersion,
      ((await get<Resources>(path))?.resources ?? []).map(({name}) => name),
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
          preferredVersion ? [listed(`/apis/${preferredVersion.groupVersion}`, preferredVersion.groupVersion)] : [],
        ),
      );
    }),
  );
  const [error] = errors;
  return {served, ...(error === undefined ? {} : {error})};
}
