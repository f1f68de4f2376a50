import type {Call, Place, ReleaseName} from '../ports/processes.ts';
import {Secret} from '../settings/secret.ts';

/** Who wrote a field, as the API server remembers it. */
const FIELD_MANAGER = 'scalr-agent-install';

const kubectl = (place: Place, args: readonly string[], input?: Call['input']): Call => ({
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
 * An API server that accepts connections and says nothing would hold kubectl for ever; this holds for every single request of
 * the call. For calls that do not wait by themselves.
 */
const within = (seconds: number): string => `--request-timeout=${seconds}s`;
const PROMPT = within(15);

export const currentContext = (place: Place): Call => kubectl(place, ['config', 'view', '--minify', '--output', 'json']);

/** Every context of the kubeconfig; credentials in it are masked by kubectl. */
export const allContexts = (place: Place): Call => kubectl(place, ['config', 'view', '--output', 'json']);

/** One a line: namespace/scalr-agent. */
export const listNamespaces = (place: Place, seconds: number): Call =>
  kubectl(place, ['get', 'namespaces', '--output', 'name', within(seconds)]);

/** Of the program alone, without asking a server. */
export const clientVersion = (place: Place): Call => kubectl(place, ['version', '--client', '--output', 'json']);

/** Objects of several kinds in one list. */
export const listKinds = (place: Place, kinds: readonly string[]): Call =>
  kubectl(place, ['get', kinds.join(','), '--output', 'json', PROMPT]);

/** Server-side: a client-side apply would copy the data of a Secret into an annotation. */
export const applyObject = (place: Place, object: object, {isForced = false} = {}): Call =>
  kubectl(
    place,
    ['apply', '--server-side', '--field-manager', FIELD_MANAGER, ...(isForced ? ['--force-conflicts'] : []), PROMPT, '--filename', '-'],
    new Secret(JSON.stringify(object)),
  );

/** Something new; what has that name already is an error. The API server checks it itself. */
export const createObject = (place: Place, object: object): Call =>
  kubectl(
    place,
    ['create', '--field-manager', FIELD_MANAGER, '--validate=false', PROMPT, '--filename', '-'],
    new Secret(JSON.stringify(object)),
  );

/** As a whole, and only if nobody changed it since it was read: its resourceVersion goes along. */
export const replaceObject = (place: Place, object: object): Call =>
  kubectl(place, ['replace', '--field-manager', FIELD_MANAGER, PROMPT, '--filename', '-'], new Secret(JSON.stringify(object)));

/** What the API server says to objects, without anything being kept. They are merged into those that are there, as helm does it. */
export const dryRunMerge = (place: Place, items: readonly object[]): Call =>
  kubectl(place, ['apply', '--field-manager', FIELD_MANAGER, '--dry-run=server', PROMPT, '--filename', '-'], listOf(items));

/** The same for objects that are too large or too secret for the annotation that a merge would put into them. */
export const dryRunApply = (place: Place, items: readonly object[]): Call =>
  kubectl(
    place,
    ['apply', '--server-side', '--force-conflicts', '--field-manager', FIELD_MANAGER, '--dry-run=server', PROMPT, '--filename', '-'],
    listOf(items),
  );

const listOf = (items: readonly object[]): Secret => new Secret(JSON.stringify({apiVersion: 'v1', kind: 'List', items}));

/** Done when it has gone: a finalizer may hold it. */
export const deleteObject = (place: Place, kind: string, name: string, seconds: number): Call =>
  kubectl(place, ['delete', kind, name, '--ignore-not-found', `--timeout=${seconds}s`]);

/** For the user to run. */
export const deleteByHand = (place: Place, kind: string, name: string): Call => kubectl(place, ['delete', kind.toLowerCase(), name]);

/** Single objects, each as kind/name. Done when they have gone. */
export const deleteNamed = (place: Place, objects: readonly string[], seconds: number): Call =>
  kubectl(place, ['delete', ...objects, '--ignore-not-found', `--timeout=${seconds}s`]);

/** All of these kinds with that label. Returns at once. */
export const deleteLabelled = (place: Place, kinds: readonly string[], selector: string): Call =>
  kubectl(place, ['delete', kinds.join(','), `--selector=${selector}`, '--ignore-not-found', '--wait=false', PROMPT]);

export const releaseLogs = ({release, place}: ReleaseName): Call =>
  kubectl(place, ['logs', '--selector', `app.kubernetes.io/instance=${release}`]);

export const describePods = (place: Place): Call => kubectl(place, ['describe', 'pods']);

export const scale = (place: Place, kind: string, name: string, replicas: number): Call =>
  kubectl(place, ['scale', `${kind.toLowerCase()}/${name}`, `--replicas=${replicas}`, PROMPT]);

/** New pods one after another, as after an upgrade; the old ones end in good order. */
export const restart = (place: Place, kind: string, name: string): Call =>
  kubectl(place, ['rollout', 'restart', `${kind.toLowerCase()}/${name}`, PROMPT]);

/** `name-` takes an annotation away. */
export const annotate = (place: Place, object: string, annotation: string): Call =>
  kubectl(place, ['annotate', object, annotation, PROMPT]);

export const patchVolume = (place: Place, name: string, patch: object): Call =>
  kubectl(place, ['patch', 'persistentvolume', name, '--type=merge', `--patch=${JSON.stringify(patch)}`, PROMPT]);

/** `what` is names or a selector. Done at once when there is nothing of that. */
export const waitUntilGone = (place: Place, what: readonly string[], seconds: number): Call =>
  kubectl(place, ['wait', '--for=delete', ...what, `--timeout=${seconds}s`]);

export const waitForJobs = (place: Place, selector: string, seconds: number): Call =>
  kubectl(place, ['wait', '--for=condition=complete', 'job', `--selector=${selector}`, `--timeout=${seconds}s`]);

export const deleteJobs = (place: Place, selector: string): Call => kubectl(place, ['delete', 'job', `--selector=${selector}`]);

/** Returns at once; a claim goes only when the last pod that mounts it has gone. */
export const deleteClaim = (place: Place, name: string): Call =>
  kubectl(place, ['delete', 'persistentvolumeclaim', name, '--ignore-not-found', '--wait=false']);

/** Serves the API server on a socket until it is ended: reads and access reviews, and no way into a container. */
export const proxy = (place: Place, socket: string): Call =>
  kubectl(place, [
    'proxy',
    `--unix-socket=${socket}`,
    // Rancher and others serve a cluster below a path of their own; without this kubectl would leave that path out.
    '--append-server-path',
    '--accept-paths=^/(api|apis|version|readyz|livez|healthz|openapi|metrics)(/|$)',
    '--reject-paths=^/api/v1/namespaces/[^/]+/(pods|services)/[^/]+/(exec|attach|portforward|proxy)(/|$)',
    // Access reviews are created, so POST has to pass.
    '--reject-methods=^(PUT|PATCH|DELETE)$',
  ]);

/** One answer of the API server as it came. */
export const getRaw = (place: Place, path: string): Call => kubectl(place, ['get', '--raw', path]);

/** The same for a POST; the body goes to standard input. */
export const createRaw = (place: Place, path: string): Call => kubectl(place, ['create', '--raw', path, '--filename', '-']);
