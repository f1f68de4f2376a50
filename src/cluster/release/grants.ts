import {type ClusterSelection, kubectlCommand} from '../../ground/command-line.ts';
import {anonymousText, isAnonymous, loginSteps} from '../../ground/identity.ts';
import {groupsOf} from '../../ground/text.ts';
import type {Values} from '../../ground/tree.ts';
import {toYaml} from '../../values/document.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import {attributesOf, type Permission} from '../kubernetes/permissions.ts';

/** Whom an administrator grants permissions, and for what. */
interface Grantee {
  /** What the permissions are for, below a name of ours: scalr-agent:install:agent-job. Each purpose has its own roles, so that none replaces another. */
  purpose: string;
  /** Also part of the name of a ClusterRole. */
  namespace: string;
  /** Name of the account in the API server; undefined if unknown. */
  user: string | undefined;
  /** What the roles leave out, as a sentence. */
  note?: string | undefined;
  /** The roles without Secrets exist as well, and this one must not replace them, nor they it. */
  hasOwnSecretsRole?: boolean;
}

const API_GROUP = 'rbac.authorization.k8s.io';
const API_VERSION = `${API_GROUP}/v1`;

/**
 * Roles that grant all these permissions, and their bindings to the account.
 * `kubectl apply` can repeat them, and changes nothing of another release, purpose or account. Pure.
 */
export function grantObjects(
  permissions: readonly Permission[],
  {purpose, namespace, user = 'USER', hasOwnSecretsRole = false}: Grantee,
): KubernetesObject[] {
  const purposeOf = ({resource}: Permission): string =>
    hasOwnSecretsRole && resource === 'secrets' ? `${purpose}-secrets` : purpose;
  const roleOf = (each: Permission): string => `${each.namespace ?? ''} ${purposeOf(each)}`;
  return groupsOf(permissions, roleOf).flatMap((some) => {
    const where = some[0].namespace;
    const kind = where === undefined ? 'ClusterRole' : 'Role';
    const wide = where === undefined ? [namespace] : [];
    const name = ['scalr-agent', ...wide, purposeOf(some[0])].join(':');
    const scope = where === undefined ? {} : {namespace: where};
    return [
      {apiVersion: API_VERSION, kind, metadata: {name, ...scope}, rules: rulesFor(some)},
      {
        apiVersion: API_VERSION,
        kind: `${kind}Binding`,
        metadata: {name: `${name}:${escaped(user)}`, ...scope},
        roleRef: {apiGroup: API_GROUP, kind, name},
        subjects: [subjectOf(user)],
      },
    ];
  });
}

/** A sentence for the user, then one YAML document for the administrator, however far it is indented. `cluster` is the one of the user. Pure. */
export function grantText(
  permissions: readonly Permission[],
  grantee: Grantee,
  cluster: ClusterSelection,
): string {
  // A role would be for everyone who reaches the API server.
  if (isAnonymous(grantee.user))
    return `${anonymousText(grantee.user)}. ${loginSteps(cluster).join('. ')}`;
  const whoIs =
    grantee.user === undefined
      ? `, with the output of "${kubectlCommand(cluster, 'auth', 'whoami')}" instead of USER`
      : '';
  const yaml = toYaml(
    {
      apiVersion: 'v1',
      kind: 'List',
      items: grantObjects(permissions, grantee),
    } as unknown as Values,
    {isPlain: true},
  );
  // Without a context, because that would use the account that lacks the permissions.
  const apply = kubectlCommand({}, 'apply', '--filename', 'roles.yaml');
  const ask = `Ask an administrator to save this list as roles.yaml${whoIs}, and to apply it: ${apply}`;
  const notes = [
    grantee.note,
    readsAllSecrets(permissions) ? ALL_SECRETS : undefined,
    asksForNamespace(permissions)
      ? `If namespace ${grantee.namespace} does not exist, it must be created before the roles.`
      : undefined,
    ask,
  ];
  return `${notes.filter((each) => each !== undefined).join(' ')}\n${yaml.trimEnd()}`;
}

/** A role needs its namespace, which an account without this permission may lack. */
const asksForNamespace = (permissions: readonly Permission[]): boolean =>
  permissions.some(({resource}) => resource === 'namespaces');

const ALL_SECRETS =
  'Helm stores every revision in a Secret with a new name, so the roles include all Secrets of the namespace.';

const readsAllSecrets = (permissions: readonly Permission[]): boolean =>
  permissions.some(
    ({verb, resource, name}) => resource === 'secrets' && verb === 'list' && name === undefined,
  );

/** Names of RBAC objects may contain anything but "/" and "%". */
const escaped = (user: string): string =>
  user.replaceAll(/[/%~]/g, (character) => `~${character.charCodeAt(0).toString(16)}`);

function subjectOf(user: string): object {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  return name === undefined
    ? {apiGroup: API_GROUP, kind: 'User', name: user}
    : {kind: 'ServiceAccount', name, namespace};
}

/** Resources of one API group that need the same verbs share a rule. */
function rulesFor(permissions: readonly Permission[]): object[] {
  const resources = groupsOf(permissions, ({resource, name}) =>
    JSON.stringify([resource, name]),
  ).map((same) => ({
    ...attributesOf(same[0].resource),
    name: same[0].name,
    verbs: [...new Set(same.map(({verb}) => verb))],
  }));
  return groupsOf(resources, ({group, name, verbs}) =>
    JSON.stringify([group, name, verbs.toSorted()]),
  ).map((same) => ({
    apiGroups: [same[0].group ?? ''],
    resources: same.map(({resource, subresource}) =>
      subresource === undefined ? resource : `${resource}/${subresource}`,
    ),
    ...(same[0].name === undefined ? {} : {resourceNames: [same[0].name]}),
    verbs: same[0].verbs,
  }));
}
