import {apiErrorOf} from '../../src/cluster/kubernetes/api-error.ts';
import type {ApiResult, KubernetesClient} from '../../src/cluster/kubernetes/client.ts';
import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';
import type {ResourceAttributes} from '../../src/cluster/kubernetes/permissions.ts';
import type {ReadError} from '../../src/ground/fact.ts';

export type FakeObject = KubernetesObject & {
  apiVersion: string;
  kind: string;
  [field: string]: unknown;
};

/** Content of a fake API server. */
export interface FakeServer {
  serverVersion?: string;
  /** Served in addition to the built-in resources, for example clusterpolicies.kyverno.io */
  resources?: readonly string[];
  objects?: readonly FakeObject[];
  /** clusterDNS of the kubelets. */
  kubeletDns?: readonly string[];
  /** Forbidden resources: nodes, daemonsets.apps, nodes/proxy, … */
  refuse?: readonly string[];
  /** Result of an access review. */
  allows?: (attributes: ResourceAttributes) => boolean;
  /** Log of a container; `query` comes from the request. */
  log?: (pod: string, container: string, query: URLSearchParams) => string;
  /** Error for a path (without query); takes precedence. */
  errors?: (path: string) => ReadError | undefined;
}

const CORE = [
  'configmaps',
  'namespaces',
  'nodes',
  'services',
  'daemonsets.apps',
  'deployments.apps',
  'storageclasses.storage.k8s.io',
];
/** Also served, but not listed in discovery. */
const COMMON =
  /^(events|persistentvolume(claim)?s|pods|secrets|serviceaccounts|resourcequotas|limitranges|(replica|stateful)sets\.apps|(cron)?jobs\.batch|.*\.k8s\.io|poddisruptionbudgets\.policy)$/;

/** Irregular plurals of kinds. */
const PLURALS: Readonly<Record<string, string>> = {
  ClusterPolicy: 'clusterpolicies',
  StorageClass: 'storageclasses',
  Policy: 'policies',
  Proxy: 'proxies',
  NetworkPolicy: 'networkpolicies',
};

const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] as string) : '';
const spelled = (plural: string, group: string): string => (group ? `${plural}.${group}` : plural);
const resourceOf = ({apiVersion, kind}: FakeObject): string =>
  spelled(PLURALS[kind] ?? `${kind.toLowerCase()}s`, groupOf(apiVersion));

/** Responds from these objects like an API server, including 403; an unknown request fails the test. */
export function fakeKubernetes(server: FakeServer = {}): KubernetesClient & {requests: string[]} {
  const {
    serverVersion = 'v1.35.1',
    resources = [],
    objects = [],
    kubeletDns,
    refuse = [],
    allows,
    log,
    errors,
  } = server;
  const requests: string[] = [];
  const groupVersions = new Map(
    [...CORE, ...resources].map((resource) => {
      const group = resource.split('.').slice(1).join('.');
      return [
        resource,
        objects.find((each) => resourceOf(each) === resource)?.apiVersion ??
          (group ? `${group}/v1` : 'v1'),
      ];
    }),
  );
  const discovered = (isCore: boolean): ApiResult => ({
    status: 200,
    body: {
      kind: 'APIGroupDiscoveryList',
      items: [...groupVersions]
        .filter(([, groupVersion]) => groupVersion.includes('/') !== isCore)
        .map(([resource, groupVersion]) => ({
          metadata: {name: groupOf(groupVersion)},
          versions: [
            {
              version: groupVersion.split('/').at(-1),
              resources: [{resource: resource.split('.')[0]}],
            },
          ],
        })),
    },
  });

  async function get(path: string): Promise<ApiResult> {
    requests.push(path);
    const [plain = '', query = ''] = path.split('?');
    const error = errors?.(plain);
    if (error) return {error};
    if (plain === '/version') return {status: 200, body: {gitVersion: serverVersion}};
    if (plain === '/api' || plain === '/apis') return discovered(plain === '/api');
    const [, served] = /^\/apis\/([^/]+)$/.exec(plain) ?? [];
    if (served !== undefined) {
      const groupVersion = [...groupVersions].find(([resource]) =>
        resource.endsWith(`.${served}`),
      )?.[1];
      return groupVersion === undefined
        ? {error: apiErrorOf(404, status(`group ${served} not found`))}
        : {status: 200, body: {kind: 'APIGroup', name: served, preferredVersion: {groupVersion}}};
    }
    const [, node] = /^\/api\/v1\/nodes\/([^/]+)\/proxy\/configz$/.exec(plain) ?? [];
    if (node !== undefined)
      return refuse.includes('nodes/proxy')
        ? {
            error: apiErrorOf(
              403,
              status(`nodes "${node}" is forbidden: User "jane" cannot get resource "nodes/proxy"`),
            ),
          }
        : {status: 200, body: {kubeletconfig: {clusterDNS: kubeletDns}}};
    const [, pod, isLog] = /^\/api\/v1\/namespaces\/[^/]+\/pods\/([^/]+)\/(log)$/.exec(plain) ?? [];
    if (pod !== undefined && isLog && log) {
      const params = new URLSearchParams(query);
      return {status: 200, body: log(pod, params.get('container') ?? '', params)};
    }
    const match =
      /^\/(?:api|apis\/([^/]+))\/[^/]+(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?$/.exec(
        plain,
      );
    const [, group = '', namespace, plural = '', name] = (match ?? []).map(
      (each) => each && decodeURIComponent(each),
    );
    const resource = spelled(plural, group);
    if (match === null || !(groupVersions.has(resource) || COMMON.test(resource)))
      throw new Error(`Nothing is known of: ${path}`);
    if (refuse.includes(resource))
      return refused(resource, name === undefined ? 'list' : 'get', name);
    const found = objects.filter(
      (each) =>
        resourceOf(each) === resource &&
        (namespace === undefined || [undefined, namespace].includes(each.metadata.namespace)),
    );
    if (name === undefined)
      return {status: 200, body: {apiVersion: 'v1', items: found.filter(isSelectedBy(query))}};
    const object = found.find(({metadata}) => metadata.name === name);
    return object
      ? {status: 200, body: object}
      : {error: apiErrorOf(404, status(`${resource} "${name}" not found`))};
  }

  return {
    requests,
    get,
    async post(path, body) {
      requests.push(path);
      const error = errors?.(path);
      if (error) return {error};
      if (path === '/apis/authentication.k8s.io/v1/selfsubjectreviews')
        return {status: 201, body: {...body, status: {userInfo: {username: 'jane'}}}};
      if (path !== '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews' || !allows)
        throw new Error(`Nobody expected POST ${path}`);
      const {spec} = body as {spec: {resourceAttributes: ResourceAttributes}};
      return {status: 201, body: {...body, status: {allowed: allows(spec.resourceAttributes)}}};
    },
    send: async ({path}) => {
      throw new Error(`Nobody expected a change: ${path}`);
    },
    stream: async (path) => {
      throw new Error(`Nobody expected a stream: ${path}`);
    },
    connect: async () => undefined,
    close: async () => undefined,
  };
}

/** A client whose requests all return this error. */
export const failingKubernetes = (error: ReadError): KubernetesClient =>
  fakeKubernetes({errors: () => error});

/** A `labelSelector` of the form a=b,c!=d,e, and a `fieldSelector` of metadata.name. */
const isSelectedBy = (query: string) => {
  const desired = (new URLSearchParams(query).get('labelSelector') ?? '')
    .split(',')
    .filter((each) => each !== '');
  const name = /^metadata\.name=(.*)$/.exec(
    new URLSearchParams(query).get('fieldSelector') ?? '',
  )?.[1];
  return ({metadata}: FakeObject): boolean =>
    desired.every((each) => {
      const [label = '', value] = each.split(/!?=/);
      const found = metadata.labels?.[label];
      if (value === undefined) return found !== undefined;
      return each.includes('!=') ? found !== value : found === value;
    }) && (name ?? metadata.name) === metadata.name;
};

const status = (message: string) => ({kind: 'Status', message});

const refused = (resource: string, verb: string, name?: string): ApiResult => {
  const [plural, ...group] = resource.split('.');
  const object = name === undefined ? '' : ` "${name}"`;
  const message = `${resource}${object} is forbidden: User "jane" cannot ${verb} resource "${plural}" in API group "${group.join('.')}" at the cluster scope`;
  return {error: apiErrorOf(403, status(message))};
};
