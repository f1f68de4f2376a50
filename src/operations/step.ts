import type {Difference} from '../cluster/diff/values-diff.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {type KubernetesObject, kindAndName, type ObjectRef} from '../cluster/kubernetes/objects.ts';
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
import type {RunsOf} from '../cluster/release/inventory.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import type {Call, KubectlCall} from '../ground/call.ts';
import type {ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import {failed, type Warning} from '../ground/errors.ts';
import {isKnown} from '../ground/fact.ts';
import {groupsOf} from '../ground/text.ts';

/** Whatever command has planned them, steps on a cluster run in this order. */
const PHASES = [
  'namespace',
  'secrets',
  /** Scales up what an interrupted uninstall has stopped. */
  'start',
  /** Keeps PVCs and volumes that Helm would delete. */
  'keep',
  /** CRDs are applied while the agent still works, because only they can fail for lack of permissions. */
  'definitions',
  'drain',
  /** Deletes what helm does not delete with the release. */
  'former',
  /** Deletes what the release creates again. */
  'replace',
  /** Ends a pending operation of Helm, which rejects any other one. */
  'unlock',
  'release',
  /** Custom resources that Helm does not change back. */
  'restore',
  'restart',
  /** Assigns Secrets to another release. */
  'move',
  /** Reserves retained volumes for the next install. */
  'reserve',
  'remove',
] as const;
type Phase = (typeof PHASES)[number];

export interface ReleaseStep extends Step {
  phase: Phase;
}

export const inOrder = (steps: Partial<Record<Phase, readonly Step[]>>): ReleaseStep[] =>
  PHASES.flatMap((phase) => (steps[phase] ?? []).map((step) => ({...step, phase})));

export const byPhase = (one: ReleaseStep, other: ReleaseStep): number =>
  PHASES.indexOf(one.phase) - PHASES.indexOf(other.phase);

export const ofPhase = (steps: readonly ReleaseStep[], phase: Phase): ReleaseStep[] =>
  steps.filter((each) => each.phase === phase);

/** An object that a call deletes. */
export interface RemovedObject {
  kind: string;
  name: string;
  /** Undefined for cluster-scoped objects. */
  namespace?: string;
  /** Default: that of Kubernetes. */
  groupVersion?: string;
}

/** How the change of one workload is reverted. */
export interface Undo {
  object: ObjectRef;
  /** What the step takes away. */
  restores: 'replicas' | 'object';
  /** What remains changed, as a sentence. */
  text: string;
  call: KubectlCall;
  /** What the call has restored, as a sentence. */
  reverted: string;
  /** Commands for the user instead, with what they do. */
  byHand: readonly string[];
}

/** One call of a plan. */
export interface Step {
  id: string;
  title: string;
  call: Call;
  /** Required permissions (default: those of the call of kubectl). */
  permissions?: readonly Permission[];
  /** Deletes something that cannot be restored. */
  isDestructive?: boolean;
  /** What remains changed if a later step fails. */
  undo?: readonly Undo[];
  /** Workloads that the call scales or deletes. Helm does not notice, so only a rollback restores them. */
  workloads?: readonly ObjectRef[];
  /** Objects that the call deletes. */
  deletes?: readonly RemovedObject[];
  /** After this step nothing can be reverted. */
  isFinal?: boolean;
  /** The stderr of a failed call that still counts as success, such as "not found". */
  tolerates?: RegExp;
  /** The call is only shown: the objects it lists are polled until they contain no such run (see runsIn), at most for this time. */
  waitFor?: {
    kubeTarget: ClusterTarget;
    noRunsOf: RunsOf;
    timeoutSeconds: number;
    /** How to continue without waiting. */
    howToBreakOff: string;
  };
}

/** The steps in order; data that can be printed, compared and run. */
export interface Plan {
  steps: readonly ReleaseStep[];
  /** Values of the installed release that the steps remove or change without being asked to; secrets in them are hidden. */
  lostValues?: readonly Difference[];
  /** PVCs that Helm would delete; they remain with their data. */
  keptClaims?: readonly string[];
  /** Limits of waiting for runs, and what could not be read. */
  warnings?: readonly Warning[];
  /** Why --yes is not enough and the user must type the release name. */
  risk?: string;
}

/** Helm stores each revision in a Secret, and prunes the oldest. */
const forRecord = (namespace: string, ...verbs: readonly string[]): Permission[] =>
  ['get', 'list', 'update', ...verbs].map((verb) => ({verb, resource: 'secrets', namespace}));

/** What Helm requires to install or upgrade a release. Pure. */
export function permissionsOfUpgrade(
  {manifest, name: {kubeTarget}}: Pick<RenderedRelease, 'manifest' | 'name'>,
  {installed, release}: Pick<InstallFacts, 'installed' | 'release'>,
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
    ...forRecord(kubeTarget.namespace, 'create'),
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
