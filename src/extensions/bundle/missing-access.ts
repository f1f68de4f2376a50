import type {KubernetesClient} from '../../cluster/kubernetes/client.ts';
import {currentUser, type Permission} from '../../cluster/kubernetes/permissions.ts';
import {REQUEST_MS} from '../../cluster/kubernetes/resources.ts';
import {grantText} from '../../cluster/release/grants.ts';
import {isAboutSecrets} from '../../cluster/release/roles-to-read.ts';
import type {ClusterTarget} from '../../ground/command-line.ts';
import {userIn} from '../../ground/identity.ts';
import type {Gap} from './collect/gap.ts';
import {BUNDLED_KINDS} from './collect/read-objects.ts';

/** Everything that a bundle reads. Optional kinds too, because a role may name kinds that the cluster does not have. Pure. */
export function permissionsOfBundle(namespace: string, secrets: readonly string[]): Permission[] {
  const kinds = BUNDLED_KINDS.map(({resource}) => resource);
  const resources = [...secrets, 'pods/log', ...kinds];
  return [
    ...resources.flatMap((resource) =>
      ['get', 'list'].map((verb) => ({verb, resource, namespace})),
    ),
    ...['nodes', 'persistentvolumes'].flatMap((resource) =>
      ['get', 'list'].map((verb) => ({verb, resource})),
    ),
  ];
}

const WITHOUT_SECRETS =
  'These roles do not allow reading Secrets. The bundle contains no Helm release, and Secret values are recognized only by format or key name.';

/** How an administrator grants this account the read access of a bundle; undefined if nothing was forbidden. */
export async function missingAccess(
  gaps: readonly Gap[],
  kubeTarget: ClusterTarget,
  {api, signal}: {api: Pick<KubernetesClient, 'post'>; signal: AbortSignal},
): Promise<string | undefined> {
  const refused = gaps.filter(({error, isMinor}) => error.kind === 'forbidden' && !isMinor);
  if (refused.length === 0) return undefined;
  const needsSecrets = refused.every(({error}) => isAboutSecrets(error.message));
  const {namespace} = kubeTarget;
  const [refusedUser] = gaps.flatMap(({error}) => userIn(error.message) ?? []);
  const {value: user = refusedUser} = await currentUser(api, {signal, idleMs: REQUEST_MS});
  return grantText(
    permissionsOfBundle(namespace, needsSecrets ? ['secrets'] : []),
    {
      purpose: 'collect-logs',
      namespace,
      user,
      note: needsSecrets ? undefined : WITHOUT_SECRETS,
      hasOwnSecretsRole: true,
    },
    kubeTarget,
  );
}
