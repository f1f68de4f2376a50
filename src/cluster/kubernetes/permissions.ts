import type {KubectlCall, ObjectIdentity} from '../../ground/call.ts';
import type {ClusterTarget} from '../../ground/command-line.ts';
import {type Fact, known, type ReadError, type ReadResult} from '../../ground/fact.ts';
import {ANONYMOUS, UNAUTHENTICATED} from '../../ground/identity.ts';
import type {KubernetesClient, RequestOptions} from './client.ts';
import {isWideObject, isWideResource, resourceNamed, resourceOf} from './kinds.ts';
import {unknownBy} from './object-facts.ts';
import {isSameRef, type ObjectRef, refOf} from './object-refs.ts';
import type {KubernetesObject} from './objects.ts';
import {REQUEST_MS} from './resources.ts';

export interface Permission {
  verb: string;
  /** As kubectl spells it, with its group: deployments.apps, deployments/scale.apps */
  resource: string;
  /** Undefined for cluster-scoped resources. */
  namespace?: string;
  /** Only for the object of this name. */
  name?: string;
  /** This permission is enough instead. */
  orElse?: Permission;
}

/** Permissions for `some` objects of a chart, whose CRDs may be among `objects`. Pure. */
export function permissionsForObjects(
  verbs: readonly string[],
  some: readonly ObjectIdentity[],
  {namespace, objects}: {namespace: string; objects: readonly KubernetesObject[]},
): Permission[] {
  return some.flatMap((object) => {
    const where = isWideObject(object, objects)
      ? {}
      : {namespace: object.metadata.namespace ?? namespace};
    return verbs.map((verb) => ({verb, resource: resourceOf(object, objects), ...where}));
  });
}

/** What the verbs of kubectl require on each object; others change nothing that a plan contains. */
const VERBS: Readonly<Partial<Record<KubectlCall['verb'], readonly string[]>>> = {
  apply: ['create', 'patch'],
  create: ['create'],
  replace: ['update'],
  annotate: ['get', 'patch'],
  label: ['get', 'patch'],
  patch: ['get', 'patch'],
  'rollout restart': ['get', 'patch'],
  delete: ['delete'],
  get: ['list'],
  wait: ['list', 'watch'],
};

/** Permissions for a call of kubectl. Pure. */
export function permissionsOfCall(call: KubectlCall): Permission[] {
  const {verb, resources = [], selector, objects, kubeTarget} = call;
  const verbs = VERBS[verb] ?? [];
  if (objects !== undefined)
    return objects.flatMap((object) => permissionsToWrite(object, verbs, kubeTarget));
  return resources.flatMap(({kind}) => {
    const resource = resourceNamed(kind);
    if (resource === undefined) return [];
    const where = isWideResource(resource) ? {} : {namespace: kubeTarget.namespace};
    if (verb === 'scale')
      return [
        {verb: 'get', resource, ...where},
        {verb: 'patch', resource: resource.replace(/^\w+/, '$&/scale'), ...where},
      ];
    const listing = selector === undefined || verbs.includes('list') ? [] : ['list'];
    return [...listing, ...verbs].map((each) => ({verb: each, resource, ...where}));
  });
}

/** A role may limit Secrets to names, but not their creation. */
const permissionsToWrite = (
  object: ObjectIdentity,
  verbs: readonly string[],
  {namespace}: ClusterTarget,
): Permission[] =>
  permissionsForObjects(verbs, [object], {namespace, objects: []}).map((permission) =>
    permission.resource === 'secrets' && permission.verb !== 'create'
      ? {...permission, name: object.metadata.name}
      : permission,
  );

/** RBAC prevents an account from granting permissions that it lacks, unless it may escalate and bind. */
export function grantedBy(
  object: KubernetesObject,
  objects: readonly KubernetesObject[],
  ownNamespace: string,
): Permission[] {
  const {kind = '', roleRef} = object as KubernetesObject & {roleRef?: ObjectRef};
  const role = roleRef ? objects.find((each) => isSameRef(refOf(each), roleRef)) : object;
  if (role?.kind !== 'Role' && role?.kind !== 'ClusterRole') return [];
  const resource = `${role.kind.toLowerCase()}s.rbac.authorization.k8s.io`;
  const namespace = kind.startsWith('Cluster') ? {} : {namespace: ownNamespace};
  const orElse = {verb: roleRef ? 'bind' : 'escalate', resource, ...namespace};
  return rulesOf(role).map((rule) => ({...rule, ...namespace, orElse}));
}

interface Role extends KubernetesObject {
  rules?:
    | readonly Partial<
        Record<'apiGroups' | 'resources' | 'resourceNames' | 'verbs', readonly string[]>
      >[]
    | null;
}

/** What a Role grants, one verb on one resource at a time. */
function rulesOf(role: KubernetesObject): {verb: string; resource: string; name?: string}[] {
  return ((role as Role).rules ?? []).flatMap(
    ({apiGroups = [''], resources = [], resourceNames: [name] = [], verbs = []}) =>
      resources.flatMap((plural) =>
        apiGroups.flatMap((group) =>
          verbs.map((verb) => ({
            verb,
            resource: group ? `${plural}.${group}` : plural,
            ...(name === undefined ? {} : {name}),
          })),
        ),
      ),
  );
}

/** `deployments/scale.apps` in the fields of an access review. */
export function attributesOf(spelled: string): {
  group?: string;
  resource: string;
  subresource?: string;
} {
  const [path = '', ...group] = spelled.split('.');
  const [resource = '', subresource] = path.split('/');
  return {
    resource,
    ...(group.length > 0 ? {group: group.join('.')} : {}),
    ...(subresource === undefined ? {} : {subresource}),
  };
}

/** Sends an access review per permission: rule lists (`kubectl auth can-i --list`) omit permissions from webhooks. */
export async function reviewPermissions<T extends Permission>(
  needs: readonly T[],
  kubernetes: Pick<KubernetesClient, 'post'>,
  signal: AbortSignal,
): Promise<Fact<readonly (T & {isAllowed: boolean})[]>> {
  const attributesByKey = new Map(needs.flatMap(questionsOf).map((each) => [keyOf(each), each]));
  const answers = new Map(
    await Promise.all(
      [...attributesByKey].map(
        async ([key, attributes]) =>
          [key, await reviewAccess(kubernetes, attributes, {signal, idleMs: REQUEST_MS})] as const,
      ),
    ),
  );
  for (const {error} of answers.values()) if (error) return unknownBy(error);
  const isAllowed = (question: ResourceAttributes): boolean =>
    answers.get(keyOf(question))?.value === true;
  return known(
    needs.map((need) => ({...need, isAllowed: questionsOf(need).some(isAllowed)})),
    'SelfSubjectAccessReview',
  );
}

/** Any of them is enough. */
function questionsOf({verb, resource, namespace, name, orElse}: Permission): ResourceAttributes[] {
  return [
    {verb, ...attributesOf(resource), namespace, name},
    ...(orElse ? questionsOf(orElse) : []),
  ];
}

const keyOf = ({verb, group, resource, subresource, namespace, name}: ResourceAttributes): string =>
  JSON.stringify([verb, group, resource, subresource, namespace, name]);

/** Attributes of a SelfSubjectAccessReview. */
export interface ResourceAttributes {
  verb: string;
  group?: string;
  resource: string;
  subresource?: string;
  namespace?: string | undefined;
  name?: string | undefined;
}

export async function reviewAccess(
  client: Pick<KubernetesClient, 'post'>,
  resourceAttributes: ResourceAttributes,
  options: RequestOptions,
): Promise<ReadResult<boolean>> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: {resourceAttributes},
  };
  const answer = await client.post(
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    review,
    options,
  );
  if (answer.error) return {error: answer.error};
  const isAllowed = (answer.body as {status?: {allowed?: boolean}} | null)?.status?.allowed;
  return typeof isAllowed === 'boolean'
    ? {value: isAllowed}
    : unanswered('answer every access review');
}

/** User name of this account in the API server: of its group if nobody is logged in. Requires Kubernetes 1.28. */
export async function currentUser(
  client: Pick<KubernetesClient, 'post'>,
  options: RequestOptions,
): Promise<ReadResult<string>> {
  const review = {apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview'};
  const answer = await client.post(
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    review,
    options,
  );
  if (answer.error) return {error: answer.error};
  const {username, groups} = (answer.body as SubjectReview | null)?.status?.userInfo ?? {};
  const user =
    groups?.includes(UNAUTHENTICATED) && username !== ANONYMOUS ? UNAUTHENTICATED : username;
  return typeof user === 'string' && user !== ''
    ? {value: user}
    : unanswered('return the user name');
}

interface SubjectReview {
  status?: {userInfo?: {username?: unknown; groups?: readonly string[]}};
}

const unanswered = (task: string): {error: ReadError} => ({
  error: {kind: 'refused', message: `the API server did not ${task}`},
});
