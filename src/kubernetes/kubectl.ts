import type {Call, ClusterTarget} from '../ground/command-line.ts';
import {Secret} from '../ground/secret.ts';

/** Field manager in managedFields. */
const FIELD_MANAGER = 'scalr-agent-install';

const kubectl = (place: ClusterTarget, args: readonly string[], input?: Call['input']): Call => ({
  tool: 'kubectl',
  args: [
    ...args,
    '--namespace',
    place.namespace,
    ...(place.kubeContext ? ['--context', place.kubeContext] : []),
    ...(place.kubeconfig ? ['--kubeconfig', place.kubeconfig] : []),
  ],
  ...(input === undefined ? {} : {input}),
});

/**
 * kubectl would wait forever for an API server that accepts connections but does not respond. The timeout applies to each request of
 * the call. For calls without their own timeout.
 */
const requestTimeout = (seconds: number): string => `--request-timeout=${seconds}s`;
const PROMPT = requestTimeout(15);

export const currentContext = (place: ClusterTarget): Call => kubectl(place, ['config', 'view', '--minify', '--output', 'json']);

/** All contexts of the kubeconfig; kubectl masks credentials. */
export const allContexts = (place: ClusterTarget): Call => kubectl(place, ['config', 'view', '--output', 'json']);

/** One per line: namespace/scalr-agent. */
export const listNamespaces = (place: ClusterTarget, seconds: number): Call =>
  kubectl(place, ['get', 'namespaces', '--output', 'name', requestTimeout(seconds)]);

/** Version of the program, without a request. */
export const clientVersion = (place: ClusterTarget): Call => kubectl(place, ['version', '--client', '--output', 'json']);

/** Objects of several kinds in one list. */
export const listKinds = (place: ClusterTarget, kinds: readonly string[]): Call =>
  kubectl(place, ['get', kinds.join(','), '--output', 'json', PROMPT]);

/** Server-side: a client-side apply would copy the data of a Secret into an annotation. */
export const applyObject = (place: ClusterTarget, object: object, {isForced = false} = {}): Call =>
  kubectl(
    place,
    ['apply', '--server-side', '--field-manager', FIELD_MANAGER, ...(isForced ? ['--force-conflicts'] : []), PROMPT, '--filename', '-'],
    new Secret(JSON.stringify(object)),
  );

/** Creates an object; fails if it already exists. */
export const createObject = (place: ClusterTarget, object: object): Call =>
  kubectl(
    place,
    ['create', '--field-manager', FIELD_MANAGER, '--validate=false', PROMPT, '--filename', '-'],
    new Secret(JSON.stringify(object)),
  );

/** Replaces an object only if it was not changed since it was read: the resourceVersion is sent along. */
export const replaceObject = (place: ClusterTarget, object: object): Call =>
  kubectl(place, ['replace', '--field-manager', FIELD_MANAGER, PROMPT, '--filename', '-'], new Secret(JSON.stringify(object)));

/** Server dry run. Objects are merged with existing ones, as helm does it. */
export const dryRunMerge = (place: ClusterTarget, items: readonly object[]): Call =>
  kubectl(place, ['apply', '--field-manager', FIELD_MANAGER, '--dry-run=server', PROMPT, '--filename', '-'], listOf(items));

/** The same for objects that are too large or too secret for the last-applied annotation of a merge. `asHelm` reports conflicts as Helm would. */
export function dryRunApply(place: ClusterTarget, items: readonly object[], {asHelm = false} = {}): Call {
  const manager = asHelm ? ['--field-manager', 'helm'] : ['--force-conflicts', '--field-manager', FIELD_MANAGER];
  return kubectl(place, ['apply', '--server-side', ...manager, '--dry-run=server', PROMPT, '--filename', '-'], listOf(items));
}

const listOf = (items: readonly object[]): Secret => new Secret(JSON.stringify({apiVersion: 'v1', kind: 'List', items}));

/** Waits until the object is deleted, including finalizers. */
export const deleteObject = (place: ClusterTarget, kind: string, name: string, seconds: number): Call =>
  kubectl(place, ['delete', kind, name, '--ignore-not-found', `--timeout=${seconds}s`]);

/** For the user to run. */
export const deleteByHand = (place: ClusterTarget, kind: string, name: string): Call =>
  kubectl(place, ['delete', kind.toLowerCase(), name]);

/** Single objects, each as kind/name. Waits until they are deleted. */
export const deleteNamed = (place: ClusterTarget, objects: readonly string[], seconds: number): Call =>
  kubectl(place, ['delete', ...objects, '--ignore-not-found', `--timeout=${seconds}s`]);

/** All objects of these kinds with the label. Does not wait. */
export const deleteLabelled = (place: ClusterTarget, kinds: readonly string[], selector: string): Call =>
  kubectl(place, ['delete', kinds.join(','), `--selector=${selector}`, '--ignore-not-found', '--wait=false', PROMPT]);

export const describePods = (place: ClusterTarget): Call => kubectl(place, ['describe', 'pods']);

export const scale = (place: ClusterTarget, kind: string, name: string, replicas: number): Call =>
  kubectl(place, ['scale', `${kind.toLowerCase()}/${name}`, `--replicas=${replicas}`, PROMPT]);

/** Restarts pods one after another, as an upgrade does; the old ones stop gracefully. */
export const restart = (place: ClusterTarget, kind: string, name: string): Call =>
  kubectl(place, ['rollout', 'restart', `${kind.toLowerCase()}/${name}`, PROMPT]);

/** `name-` removes an annotation. */
export const annotate = (place: ClusterTarget, object: string, annotation: string, {overwrites = false} = {}): Call =>
  kubectl(place, ['annotate', object, annotation, ...(overwrites ? ['--overwrite'] : []), PROMPT]);

export const label = (place: ClusterTarget, object: string, labels: readonly string[]): Call =>
  kubectl(place, ['label', object, ...labels, '--overwrite', PROMPT]);

export const patchVolume = (place: ClusterTarget, name: string, patch: object): Call =>
  kubectl(place, ['patch', 'persistentvolume', name, '--type=merge', `--patch=${JSON.stringify(patch)}`, PROMPT]);

/** `what` is names or a selector. Returns at once if there are none. */
export const waitUntilGone = (place: ClusterTarget, what: readonly string[], seconds: number): Call =>
  kubectl(place, ['wait', '--for=delete', ...what, `--timeout=${seconds}s`]);

export const waitForJobs = (place: ClusterTarget, selector: string, seconds: number): Call =>
  kubectl(place, ['wait', '--for=condition=complete', 'job', `--selector=${selector}`, `--timeout=${seconds}s`]);

export const deleteJobs = (place: ClusterTarget, selector: string): Call => kubectl(place, ['delete', 'job', `--selector=${selector}`]);

/** Does not wait; a PersistentVolumeClaim is deleted only after the last pod that mounts it. */
export const deleteClaim = (place: ClusterTarget, name: string): Call =>
  kubectl(place, ['delete', 'persistentvolumeclaim', name, '--ignore-not-found', '--wait=false']);

/** Proxies the API server on a socket until it is stopped: reads and access reviews, but no exec or attach. */
export const proxy = (place: ClusterTarget, socket: string): Call =>
  kubectl(place, [
    'proxy',
    `--unix-socket=${socket}`,
    // Rancher and others serve the API under a path prefix, which kubectl would otherwise drop.
    '--append-server-path',
    '--accept-paths=^/(api|apis|version|readyz|livez|healthz|openapi|metrics)(/|$)',
    '--reject-paths=^/api/v1/namespaces/[^/]+/(pods|services)/[^/]+/(exec|attach|portforward|proxy)(/|$)',
    // Access reviews are created with POST.
    '--reject-methods=^(PUT|PATCH|DELETE)$',
  ]);

/** Raw response of the API server. */
export const getRaw = (place: ClusterTarget, path: string): Call => kubectl(place, ['get', '--raw', path]);

/** The same with POST; the body is read from standard input. */
export const createRaw = (place: ClusterTarget, path: string): Call => kubectl(place, ['create', '--raw', path, '--filename', '-']);
