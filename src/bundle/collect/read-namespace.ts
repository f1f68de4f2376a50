import type {ReadError} from '../../ground/fact.ts';
import {jsonText} from '../../ground/tree.ts';
import type {ApiReader} from '../../kubernetes/client.ts';
import type {Event, KubernetesObject} from '../../kubernetes/objects.ts';
import {listAll} from '../../kubernetes/resources.ts';
import {withoutSecrets} from '../../redact/objects.ts';

/** A part that could not be read, or only incompletely. */
export interface Gap {
  /** Missing file in the bundle, or the kind of object. */
  what: string;
  error: ReadError;
  /** When the recording broke off, as ISO 8601. */
  at?: string | undefined;
  /** Optional part that many accounts cannot read. */
  isMinor?: boolean;
  /** Secrets of a namespace: they were not searched, so their values may be in the bundle. */
  isOfSecrets?: boolean;
}

export interface NamespaceReading {
  /** All readable kinds. */
  objects: readonly KubernetesObject[];
  gaps: readonly Gap[];
}

/** Lists all objects of a namespace that support requires; unreadable kinds are gaps. */
export async function readNamespace(api: ApiReader, namespace: string, signal: AbortSignal): Promise<NamespaceReading> {
  const lists = await Promise.all(
    BUNDLED_KINDS.map(async ({kind, path, isOptional = false, isOftenHidden = false}) => {
      const {items, error} = await listAll(api, path(namespace), {signal});
      const objects = (items as KubernetesObject[]).map((item) => named(item, kind));
      const isMissing = error?.kind === 'not-found' && isOptional;
      return {
        objects,
        gaps:
          error === undefined || isMissing ? [] : [{what: `${kind} objects`, error, isMinor: isOftenHidden && error.kind === 'forbidden'}],
      };
    }),
  );
  return {objects: lists.flatMap(({objects}) => objects), gaps: lists.flatMap(({gaps}) => gaps)};
}

/** Items of a list have no kind. managedFields are removed, because they use half of the memory. */
function named(item: KubernetesObject, kind: string): KubernetesObject {
  const {managedFields: _, ...metadata} = item.metadata as KubernetesObject['metadata'] & {managedFields?: unknown};
  return {...item, kind, metadata};
}

/** One kind of object in a bundle. */
export interface NamespaceKind {
  kind: string;
  /** Resource name as in RBAC and kubectl: deployments.apps */
  resource: string;
  /** API path of the list. */
  path(namespace: string): string;
  /** The kind does not exist in every cluster. */
  isOptional?: boolean;
  /** Accounts that can read the other kinds often cannot read this one. */
  isOftenHidden?: boolean;
}

const CORE = '/api/v1';

const kind = (
  name: string,
  api: string,
  plural: string,
  more: Pick<NamespaceKind, 'isOptional' | 'isOftenHidden'> = {},
): NamespaceKind => ({
  kind: name,
  resource: api === CORE ? plural : `${plural}.${api.split('/')[2]}`,
  path: (namespace) => `${api}/namespaces/${encodeURIComponent(namespace)}/${plural}`,
  ...more,
});

/** Kinds that support requires, owners before their dependents. Secrets are read only to redact their values. */
export const BUNDLED_KINDS: readonly NamespaceKind[] = [
  kind('Deployment', '/apis/apps/v1', 'deployments'),
  kind('DaemonSet', '/apis/apps/v1', 'daemonsets'),
  kind('StatefulSet', '/apis/apps/v1', 'statefulsets'),
  kind('ReplicaSet', '/apis/apps/v1', 'replicasets'),
  kind('Job', '/apis/batch/v1', 'jobs'),
  kind('Pod', CORE, 'pods'),
  kind('PersistentVolumeClaim', CORE, 'persistentvolumeclaims'),
  kind('ServiceAccount', CORE, 'serviceaccounts'),
  kind('ResourceQuota', CORE, 'resourcequotas'),
  kind('LimitRange', CORE, 'limitranges'),
  kind('NetworkPolicy', '/apis/networking.k8s.io/v1', 'networkpolicies'),
  kind('PodDisruptionBudget', '/apis/policy/v1', 'poddisruptionbudgets'),
  kind('Role', '/apis/rbac.authorization.k8s.io/v1', 'roles', {isOftenHidden: true}),
  kind('RoleBinding', '/apis/rbac.authorization.k8s.io/v1', 'rolebindings', {isOftenHidden: true}),
  // The three generations of agent-job: docs/charts/agent-job.md, "Objects".
  kind('AgentTaskTemplate', '/apis/scalr.io/v1', 'agenttasktemplates', {isOptional: true, isOftenHidden: true}),
  kind('AgentTask', '/apis/scalr.io/v1', 'atasks', {isOptional: true, isOftenHidden: true}),
  kind('AgentWorker', '/apis/scalr.io/v1', 'agentworkers', {isOptional: true, isOftenHidden: true}),
  kind('Event', CORE, 'events'),
];

export interface TextFile {
  name: string;
  text: string;
}

/** Returns the placeholder of a secret value in a file. */
export type HideIn = (file: string) => (value: string) => string;

/** One file per object, by kind; all events in one file, newest last. `placed` changes the path of a file. */
export function objectFiles(
  objects: readonly KubernetesObject[],
  hideIn: HideIn,
  placed: (name: string) => string = (name) => name,
): TextFile[] {
  const events = objects.filter(({kind}) => kind === 'Event') as Event[];
  const others = objects.filter(({kind}) => kind !== 'Event');
  const times = new Map<string, number>();
  // A chart can create objects with the same name in two namespaces.
  const nameOf = ({kind = 'object', metadata}: KubernetesObject): string => {
    const name = `objects/${kind.toLowerCase()}/${metadata.name}`;
    const before = times.get(name) ?? 0;
    times.set(name, before + 1);
    return placed(before === 0 ? `${name}.json` : `${name}.${before + 1}.json`);
  };
  return [
    ...others.map((object) => {
      const name = nameOf(object);
      return {name, text: jsonText(withoutSecrets(object, hideIn(name)))};
    }),
    ...(events.length === 0 ? [] : [{name: placed('events.txt'), text: events.toSorted(byTime).map(eventLine).join('')}]),
  ];
}

const timeOf = ({series, lastTimestamp, eventTime, firstTimestamp, metadata}: Event): string =>
  series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata.creationTimestamp ?? '';

const byTime = (one: Event, other: Event): number => timeOf(one).localeCompare(timeOf(other));

const eventLine = (event: Event): string => {
  const {type = '', reason = '', message = '', count = event.series?.count ?? 1, involvedObject: about} = event;
  return `${timeOf(event)}  ${type}  ${about?.kind}/${about?.name}  ${reason}  ${message.replaceAll('\n', ' ')}${count > 1 ? `  (${count} times)` : ''}\n`;
};
