import {eventCount, timeOf} from '../../../checks/diagnose/events.ts';
import type {ApiReader} from '../../../cluster/kubernetes/client.ts';
import {pluralOfKind, resourceNamed} from '../../../cluster/kubernetes/kinds.ts';
import type {Claim, Event, KubernetesObject, Pod} from '../../../cluster/kubernetes/objects.ts';
import {listAll, listObjects} from '../../../cluster/kubernetes/resources.ts';
import {skewOf} from '../../../cluster/kubernetes/server-clock.ts';
import {platformOf} from '../../../cluster/platform/platform.ts';
import {
  cniOf,
  type NetworkPolicies,
  networkPoliciesOf,
} from '../../../cluster/platform/policies.ts';
import type {
  ConfigMapObject,
  NodeObject,
  PlatformReadings,
  PodOwner,
} from '../../../cluster/platform/readings.ts';
import {type Fact, known, type ReadError, unknown} from '../../../ground/fact.ts';
import {type ObjectFinding, objectFinding} from '../../../ground/finding.ts';
import {jsonText} from '../../../ground/json.ts';

import {withoutSecrets} from '../redact/find-secrets.ts';
import {type Gap, optionalGap} from './gap.ts';
import type {Since} from './log-items.ts';

/** Lists all objects of a namespace that support requires; unreadable kinds are gaps. */
export async function readNamespace(
  api: ApiReader,
  namespace: string,
  signal: AbortSignal,
): Promise<{objects: KubernetesObject[]; gaps: Gap[]}> {
  const lists = await Promise.all(
    BUNDLED_KINDS.map(async ({kind, resource, isOftenHidden, ...where}) => {
      const {items, error} = await listObjects<KubernetesObject>(api, resource, {
        ...where,
        namespace,
        signal,
      });
      const isMissing = error?.kind === 'not-found' && where.groupVersion !== undefined;
      return {
        objects: items.map((item) => ({...item, kind})),
        gaps:
          error === undefined || isMissing
            ? []
            : [
                {
                  what: `${kind} objects`,
                  error,
                  isMinor: isOftenHidden && error.kind === 'forbidden',
                },
              ],
      };
    }),
  );
  return {objects: lists.flatMap(({objects}) => objects), gaps: lists.flatMap(({gaps}) => gaps)};
}

/** One kind of object in a bundle. */
export interface NamespaceKind {
  kind: string;
  /** Resource name as in RBAC and kubectl: deployments.apps */
  resource: string;
  /** Of kinds that do not exist in every cluster. */
  groupVersion?: string;
  /** Accounts that can read the other kinds often cannot read this one. */
  isOftenHidden: boolean;
}

const ofEveryCluster = (kind: string, isOftenHidden = false): NamespaceKind => ({
  kind,
  resource: resourceNamed(kind) as string,
  isOftenHidden,
});

/** Kinds that support requires, owners before their dependents. Secrets are read only to redact their values. */
export const BUNDLED_KINDS: readonly NamespaceKind[] = [
  'Deployment',
  'DaemonSet',
  'StatefulSet',
  'ReplicaSet',
  'Job',
  'Pod',
  'PersistentVolumeClaim',
  'ServiceAccount',
  'ResourceQuota',
  'LimitRange',
  'NetworkPolicy',
  'PodDisruptionBudget',
]
  .map((kind) => ofEveryCluster(kind))
  .concat(
    ['Role', 'RoleBinding'].map((kind) => ofEveryCluster(kind, true)),
    // The three generations of agent-job: docs/charts/agent-job.md, "Objects".
    ['AgentTaskTemplate', 'AgentTask', 'AgentWorker'].map((kind) => ({
      kind,
      resource: `${pluralOfKind(kind)}.scalr.io`,
      groupVersion: 'scalr.io/v1',
      isOftenHidden: true,
    })),
    ofEveryCluster('Event'),
  );

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
  const inOrder = events.toSorted((one, other) => timeOf(one).localeCompare(timeOf(other)));
  return [
    ...others.map((object) => {
      const name = nameOf(object);
      return {name, text: jsonText(withoutSecrets(object, hideIn(name)))};
    }),
    ...(events.length === 0
      ? []
      : [{name: placed('events.txt'), text: inOrder.map(eventLine).join('')}]),
  ];
}

const eventLine = (event: Event): string => {
  const {type = '', reason = '', message = '', involvedObject: about} = event;
  const count = eventCount(event);
  return `${timeOf(event)}  ${type}  ${about?.kind}/${about?.name}  ${reason}  ${message.replaceAll('\n', ' ')}${count > 1 ? `  (${count} times)` : ''}\n`;
};

/** Cluster-scoped data: nodes of the pods, volumes of their claims, and the server version. */
export async function readClusterScope(
  objects: readonly KubernetesObject[],
  {api, signal, now}: {api: Pick<ApiReader, 'get'>; signal: AbortSignal; now(): Date},
): Promise<{objects: KubernetesObject[]; version: unknown; gaps: Gap[]; skewMs: number}> {
  const nodes = new Set(
    objects.flatMap((object) =>
      object.kind === 'Pod' ? ((object as Pod).spec?.nodeName ?? []) : [],
    ),
  );
  const volumes = new Set(
    objects.flatMap((object) =>
      object.kind === 'PersistentVolumeClaim' ? ((object as Claim).spec?.volumeName ?? []) : [],
    ),
  );
  const gaps: Gap[] = [];
  const read = async (kind: string, path: string): Promise<KubernetesObject[]> => {
    const {error, ...answer} = await api.get(path, {signal});
    // A namespaced account cannot read them, and they are optional.
    if (error) gaps.push(optionalGap(path, error));
    return error || !('body' in answer)
      ? []
      : [{...withoutImages(answer.body as KubernetesObject), kind}];
  };
  const [version, ...found] = await Promise.all([
    api.get('/version', {signal}).then((answer) => ({...answer, skewMs: skewOf(answer, now())})),
    ...[...nodes].map((name) => read('Node', `/api/v1/nodes/${encodeURIComponent(name)}`)),
    ...[...volumes].map((name) =>
      read('PersistentVolume', `/api/v1/persistentvolumes/${encodeURIComponent(name)}`),
    ),
  ]);
  return {
    objects: found.flat(),
    version: version.error ? undefined : version.body,
    gaps,
    skewMs: version.skewMs,
  };
}

/** Removes the image list of the node, which has hundreds of lines. */
function withoutImages(
  object: KubernetesObject & {status?: Readonly<Record<string, unknown>>},
): KubernetesObject {
  const {images: _, ...status} = object.status ?? {};
  return object.status === undefined ? object : ({...object, status} as KubernetesObject);
}

/** Detected enforcement of the network policies of releases. */
export interface Enforcement {
  policies: NetworkPolicies;
  file: TextFile;
  gaps: readonly Gap[];
}

export const NETWORK = 'network.json';

/** Only read if a release has a policy, because the network plugin is in another namespace. */
export async function readEnforcement(
  objects: readonly KubernetesObject[],
  {nodes, server}: {nodes: readonly NodeObject[]; server: string | undefined},
  {api, signal}: {api: Pick<ApiReader, 'get'>; signal: AbortSignal},
): Promise<Enforcement | undefined> {
  if (!objects.some(({kind}) => kind === 'NetworkPolicy')) return undefined;
  const isK3s = nodes.some(
    ({metadata}) => metadata.annotations?.['k3s.io/node-args'] !== undefined,
  );
  const [sets, cilium, all] = await Promise.all([
    listAll(api, '/apis/apps/v1/daemonsets', {signal}),
    api.get('/api/v1/namespaces/kube-system/configmaps/cilium-config', {signal}),
    // Only the k3s servers show it, and agents may run on other nodes.
    isK3s ? listAll(api, '/api/v1/nodes', {signal}) : undefined,
  ]);
  const readings: Pick<PlatformReadings, 'daemonSets' | 'nodes' | 'ciliumConfig'> = {
    daemonSets: sets.error
      ? unanswered(sets.error)
      : known(sets.items as PodOwner[], 'daemonsets.apps'),
    nodes: known(all?.items.length ? (all.items as NodeObject[]) : nodes, 'nodes'),
    ciliumConfig: cilium.error
      ? unanswered(cilium.error)
      : known(cilium.body as ConfigMapObject, 'configmaps/cilium-config'),
  };
  const {distribution} = platformOf({
    ...readings,
    serverVersion: server === undefined ? unknown('failed', 'not read') : known(server, '/version'),
    resources: unknown('undetermined', 'not requested'),
  });
  const cni = cniOf(readings, distribution);
  const policies = networkPoliciesOf(cni, readings);
  const gaps = sets.error
    ? [
        optionalGap(
          'DaemonSets of the cluster (to detect whether network policies are enforced)',
          sets.error,
        ),
      ]
    : [];
  return {policies, file: {name: NETWORK, text: jsonText({cni, networkPolicies: policies})}, gaps};
}

function unanswered({kind, message}: ReadError): Fact<never> {
  if (kind === 'forbidden') return unknown('forbidden', message);
  return unknown(kind === 'stalled' ? 'timed-out' : 'failed', message);
}

/** Findings about clock skew, and about a start time in the future. Pure. */
export function clockSkewFindings(skewMs: number, since: Since, now: Date): ObjectFinding[] {
  const theirs = new Date(now.getTime() + skewMs);
  const found: ObjectFinding[] = [];
  if (skewMs !== 0)
    found.push(
      objectFinding('warning', 'clock of this machine', 'CLOCK_SKEW', {
        message: `${spanText(Math.abs(skewMs))} ${skewMs > 0 ? 'behind' : 'ahead of'} the clock of the cluster. All times in this bundle are cluster time, except its creation time`,
        remedy:
          'Set the clock, for example with timedatectl set-ntp true. --since-time is compared with cluster time, like logs and events',
      }),
    );
  if (since !== undefined && 'time' in since && Date.parse(since.time) > theirs.getTime())
    found.push(
      objectFinding('error', '--since-time', 'SINCE_IN_FUTURE', {
        message: `${since.time} is later than the current time of the cluster (${theirs.toISOString()}), so no log matches`,
        remedy: 'Collect again with --since, which is relative to the clock of the cluster',
      }),
    );
  return found;
}

function spanText(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
