import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {kindAndName} from '../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import {
  currentUser,
  grantedBy,
  type Permission,
  permissionsForObjects,
  permissionsOfCall,
  reviewPermissions,
} from '../cluster/kubernetes/permissions.ts';
import {REQUEST_MS} from '../cluster/kubernetes/resources.ts';
import type {RenderedRelease} from '../cluster/release/desired-release.ts';
import {grantText} from '../cluster/release/grants.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {failed} from '../ground/errors.ts';
import {isKnown} from '../ground/fact.ts';
import {groupsOf} from '../ground/text.ts';
import type {Step} from './step.ts';

/** Helm keeps so many revisions, and deletes the oldest before it stores another one. */
const MOST_REVISIONS = 10;

/** Helm stores each revision in a Secret. */
const forRecord = (namespace: string, ...verbs: readonly string[]): Permission[] =>
  ['get', 'list', 'update', ...verbs].map((verb) => ({verb, resource: 'secrets', namespace}));

type UpgradeFacts = Pick<InstallFacts, 'installed' | 'release' | 'newestRevision'>;

/** What Helm requires to install or upgrade a release. Pure. */
export function permissionsOfUpgrade(
  {manifest, name: {kubeTarget}}: Pick<RenderedRelease, 'manifest' | 'name'>,
  {installed, release, newestRevision = 0}: UpgradeFacts,
  keptClaims: readonly string[],
): Permission[] {
  const objects = manifest.filter(
    ({kind}) => release === undefined || kind !== 'CustomResourceDefinition',
  );
  const before = new Map(installed.map((object) => [kindAndName(object), object]));
  const where = {namespace: kubeTarget.namespace, objects: manifest};
  const isNew = (object: KubernetesObject): boolean => !before.has(kindAndName(object));
  // Unchanged roles grant nothing new.
  const isChanged = (object: KubernetesObject): boolean =>
    JSON.stringify(before.get(kindAndName(object))) !== JSON.stringify(object);
  const removed = removedByUpgrade(objects, installed, keptClaims);
  const prunes = newestRevision < MOST_REVISIONS ? [] : ['delete'];
  return [
    ...permissionsForObjects(['get', 'create'], objects.filter(isNew), where),
    ...permissionsForObjects(
      ['get', 'patch'],
      objects.filter((each) => !isNew(each)),
      where,
    ),
    ...permissionsForObjects(['delete'], removed, where),
    ...objects
      .filter(isChanged)
      .flatMap((object) => grantedBy(object, objects, kubeTarget.namespace)),
    ...forRecord(kubeTarget.namespace, 'create', ...prunes),
  ];
}

/** What Helm deletes when it installs this manifest over the installed objects. */
export function removedByUpgrade(
  manifest: readonly KubernetesObject[],
  installed: readonly KubernetesObject[],
  keptClaims: readonly string[],
): KubernetesObject[] {
  const after = new Set(manifest.map(kindAndName));
  return installed.filter(
    (object) =>
      !after.has(kindAndName(object)) &&
      !isKept(object) &&
      !(object.kind === 'PersistentVolumeClaim' && keptClaims.includes(object.metadata.name)),
  );
}

/** What Helm requires to uninstall a release. Pure. */
export const permissionsOfUninstall = (
  {kubeTarget}: ReleaseName,
  objects: readonly KubernetesObject[],
): Permission[] => [
  ...permissionsForObjects(
    ['delete'],
    objects.filter((object) => !isKept(object)),
    {namespace: kubeTarget.namespace, objects},
  ),
  ...forRecord(kubeTarget.namespace, 'delete'),
];

/** Helm does not delete it. */
export const isKept = ({metadata}: KubernetesObject): boolean =>
  metadata.annotations?.['helm.sh/resource-policy'] === 'keep';

/** For a person: delete clusterroles.rbac.authorization.k8s.io. Pure. */
const permissionText = (permissions: readonly Permission[]): string =>
  groupsOf(permissions, ({resource}) => resource)
    .map((same) => `${[...new Set(same.map(({verb}) => verb))].join(', ')} ${same[0].resource}`)
    .join('; ');

const TIMEOUT_MS = 30_000;

/** Reviews the permissions of all steps of an operation, so that no plan stops halfway. @throws ExpectedError with the missing permissions of each step */
export async function requirePermissions(
  steps: readonly Step[],
  name: ReleaseName,
  {
    kubernetes,
    operation,
  }: Pick<ClusterAccess, 'kubernetes'> & {
    operation: 'install' | 'upgrade' | 'uninstall' | 'debug' | 'rotate-token';
  },
): Promise<void> {
  const {release, kubeTarget} = name;
  // Steps of helm list their own.
  const needs = steps.flatMap(
    ({call, title, permissions = call.tool === 'kubectl' ? permissionsOfCall(call) : []}) =>
      permissions.map((each) => ({...each, title})),
  );
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const reviewed = await reviewPermissions(needs, kubernetes, signal);
  // Without an answer, the step itself shows whether it is permitted.
  if (!isKnown(reviewed)) return;
  const missing = reviewed.value.filter(({isAllowed}) => !isAllowed);
  if (missing.length === 0) return;
  const lines = groupsOf(missing, ({title}) => title).map(
    (each) => `× ${each[0].title}: ${permissionText(each)}`,
  );
  const {value: user} = await currentUser(kubernetes, {signal, idleMs: REQUEST_MS});
  const grantee = {purpose: `${release}:${operation}-steps`, namespace: kubeTarget.namespace, user};
  throw failed(
    'FORBIDDEN',
    ['Your Kubernetes user lacks permissions for these steps. Nothing was changed.', ...lines].join(
      '\n',
    ),
    [grantText(needs, grantee, kubeTarget), 'Then run the same command again'],
  );
}
