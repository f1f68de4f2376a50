import type {ClusterTarget} from '../ground/command-line.ts';
import {apiFailure} from '../kubernetes/api-error.ts';
import {REQUIRED_MS} from '../kubernetes/fact-readers.ts';
import {pluralOf} from '../kubernetes/kinds.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import {listObjects, type Reader} from '../kubernetes/resources.ts';
import {type Neighborhood, USER_KINDS, usersIn} from './users.ts';

/** Workloads and pods of others in the namespace, and the kinds that this user may not list. @throws ExpectedError */
export async function readUsers(
  own: Pick<Neighborhood, 'release' | 'namespace' | 'manifest'>,
  place: ClusterTarget,
  kubernetes: Reader,
  signal: AbortSignal,
): Promise<{users: readonly KubernetesObject[]; unlisted: readonly string[]}> {
  const options = {signal, idleMs: REQUIRED_MS, namespace: own.namespace};
  const lists = await Promise.all(
    USER_KINDS.map(async (kind) => ({kind, ...(await listObjects<KubernetesObject>(kubernetes, kind, options))})),
  );
  for (const {trouble} of lists) if (trouble && trouble.kind !== 'forbidden') throw apiFailure(trouble, place);
  return {
    users: usersIn({...own, objects: lists.flatMap(({items}) => items), customResources: []}),
    unlisted: lists.filter(({trouble}) => trouble).map(({kind}) => pluralOf(kind)),
  };
}
