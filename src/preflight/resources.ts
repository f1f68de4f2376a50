import type {KubernetesObject} from '../cluster/objects.ts';

/** The resource of an object, as deployments.apps: by the definition in the same chart, what the API server serves, or the rule of English. */
export function resourceOf(
  {kind = '', apiVersion = ''}: KubernetesObject,
  objects: readonly KubernetesObject[],
  served: readonly string[],
): string {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  const spelled = (plural: string): string => (group ? `${plural}.${group}` : plural);
  const own = objects.map(definitionOf).find((each) => each?.kind === kind && each.group === group);
  if (own) return spelled(own.plural);
  const singular = kind.toLowerCase();
  const candidates = [`${singular}s`, `${singular}es`, singular.replace(/y$/, 'ies'), singular].map(spelled);
  const byRule = /(s|x|ch|sh)$/.test(singular) ? candidates[1] : /[^aeiou]y$/.test(singular) ? candidates[2] : candidates[0];
  return candidates.find((each) => served.includes(each)) ?? (byRule as string);
}

interface Definition extends KubernetesObject {
  spec?: {group?: string; names?: {kind?: string; plural?: string}};
}

function definitionOf(object: KubernetesObject): {kind: string; group: string; plural: string} | undefined {
  if (object.kind !== 'CustomResourceDefinition') return undefined;
  const {group = '', names: {kind = '', plural = ''} = {}} = (object as Definition).spec ?? {};
  return plural === '' ? undefined : {kind, group, plural};
}

interface Role extends KubernetesObject {
  rules?:
    | readonly {
        apiGroups?: readonly string[];
        resources?: readonly string[];
        resourceNames?: readonly string[];
        verbs?: readonly string[];
      }[]
    | null;
}

/** What a Role gives, one verb on one resource at a time. */
export function rulesOf(role: KubernetesObject): {verb: string; resource: string; name?: string}[] {
  return ((role as Role).rules ?? []).flatMap(({apiGroups = [''], resources = [], resourceNames: [name] = [], verbs = []}) =>
    resources.flatMap((plural) =>
      apiGroups.flatMap((group) =>
        verbs.map((verb) => ({verb, resource: group ? `${plural}.${group}` : plural, ...(name === undefined ? {} : {name})})),
      ),
    ),
  );
}

/** `deployments/scale.apps` as the API server wants it. */
export function attributesOf(spelled: string): {group?: string; resource: string; subresource?: string} {
  const [path = '', ...group] = spelled.split('.');
  const [resource = '', subresource] = path.split('/');
  return {resource, ...(group.length > 0 ? {group: group.join('.')} : {}), ...(subresource === undefined ? {} : {subresource})};
}
