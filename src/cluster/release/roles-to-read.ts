import type {ReleaseName} from '../../ground/command-line.ts';
import {onFailure} from '../../ground/errors.ts';
import {userIn} from '../../ground/identity.ts';
import type {KubernetesClient} from '../kubernetes/client.ts';
import {currentUser, type Permission} from '../kubernetes/permissions.ts';
import {REQUEST_MS} from '../kubernetes/resources.ts';
import {DEFINITIONS} from '../platform/cluster-facts.ts';
import {grantText} from './grants.ts';
import {NAMESPACE_KINDS, WIDE_KINDS} from './namespace.ts';

type Reviewer = Pick<KubernetesClient, 'post'>;

/** A release to read, or all of a cluster. */
type Readable = Pick<ReleaseName, 'kubeTarget'> & Partial<ReleaseName>;

/** What the roles are for: `workloads` grants no Secrets. */
type Scope = 'workloads' | 'everything';

const WITHOUT_SECRETS =
  'These roles do not allow reading Secrets, so chart version, values and differences are not shown, and a release without pods is not found. For these, grant get and list of secrets in its namespace as well.';

/** Complete roles for reading a release. Those for a whole cluster never grant Secrets. `message` is that of the refusal. */
export async function rolesToRead(
  {release, kubeTarget}: Readable,
  {message, scope}: {message: string; scope: Scope},
  kubernetes: Reviewer,
): Promise<string> {
  const {namespace} = kubeTarget;
  const isWide = release === undefined;
  const grantsSecrets = !isWide && scope === 'everything';
  const permissions = [
    ...permissionsToRead(isWide ? {} : {namespace}),
    ...(grantsSecrets ? read(['secrets'], {namespace}) : []),
  ];
  const purpose = isWide ? 'read-all' : `${release}:read`;
  const {value: user = userIn(message)} = await currentUser(kubernetes, {
    signal: AbortSignal.timeout(REQUEST_MS),
    idleMs: REQUEST_MS,
  });
  const note = grantsSecrets ? undefined : WITHOUT_SECRETS;
  return grantText(
    permissions,
    {purpose, namespace, user, note, hasOwnSecretsRole: true},
    kubeTarget,
  );
}

const read = (resources: readonly string[], where: {namespace?: string}): Permission[] =>
  resources.flatMap((resource) => ['get', 'list'].map((verb) => ({verb, resource, ...where})));

/** Permissions to read what is shown of a release, without Secrets. Pure. */
export function permissionsToRead(where: {namespace?: string}): Permission[] {
  const {namespace: name} = where;
  const kinds = NAMESPACE_KINDS.filter((kind) => kind !== 'secrets');
  return [
    {verb: 'get', resource: 'namespaces', ...where, ...(name === undefined ? {} : {name})},
    ...read([...kinds, 'events', 'pods/log', ...DEFINITIONS], where),
    ...read([...OF_CLUSTER, ...WIDE_KINDS], {}),
  ];
}

/** What the release and its data are on, or need. */
const OF_CLUSTER = ['nodes', 'persistentvolumes', 'customresourcedefinitions.apiextensions.k8s.io'];

/** The message of a refusal is about Secrets. */
export const isAboutSecrets = (message: string): boolean =>
  /\bsecrets\b[^:]* is forbidden|cannot \w+ resource "secrets"/.test(message);

/** Handles failures of reading a release: a FORBIDDEN one suggests the roles to read it. Helm itself cannot do without Secrets. */
export const withRoles = (
  what: Readable,
  kubernetes: Reviewer,
  {usesHelm = false} = {},
): ((error: unknown) => Promise<never>) =>
  onFailure(async (failure) => {
    if (failure.code !== 'FORBIDDEN') throw failure;
    const {message} = failure;
    const scope = usesHelm || isAboutSecrets(message) ? 'everything' : 'workloads';
    throw failure.with(message, [
      await rolesToRead(what, {message, scope}, kubernetes),
      'Or use another --kube-context',
    ]);
  });
