import {isKnown} from '../../cluster/facts/fact.ts';
import {type Check, fail, type Outcome, pass, skip, warn} from '../check.ts';
import {roleFor} from '../role-for.ts';
import type {Permission, Situation} from '../situation.ts';

const REF = 'https://kubernetes.io/docs/reference/access-authn-authz/rbac/';

const needed: Check = {
  id: 'permissions',
  group: 'Permissions',
  title: 'the account may do what the install does',
  ref: REF,
  test: (situation) => judged(situation, false, (message, missing) => fail(message, roleFor(missing, 'scalr-agent-install'))),
};

const useful: Check = {
  id: 'permissions-optional',
  group: 'Permissions',
  title: 'the account may do what explanations, upgrades and uninstalls do',
  ref: REF,
  // Under a name of its own: whoever applies both has both.
  test: (situation) => judged(situation, true, (message, missing) => warn(message, roleFor(missing, 'scalr-agent-install-optional'))),
};

function judged(
  {permissions, manifest, facts}: Situation,
  isOptional: boolean,
  refuse: (message: string, missing: readonly Permission[]) => Outcome,
): Outcome {
  if (!isKnown(permissions))
    return skip(permissions.because, isKnown(facts.versions.server) ? 'Ask it yourself: kubectl auth can-i --list' : undefined);
  const asked = permissions.value.filter((each) => each.isOptional === isOptional);
  const missing = asked.filter(({isAllowed}) => !isAllowed);
  const gap = isKnown(manifest) ? '' : '; what the chart makes is not known, so nobody was asked about that';
  if (missing.length === 0) return pass(`all ${asked.length} are there${gap}`);
  return refuse(`missing ${missing.length} of ${asked.length}: ${listed(missing)}${gap}`, missing);
}

/** `create, patch deployments.apps in team-a`; those that need the same verbs in the same place together. */
function listed(missing: readonly Permission[]): string {
  const verbs = new Map<string, {permission: Permission; verbs: Set<string>}>();
  for (const permission of missing) {
    const key = `${permission.resource} ${permission.namespace}`;
    const known = verbs.get(key) ?? {permission, verbs: new Set()};
    known.verbs.add(permission.verb);
    verbs.set(key, known);
  }
  const groups = new Map<string, {where: string; resources: string[]}>();
  for (const {permission, verbs: needed} of verbs.values()) {
    const what = [...needed].join(', ');
    const where = permission.namespace === undefined ? 'in the whole cluster' : `in ${permission.namespace}`;
    const known = groups.get(`${what} ${where}`) ?? {where, resources: []};
    known.resources.push(permission.resource);
    groups.set(`${what} ${where}`, known);
  }
  return [...groups].map(([key, {where, resources}]) => `${key.slice(0, -where.length - 1)} ${resources.join(', ')} ${where}`).join('; ');
}

export const permissionChecks: readonly Check[] = [needed, useful];
