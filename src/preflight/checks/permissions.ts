import {kubectlCommand, subjectOf} from '../../ground/command-line.ts';
import {isKnown, knownValue} from '../../ground/fact.ts';
import {count} from '../../ground/text.ts';
import {isWideObject, resourceOf} from '../../kubernetes/kinds.ts';
import type {KubernetesObject} from '../../kubernetes/objects.ts';
import {attributesOf, grantedBy} from '../../kubernetes/permissions.ts';
import {toYaml} from '../../values/yaml.ts';
import {type Check, type CheckResult, fail, pass, skip, warn} from '../check.ts';
import type {NeededPermission, PreflightContext, ReviewedPermission} from '../preflight-context.ts';

const REF = 'https://kubernetes.io/docs/reference/access-authn-authz/rbac/';

const needed: Check = {
  id: 'permissions',
  group: 'Permissions',
  title: 'RBAC: your user can create every object of the install',
  ref: REF,
  run: (context) => reviewed(context, false, (message, missing) => fail(message, roleFor(missing, 'scalr-agent-install', context))),
};

const optional: Check = {
  id: 'permissions-optional',
  group: 'Permissions',
  title: 'RBAC: your user can diagnose, upgrade and uninstall the release',
  ref: REF,
  // Needs a separate name, because both roles can be applied.
  run: (context) => reviewed(context, true, (message, missing) => warn(message, roleFor(missing, 'scalr-agent-install-optional', context))),
};

export const permissionChecks: readonly Check[] = [needed, optional];

function reviewed(
  {permissions, manifest, facts, name: {kubeTarget}}: PreflightContext,
  isOptional: boolean,
  refuse: (message: string, missing: readonly ReviewedPermission[]) => CheckResult,
): CheckResult {
  if (!isKnown(permissions))
    return skip(
      permissions.because,
      isKnown(facts.versions.server)
        ? `List them: ${kubectlCommand(kubeTarget, 'auth', 'can-i', '--list', '--namespace', kubeTarget.namespace)}`
        : undefined,
    );
  const inGroup = permissions.value.filter((each) => each.isOptional === isOptional);
  const missing = inGroup.filter(({isAllowed}) => !isAllowed);
  const gap = isKnown(manifest) ? '' : '; permissions for the objects of the chart were not checked, because it was not rendered';
  if (missing.length === 0 && !isKnown(manifest))
    return skip(`Cannot check the permissions for the objects of the chart; all ${inGroup.length} others are granted: ${manifest.because}`);
  if (missing.length === 0) return pass(`${count(inGroup.length, 'permission')} granted`);
  return refuse(`${missing.length} of ${count(inGroup.length, 'permission')} missing: ${listed(missing)}${gap}`, missing);
}

/** `create, patch deployments.apps in team-a`; resources with the same verbs in the same namespace are listed together. */
function listed(missing: readonly ReviewedPermission[]): string {
  const resources = groupsOf(missing, ({resource, namespace}) => `${resource} ${namespace}`).map((same) => ({
    resource: same[0].resource,
    verbs: verbsOf(same).join(', '),
    where: same[0].namespace === undefined ? 'cluster-wide' : `in ${same[0].namespace}`,
  }));
  return groupsOf(resources, ({verbs, where}) => `${verbs} ${where}`)
    .map((same) => `${same[0].verbs} ${same.map(({resource}) => resource).join(', ')} ${same[0].where}`)
    .join('; ');
}

const verbsOf = (permissions: readonly ReviewedPermission[]): string[] => [...new Set(permissions.map(({verb}) => verb))];

function groupsOf<T>(items: readonly T[], keyOf: (item: T) => string): [T, ...T[]][] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return [...groups.values()];
}

/** The Role and ClusterRole of that name that grant these permissions, ready to apply, and how to bind them. */
export function roleFor(permissions: readonly ReviewedPermission[], name: string, {live, name: {kubeTarget}}: PreflightContext): string {
  const namespaced = permissions.filter((each) => each.namespace !== undefined);
  const clusterWide = permissions.filter((each) => each.namespace === undefined);
  const namespace = namespaced[0]?.namespace as string;
  const subject = subjectOf(knownValue(live.user) ?? 'USER');
  const roles = [
    ...(namespaced.length > 0 ? [{kind: 'Role', metadata: {name, namespace}, rules: rulesFor(namespaced)}] : []),
    ...(clusterWide.length > 0 ? [{kind: 'ClusterRole', metadata: {name}, rules: rulesFor(clusterWide)}] : []),
  ];
  // Without a context: it would act as the account that lacks the permissions.
  const bind = [
    ...(namespaced.length > 0
      ? [kubectlCommand({}, 'create', 'rolebinding', name, `--role=${name}`, `--namespace=${namespace}`, subject)]
      : []),
    ...(clusterWide.length > 0 ? [kubectlCommand({}, 'create', 'clusterrolebinding', name, `--clusterrole=${name}`, subject)] : []),
  ];
  const whoIs = isKnown(live.user) ? '' : ` (replace USER with the output of ${kubectlCommand(kubeTarget, 'auth', 'whoami')})`;
  const texts = roles.map((role) => toYaml({apiVersion: 'rbac.authorization.k8s.io/v1', ...role}).replaceAll(/\n\n/g, '\n'));
  return `Ask an administrator to apply these roles and bind them with these commands${whoIs}:\n${bind.join('\n')}\n${texts.join('---\n').trimEnd()}`;
}

/** Resources of one API group that need the same verbs share a rule. */
function rulesFor(permissions: readonly ReviewedPermission[]) {
  const resources = groupsOf(permissions, ({resource}) => resource).map((same) => ({
    ...attributesOf(same[0].resource),
    verbs: verbsOf(same),
  }));
  return groupsOf(resources, ({group, verbs}) => JSON.stringify([group, verbs.toSorted()])).map((same) => ({
    apiGroups: [same[0].group ?? ''],
    resources: same.map(({resource, subresource}) => (subresource === undefined ? resource : `${resource}/${subresource}`)),
    verbs: same[0].verbs,
  }));
}

/** Helm 3 creates CRDs once, Helm 4 applies them, and neither deletes them. */
const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

interface InstallObjects {
  namespace: string;
  objects: readonly KubernetesObject[];
  /** Resources that the API server serves, if known: deployments.apps */
  resources: readonly string[];
}

/** The permissions that an install needs, for helm and for watching the rollout, each once. Pure. */
export function neededPermissions({namespace, objects, resources}: InstallObjects): NeededPermission[] {
  const inNamespace = (resource: string, verbs: readonly string[], isOptional = false): NeededPermission[] =>
    verbs.map((verb) => ({verb, resource, namespace, isOptional}));
  const clusterWide = (resource: string, verbs: readonly string[], isOptional = false): NeededPermission[] =>
    verbs.map((verb) => ({verb, resource, isOptional}));
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
    ...objects.flatMap((object) => grantedBy(object, objects, namespace).map((each) => ({...each, isOptional: false}))),
    ...['deployments.apps', 'daemonsets.apps', 'replicasets.apps', 'jobs.batch', 'pods'].flatMap((each) => inNamespace(each, ['list'])),
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
    const key = [each.verb, each.resource, each.namespace, each.name, each.orElse?.verb, each.orElse?.namespace].join(' ');
    if (found.get(key)?.isOptional ?? true) found.set(key, each);
  }
  return [...found.values()];
}
