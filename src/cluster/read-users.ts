import {apiFailure} from '../kubernetes/api-error.ts';
import {listObjects, type Reader} from '../kubernetes/queries.ts';
import type {ClusterTarget} from '../ports/processes.ts';
import type {KubernetesObject} from './objects.ts';
import {REQUIRED_MS} from './read-facts.ts';
import {type Neighborhood, USER_KINDS, usersIn} from './users.ts';

/** Workloads and pods of others in the namespace, as far as this user may list them. @throws ExpectedError */
export async function readUsers(
  own: Pick<Neighborhood, 'release' | 'namespace' | 'manifest'>,
  place: ClusterTarget,
  kubernetes: Reader,
  signal: AbortSignal,
): Promise<KubernetesObject[]> {
  const options = {signal, idleMs: REQUIRED_MS, namespace: own.namespace};
  const lists = await Promise.all(USER_KINDS.map((kind) => listObjects<KubernetesObject>(kubernetes, kind, options)));
  for (const {trouble} of lists) if (trouble && trouble.kind !== 'forbidden') throw apiFailure(trouble, place);
  return usersIn({...own, objects: lists.flatMap(({items}) => items), customResources: []});
}
