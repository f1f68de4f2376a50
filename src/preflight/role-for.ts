import {toYaml} from '../values/yaml.ts';
import {attributesOf} from './resources.ts';
import type {Permission} from './situation.ts';

/** The Role and ClusterRole of that name that give these permissions, ready to be applied, and how to bind them. */
export function roleFor(permissions: readonly Permission[], name: string): string {
  const namespace = permissions.find((each) => each.namespace !== undefined)?.namespace;
  const within = permissions.filter((each) => each.namespace !== undefined);
  const everywhere = permissions.filter((each) => each.namespace === undefined);
  const roles = [
    ...(within.length > 0 ? [{kind: 'Role', metadata: {name, namespace: namespace as string}, rules: rulesFor(within)}] : []),
    ...(everywhere.length > 0 ? [{kind: 'ClusterRole', metadata: {name}, rules: rulesFor(everywhere)}] : []),
  ];
  const bind = [
    ...(within.length > 0 ? [`kubectl create rolebinding ${name} --role=${name} --namespace=${namespace} --user=<YOU>`] : []),
    ...(everywhere.length > 0 ? [`kubectl create clusterrolebinding ${name} --clusterrole=${name} --user=<YOU>`] : []),
  ];
  const texts = roles.map((role) => toYaml({apiVersion: 'rbac.authorization.k8s.io/v1', ...role}).replaceAll(/\n\n/g, '\n'));
  return `Ask for these roles, bound with: ${bind.join('; ')}\n${texts.join('---\n').trimEnd()}`;
}

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  [key: string]: string[];
}

/** Resources of one group that need the same verbs share a rule. */
function rulesFor(permissions: readonly Permission[]): Rule[] {
  const verbs = new Map<string, Set<string>>();
  for (const {resource, verb} of permissions) verbs.set(resource, (verbs.get(resource) ?? new Set()).add(verb));
  const rules = new Map<string, Rule>();
  for (const [spelled, needed] of verbs) {
    const {group = '', resource, subresource} = attributesOf(spelled);
    const key = JSON.stringify([group, ...[...needed].toSorted()]);
    const rule = rules.get(key) ?? {apiGroups: [group], resources: [], verbs: [...needed]};
    rule.resources.push(subresource === undefined ? resource : `${resource}/${subresource}`);
    rules.set(key, rule);
  }
  return [...rules.values()];
}
