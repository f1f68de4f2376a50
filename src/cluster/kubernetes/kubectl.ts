import type {ApiRequest, Call, ClusterTarget} from '../../ground/command-line.ts';
import {Secret} from '../../ground/secret.ts';
import {serverOfPod} from './in-pod.ts';
import {type GitOpsMark, groupVersionOf, objectPath, siblingsPath} from './kinds.ts';
import {type KubernetesObject, type ObjectRef, resourceName} from './objects.ts';

/** Field manager in managedFields. */
export const FIELD_MANAGER = 'scalr-agent-install';

/** With a timeout, kubectl uses localhost:8080 instead of the service account of its pod. */
const withoutTimeout = (args: readonly string[]): string[] =>
  args.filter((each) => !each.startsWith('--request-timeout='));

const kubectl = (
  kubeTarget: ClusterTarget,
  args: readonly string[],
  input?: Call['input'],
  requests?: Call['requests'],
): Call => ({
  tool: 'kubectl',
  args: [
    ...(kubeTarget.kubeContext || serverOfPod() === undefined ? args : withoutTimeout(args)),
    '--namespace',
    kubeTarget.namespace,
    ...(kubeTarget.kubeContext ? ['--context', kubeTarget.kubeContext] : []),
    ...(kubeTarget.kubeconfig ? ['--kubeconfig', kubeTarget.kubeconfig] : []),
  ],
  ...(input === undefined ? {} : {input}),
  ...(requests === undefined ? {} : {requests}),
});

const request = (
  method: ApiRequest['method'],
  contentType: string,
  path: string,
  body: object,
  query: Readonly<Record<string, string>> = {},
): ApiRequest => ({
  method,
  path: `${path}?${new URLSearchParams({fieldManager: FIELD_MANAGER, ...query})}`,
  contentType: `application/${contentType}`,
  body: new Secret(JSON.stringify(body)),
});

const applyRequest = (
  object: KubernetesObject,
  {namespace}: ClusterTarget,
  query: Readonly<Record<string, string>> = {},
): ApiRequest =>
  request('PATCH', 'apply-patch+yaml', objectPath(object, namespace), object, {
    fieldValidation: 'Strict',
    ...query,
  });

/**
 * kubectl would wait forever for an API server that accepts connections but does not respond. The timeout applies to each request of
 * the call. For calls without their own timeout.
 */
const PROMPT = '--request-timeout=15s';

export const currentContext = (kubeTarget: ClusterTarget): Call =>
  kubectl(kubeTarget, ['config', 'view', '--minify', '--output', 'json']);

/** All contexts of the kubeconfig; kubectl masks credentials. */
export const allContexts = (kubeTarget: ClusterTarget): Call =>
  kubectl(kubeTarget, ['config', 'view', '--output', 'json']);

/** The output of both calls. */
export interface Config {
  'current-context'?: string;
  contexts?: {name: string; context?: {cluster?: string}}[] | null;
  clusters?: {name: string; cluster?: {server?: string}}[] | null;
}

/** The context in use and its cluster; without a name in a pod, whose service account has no context. */
export interface SelectedCluster {
  name: string;
  cluster: string;
  server: string;
}

/** In the order of the kubeconfig. */
export const contextsIn = (config: Config | undefined): {name: string; cluster?: string}[] =>
  (config?.contexts ?? []).map(({name, context}) => ({
    name,
    ...(context?.cluster ? {cluster: context.cluster} : {}),
  }));

/** One per line: namespace/scalr-agent. Shells complete them, so it must answer at once. */
export const listNamespaces = (kubeTarget: ClusterTarget): Call =>
  kubectl(kubeTarget, ['get', 'namespaces', '--output', 'name', '--request-timeout=1s']);

/** Version of the program, without a request. */
export const clientVersion = (kubeTarget: ClusterTarget): Call =>
  kubectl(kubeTarget, ['version', '--client', '--output', 'json']);

export const listKinds = (kubeTarget: ClusterTarget, kinds: readonly string[]): Call =>
  kubectl(kubeTarget, ['get', kinds.join(','), '--output', 'json', PROMPT]);

/** Server-side: a client-side apply would copy the data of a Secret into an annotation. `takesOver` applies to people and Helm. */
export const applyObjects = (
  kubeTarget: ClusterTarget,
  objects: readonly KubernetesObject[],
  {takesOver = false} = {},
): Call =>
  kubectl(
    kubeTarget,
    [
      'apply',
      '--server-side',
      '--field-manager',
      FIELD_MANAGER,
      ...(takesOver ? ['--force-conflicts'] : []),
      PROMPT,
      '--filename',
      '-',
    ],
    objects.length === 1 ? new Secret(JSON.stringify(objects[0])) : listOf(objects),
    objects.map((each) => ({...applyRequest(each, kubeTarget), takesOver})),
  );

export const createObject = (kubeTarget: ClusterTarget, object: KubernetesObject): Call =>
  kubectl(
    kubeTarget,
    ['create', '--field-manager', FIELD_MANAGER, '--validate=false', PROMPT, '--filename', '-'],
    new Secret(JSON.stringify(object)),
    [request('POST', 'json', siblingsPath(object, kubeTarget.namespace), object)],
  );

/** Replaces an object only if it was not changed since it was read: the resourceVersion is sent along. */
export const replaceObject = (kubeTarget: ClusterTarget, object: KubernetesObject): Call =>
  kubectl(
    kubeTarget,
    ['replace', '--field-manager', FIELD_MANAGER, PROMPT, '--filename', '-'],
    new Secret(JSON.stringify(object)),
    [request('PUT', 'json', objectPath(object, kubeTarget.namespace), object)],
  );

/** The same change, which the API server only tries. */
export const dryRunOf = ({args, requests, ...call}: Call): Call => ({
  ...call,
  args: dryRunArgs(args, requests),
  ...(requests === undefined
    ? {}
    : {requests: requests.map((each) => ({...each, path: `${each.path}&dryRun=All`}))}),
});

/** `kubectl rollout restart` has no dry run, so its patch is tried. */
function dryRunArgs(args: Call['args'], requests: Call['requests'] = []): string[] {
  const [command = '', ...rest] = args;
  const dryRun = '--dry-run=server';
  if (command !== 'rollout') return [command, dryRun, ...rest];
  const [, resource = '', ...flags] = rest;
  const patch = `--patch=${requests[0]?.body.reveal()}`;
  return ['patch', dryRun, resource, '--type=strategic', patch, ...flags];
}

/** Server dry run of a new object, under its own name or a temporary one. */
export const dryRunCreate = (kubeTarget: ClusterTarget, object: KubernetesObject): Call =>
  dryRunOf(createObject(kubeTarget, object));

/** Server dry run of deletions in the namespace of the target. Objects that do not exist are ignored. */
export const dryRunDelete = (kubeTarget: ClusterTarget, items: readonly object[]): Call =>
  kubectl(
    kubeTarget,
    ['delete', '--dry-run=server', '--ignore-not-found', '--wait=false', PROMPT, '--filename', '-'],
    listOf(items),
  );

/** Server dry run. Objects are merged with existing ones, as helm does it; null removes a field. */
export function dryRunMerge(kubeTarget: ClusterTarget, items: readonly object[]): Call {
  // kubectl itself rejects null, for example as an annotation.
  const validation = JSON.stringify(items).includes(':null') ? ['--validate=false'] : [];
  const flags = ['--field-manager', FIELD_MANAGER, '--dry-run=server', ...validation, PROMPT];
  return kubectl(kubeTarget, ['apply', ...flags, '--filename', '-'], listOf(items));
}

/** The same for objects that are too large or too secret for the last-applied annotation of a merge. `asHelm` reports conflicts as Helm would. */
export function dryRunApply(
  kubeTarget: ClusterTarget,
  items: readonly KubernetesObject[],
  {asHelm = false, asJson = false} = {},
): Call {
  const manager = asHelm
    ? ['--field-manager', 'helm']
    : ['--force-conflicts', '--field-manager', FIELD_MANAGER];
  const query = asHelm ? {fieldManager: 'helm'} : {force: 'true'};
  const output = asJson ? ['--output', 'json', '--show-managed-fields=false'] : [];
  return kubectl(
    kubeTarget,
    [
      'apply',
      '--server-side',
      ...manager,
      '--dry-run=server',
      ...output,
      PROMPT,
      '--filename',
      '-',
    ],
    listOf(items),
    items.map((each) => applyRequest(each, kubeTarget, {...query, dryRun: 'All'})),
  );
}

const listOf = (items: readonly object[]): Secret =>
  new Secret(JSON.stringify({apiVersion: 'v1', kind: 'List', items}));

/** Waits until the object is deleted, including finalizers. */
export const deleteObject = (
  kubeTarget: ClusterTarget,
  kind: string,
  name: string,
  seconds: number,
): Call =>
  kubectl(kubeTarget, ['delete', kind, name, '--ignore-not-found', `--timeout=${seconds}s`]);

/** For the user to run. */
export const deleteByHand = (kubeTarget: ClusterTarget, kind: string, name: string): Call =>
  kubectl(kubeTarget, ['delete', kind.toLowerCase(), name]);

/** For the user to run. */
export const removeFinalizers = (kubeTarget: ClusterTarget, kind: string, name: string): Call =>
  kubectl(kubeTarget, [
    'patch',
    kind.toLowerCase(),
    name,
    '--type=merge',
    '--patch={"metadata":{"finalizers":null}}',
  ]);

/** For the user to run: an object no longer names its controller. */
export const removeMarks = (
  kubeTarget: ClusterTarget,
  object: string,
  {in: verb, keys}: Pick<GitOpsMark, 'in' | 'keys'>,
): Call => kubectl(kubeTarget, [verb, object, ...keys.map((key) => `${key}-`)]);

/** Single objects, each as kind/name. Waits until they are deleted. */
export const deleteNamed = (
  kubeTarget: ClusterTarget,
  objects: readonly string[],
  seconds: number,
): Call =>
  kubectl(kubeTarget, ['delete', ...objects, '--ignore-not-found', `--timeout=${seconds}s`]);

/** Objects of any kind, each as resource.group/name. Does not wait. */
export const deleteResources = (kubeTarget: ClusterTarget, objects: readonly string[]): Call =>
  kubectl(kubeTarget, ['delete', ...objects, '--ignore-not-found', '--wait=false', PROMPT]);

/** All objects of these kinds with the label. Does not wait. */
export const deleteLabeled = (
  kubeTarget: ClusterTarget,
  kinds: readonly string[],
  selector: string,
): Call =>
  kubectl(kubeTarget, [
    'delete',
    kinds.join(','),
    `--selector=${selector}`,
    '--ignore-not-found',
    '--wait=false',
    PROMPT,
  ]);

export const describePods = (kubeTarget: ClusterTarget): Call =>
  kubectl(kubeTarget, ['describe', 'pods']);

/** A change of one object, as kubectl and the API server spell it. */
const patchCall = (
  kubeTarget: ClusterTarget,
  args: readonly string[],
  path: string,
  patch: object,
): Call =>
  kubectl(kubeTarget, [...args, PROMPT], undefined, [
    request('PATCH', 'merge-patch+json', path, patch),
  ]);

const pathOf = ({namespace}: ClusterTarget, {kind, name}: ObjectRef): string =>
  objectPath({apiVersion: groupVersionOf(kind), kind, metadata: {name}}, namespace);

export function scale(
  kubeTarget: ClusterTarget,
  kind: string,
  name: string,
  replicas: number,
): Call {
  const args = ['scale', resourceName({kind, name}), `--replicas=${replicas}`];
  return patchCall(kubeTarget, args, `${pathOf(kubeTarget, {kind, name})}/scale`, {
    spec: {replicas},
  });
}

/** Restarts pods one after another, as an upgrade does; the old ones stop gracefully. Any time later than that of the last restart will do. */
export function restart(kubeTarget: ClusterTarget, kind: string, name: string): Call {
  const annotations = {'kubectl.kubernetes.io/restartedAt': new Date().toISOString()};
  const args = ['rollout', 'restart', resourceName({kind, name})];
  return patchCall(kubeTarget, args, pathOf(kubeTarget, {kind, name}), {
    spec: {template: {metadata: {annotations}}},
  });
}

/** Null removes an annotation. */
export const annotate = (
  kubeTarget: ClusterTarget,
  object: ObjectRef,
  annotations: Readonly<Record<string, string | null>>,
): Call =>
  patchCall(
    kubeTarget,
    ['annotate', ...assignments(object, annotations)],
    pathOf(kubeTarget, object),
    {metadata: {annotations}},
  );

export const label = (
  kubeTarget: ClusterTarget,
  object: ObjectRef,
  labels: Readonly<Record<string, string>>,
): Call =>
  patchCall(kubeTarget, ['label', ...assignments(object, labels)], pathOf(kubeTarget, object), {
    metadata: {labels},
  });

const assignments = (
  object: ObjectRef,
  changes: Readonly<Record<string, string | null>>,
): string[] => [
  resourceName(object),
  ...Object.entries(changes).map(([key, value]) =>
    value === null ? `${key}-` : `${key}=${value}`,
  ),
  '--overwrite',
];

export function patchVolume(kubeTarget: ClusterTarget, name: string, patch: object): Call {
  const args = [
    'patch',
    'persistentvolume',
    name,
    '--type=merge',
    `--patch=${JSON.stringify(patch)}`,
  ];
  return patchCall(kubeTarget, args, pathOf(kubeTarget, {kind: 'PersistentVolume', name}), patch);
}

/** `what` is names or a selector. Returns at once if there are none. */
export const waitUntilGone = (
  kubeTarget: ClusterTarget,
  what: readonly string[],
  seconds: number,
): Call => kubectl(kubeTarget, ['wait', '--for=delete', ...what, `--timeout=${seconds}s`]);

export const waitForJobs = (kubeTarget: ClusterTarget, selector: string, seconds: number): Call =>
  kubectl(kubeTarget, [
    'wait',
    '--for=condition=complete',
    'job',
    `--selector=${selector}`,
    `--timeout=${seconds}s`,
  ]);

export const deleteJobs = (kubeTarget: ClusterTarget, selector: string): Call =>
  kubectl(kubeTarget, ['delete', 'job', `--selector=${selector}`]);

/** Does not wait; a PersistentVolumeClaim is deleted only after the last pod that mounts it. */
export const deleteClaim = (kubeTarget: ClusterTarget, name: string): Call =>
  kubectl(kubeTarget, [
    'delete',
    'persistentvolumeclaim',
    name,
    '--ignore-not-found',
    '--wait=false',
  ]);

/** Proxies the API server on a socket until it is stopped: reads, reviews and applied objects, but no deletions, exec or attach. */
export const proxy = (kubeTarget: ClusterTarget, socket: string): Call =>
  kubectl(kubeTarget, [
    'proxy',
    `--unix-socket=${socket}`,
    // Rancher and others serve the API under a path prefix, which kubectl would otherwise drop.
    '--append-server-path',
    '--accept-paths=^/(api|apis|version|readyz|livez|healthz|openapi|metrics)(/|$)',
    '--reject-paths=^/api/v1/namespaces/[^/]+/(pods|services)/[^/]+/(exec|attach|portforward|proxy)(/|$)',
    '--reject-methods=^DELETE$',
  ]);

export const getRaw = (kubeTarget: ClusterTarget, path: string): Call =>
  kubectl(kubeTarget, ['get', '--raw', path]);

/** The same with POST; the body is read from standard input. */
export const createRaw = (kubeTarget: ClusterTarget, path: string): Call =>
  kubectl(kubeTarget, ['create', '--raw', path, '--filename', '-']);
