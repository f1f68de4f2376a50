import type {ApiRequest, KubectlCall} from '../../ground/call.ts';
import type {ClusterTarget} from '../../ground/command-line.ts';
import {Secret} from '../../ground/secret.ts';
import {groupVersionOf, objectPath, siblingsPath} from './kinds.ts';
import {requestTimeout} from './kubectl.ts';
import {identityOf, type ObjectRef, resourceOfRef} from './object-refs.ts';
import type {KubernetesObject} from './objects.ts';

/** Calls of kubectl that create or change objects. */

/** Field manager in managedFields. */
export const FIELD_MANAGER = 'scalr-agent-install';

const MANAGED = ['--field-manager', FIELD_MANAGER];

interface RequestOptions {
  contentType: string;
  path: string;
  body: object;
  query?: Readonly<Record<string, string>>;
}

const request = (
  method: ApiRequest['method'],
  {contentType, path, body, query = {}}: RequestOptions,
): ApiRequest => ({
  method,
  path: `${path}?${new URLSearchParams({fieldManager: FIELD_MANAGER, ...query})}`,
  contentType: `application/${contentType}`,
  body: new Secret(JSON.stringify(body)),
});

export const applyRequest = (
  object: KubernetesObject,
  {namespace}: ClusterTarget,
  query: Readonly<Record<string, string>> = {},
): ApiRequest =>
  request('PATCH', {
    contentType: 'apply-patch+yaml',
    path: objectPath(object, namespace),
    body: object,
    query: {fieldValidation: 'Strict', ...query},
  });

/** Objects on standard input: one, or a list of several. */
export const objectInput = (
  objects: readonly KubernetesObject[],
): Required<Pick<KubectlCall, 'objects' | 'input'>> => ({
  objects: objects.map(identityOf),
  input: new Secret(
    JSON.stringify(
      objects.length === 1 ? objects[0] : {apiVersion: 'v1', kind: 'List', items: objects},
    ),
  ),
});

/** Server-side: a client-side apply would copy the data of a Secret into an annotation. `takesOver` applies to people and Helm. */
export const applyObjects = (
  kubeTarget: ClusterTarget,
  objects: readonly KubernetesObject[],
  {takesOver = false} = {},
): KubectlCall => ({
  tool: 'kubectl',
  verb: 'apply',
  kubeTarget,
  flags: ['--server-side', ...MANAGED, ...(takesOver ? ['--force-conflicts'] : [])],
  ...requestTimeout(kubeTarget),
  ...objectInput(objects),
  requests: objects.map((each) => ({...applyRequest(each, kubeTarget), takesOver})),
});

export const createObject = (kubeTarget: ClusterTarget, object: KubernetesObject): KubectlCall => ({
  tool: 'kubectl',
  verb: 'create',
  kubeTarget,
  flags: [...MANAGED, '--validate=false'],
  ...requestTimeout(kubeTarget),
  ...objectInput([object]),
  requests: [
    request('POST', {
      contentType: 'json',
      path: siblingsPath(object, kubeTarget.namespace),
      body: object,
    }),
  ],
});

/** Replaces an object only if it was not changed since it was read: the resourceVersion is sent along. */
export const replaceObject = (
  kubeTarget: ClusterTarget,
  object: KubernetesObject,
): KubectlCall => ({
  tool: 'kubectl',
  verb: 'replace',
  kubeTarget,
  flags: MANAGED,
  ...requestTimeout(kubeTarget),
  ...objectInput([object]),
  requests: [
    request('PUT', {
      contentType: 'json',
      path: objectPath(object, kubeTarget.namespace),
      body: object,
    }),
  ],
});

/** How kubectl spells a change of one object. */
interface Change {
  verb: KubectlCall['verb'];
  flags: readonly string[];
  /** The same for the API server; of a subresource with `path`. */
  patch: object;
  subresource?: string;
}

function change(
  kubeTarget: ClusterTarget,
  {kind, name}: ObjectRef,
  {verb, flags, patch, subresource}: Change,
): KubectlCall {
  const object = {apiVersion: groupVersionOf(kind), kind, metadata: {name}};
  const path = objectPath(object, kubeTarget.namespace);
  return {
    tool: 'kubectl',
    verb,
    kubeTarget,
    resources: [resourceOfRef({kind, name})],
    flags,
    ...requestTimeout(kubeTarget),
    requests: [
      request('PATCH', {
        contentType: 'merge-patch+json',
        path: subresource === undefined ? path : `${path}/${subresource}`,
        body: patch,
      }),
    ],
  };
}

export const scale = (
  kubeTarget: ClusterTarget,
  workload: ObjectRef,
  replicas: number,
): KubectlCall =>
  change(kubeTarget, workload, {
    verb: 'scale',
    flags: [`--replicas=${replicas}`],
    patch: {spec: {replicas}},
    subresource: 'scale',
  });

/** Restarts pods one after another, as an upgrade does; the old ones stop gracefully. Any time later than that of the last restart will do. */
export function restart(kubeTarget: ClusterTarget, workload: ObjectRef): KubectlCall {
  const annotations = {'kubectl.kubernetes.io/restartedAt': new Date().toISOString()};
  return change(kubeTarget, workload, {
    verb: 'rollout restart',
    flags: [],
    patch: {spec: {template: {metadata: {annotations}}}},
  });
}

/** Null removes an annotation. */
export const annotate = (
  kubeTarget: ClusterTarget,
  object: ObjectRef,
  annotations: Readonly<Record<string, string | null>>,
): KubectlCall =>
  change(kubeTarget, object, {
    verb: 'annotate',
    flags: assignments(annotations),
    patch: {metadata: {annotations}},
  });

export const label = (
  kubeTarget: ClusterTarget,
  object: ObjectRef,
  labels: Readonly<Record<string, string>>,
): KubectlCall =>
  change(kubeTarget, object, {
    verb: 'label',
    flags: assignments(labels),
    patch: {metadata: {labels}},
  });

const assignments = (changes: Readonly<Record<string, string | null>>): string[] => [
  ...Object.entries(changes).map(([key, value]) =>
    value === null ? `${key}-` : `${key}=${value}`,
  ),
  '--overwrite',
];

export const patchVolume = (kubeTarget: ClusterTarget, name: string, patch: object): KubectlCall =>
  change(
    kubeTarget,
    {kind: 'PersistentVolume', name},
    {verb: 'patch', flags: ['--type=merge', `--patch=${JSON.stringify(patch)}`], patch},
  );
