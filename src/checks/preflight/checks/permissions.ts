import {isWideObject, resourceOf} from '../../../cluster/kubernetes/kinds.ts';
import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {grantedBy} from '../../../cluster/kubernetes/permissions.ts';
import {grantText} from '../../../cluster/release/grants.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {isKnown, knownValue} from '../../../ground/fact.ts';
import {count, groupsOf} from '../../../ground/text.ts';
import type {NeededPermission, PreflightContext, ReviewedPermission} from '../facts/context.ts';
import {type Check, check} from './check.ts';
import {type CheckResult, cannot, fail, notChecked, pass, warn} from './check-result.ts';

const REF = 'https://kubernetes.io/docs/reference/access-authn-authz/rbac/';

const needed = check('Permissions', 'permissions', 'RBAC: permissions to install', {
  ref: REF,
  run: (context) => reviewed(context, false, 'install', fail),
});

const optional = check(
  'Permissions',
  'permissions-optional',
  'RBAC: permissions to diagnose, upgrade and uninstall',
  {
    ref: REF,
    run: (context) => reviewed(context, true, 'maintain', warn),
  },
);

export const permissionChecks: readonly Check[] = [needed, optional];

function reviewed(
  context: PreflightContext,
  isOptional: boolean,
  purpose: string,
  refuse: (message: string, remedy: string) => CheckResult,
): CheckResult {
  const {permissions, manifest, facts, target, name} = context;
  const {kubeTarget} = name;
  if (!isKnown(permissions))
    return notChecked(
      permissions.because,
      isKnown(facts.versions.server)
        ? `List them: ${kubectlCommand(kubeTarget, 'auth', 'can-i', '--list', '--namespace', kubeTarget.namespace)}`
        : undefined,
    );
  const inGroup = permissions.value.filter((each) => each.isOptional === isOptional);
  const missing = inGroup.filter(({isAllowed}) => !isAllowed);
  const gap = isKnown(manifest)
    ? ''
    : '; permissions for the objects of the chart were not checked, because it was not rendered';
  if (missing.length === 0 && !isKnown(manifest))
    return cannot(
      `check the permissions for the objects of the chart; all ${inGroup.length} others are granted`,
      manifest.because,
    );
  if (missing.length === 0) return pass(`${count(inGroup.length, 'permission')} granted`);
  const message = `${missing.length} of ${count(inGroup.length, 'permission')} missing: ${listed(missing)}${gap}`;
  // All of them, because the roles of another time may be replaced; per chart, because an account may install several.
  return refuse(message, grantFor(inGroup, `${purpose}:${target.chart}`, context));
}

/** `create, patch deployments.apps in team-a`; resources with the same verbs in the same namespace are listed together. */
function listed(missing: readonly ReviewedPermission[]): string {
  const resources = groupsOf(missing, ({resource, namespace}) => `${resource} ${namespace}`).map(
    (same) => ({
      resource: same[0].resource,
      verbs: [...new Set(same.map(({verb}) => verb))].join(', '),
      where: same[0].namespace === undefined ? 'cluster-wide' : `in ${same[0].namespace}`,
    }),
  );
  return groupsOf(resources, ({verbs, where}) => `${verbs} ${where}`)
    .map(
      (same) =>
        `${same[0].verbs} ${same.map(({resource}) => resource).join(', ')} ${same[0].where}`,
    )
    .join('; ');
}

export function grantFor(
  permissions: readonly ReviewedPermission[],
  purpose: string,
  {live, name}: PreflightContext,
): string {
  const {release, kubeTarget} = name;
  return grantText(
    permissions,
    {
      purpose: `${release}:${purpose}`,
      namespace: kubeTarget.namespace,
      user: knownValue(live.user),
    },
    kubeTarget,
  );
}

/** Helm 3 creates CRDs once, Helm 4 applies them, and neither deletes them. */
const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

/** The permissions that an install needs, for helm and for watching the rollout, each once. `resources` are those that the API server serves, if known. Pure. */
export function neededPermissions(
  namespace: string,
  objects: readonly KubernetesObject[],
  resources: readonly string[],
): NeededPermission[] {
  const inNamespace = (
    resource: string,
    verbs: readonly string[],
    isOptional = false,
  ): NeededPermission[] => verbs.map((verb) => ({verb, resource, namespace, isOptional}));
  const clusterWide = (
    resource: string,
    verbs: readonly string[],
    isOptional = false,
  ): NeededPermission[] => verbs.map((verb) => ({verb, resource, isOptional}));
  const ofObjects = objects.flatMap((object) => {
    const resource = resourceOf(object, objects, resources);
    if (resource === DEFINITIONS) return clusterWide(resource, ['get', 'create', 'patch']);
    const permit = isWideObject(object, objects) ? clusterWide : inNamespace;
    return [...permit(resource, ['get', 'create', 'patch']), ...permit(resource, ['delete'], true)];
  });
  return once([
    {verb: 'get', resource: 'namespaces', namespace, name: namespace, isOptional: false},
    ...clusterWide('namespaces', ['create']),
    // Helm stores its releases in Secrets, and prunes the oldest.
    ...inNamespace('secrets', ['get', 'list', 'create', 'update', 'patch', 'delete']),
    ...ofObjects,
    ...objects.flatMap((object) =>
      grantedBy(object, objects, namespace).map((each) => ({...each, isOptional: false})),
    ),
    ...['deployments.apps', 'daemonsets.apps', 'replicasets.apps', 'jobs.batch', 'pods'].flatMap(
      (each) => inNamespace(each, ['list']),
    ),
    ...['events', 'persistentvolumeclaims'].flatMap((each) => inNamespace(each, ['list'], true)),
    // kubectl logs reads the pod first.
    ...inNamespace('pods', ['get'], true),
    ...inNamespace('pods/log', ['get'], true),
    ...clusterWide('nodes', ['list'], true),
  ]);
}

/** A permission that is needed twice is optional only if it is optional both times. */
function once(permissions: readonly NeededPermission[]): NeededPermission[] {
  const found = new Map<string, NeededPermission>();
  for (const each of permissions) {
    const key = [
      each.verb,
      each.resource,
      each.namespace,
      each.name,
      each.orElse?.verb,
      each.orElse?.namespace,
    ].join(' ');
    if (found.get(key)?.isOptional ?? true) found.set(key, each);
  }
  return [...found.values()];
}
