import {readPreflightContext} from '../../src/checks/preflight/read-context.ts';
import type {KubernetesClient} from '../../src/cluster/kubernetes/client.ts';
import {resourceOf} from '../../src/cluster/kubernetes/kinds.ts';
import type {Permission} from '../../src/cluster/kubernetes/permissions.ts';
import type {RenderedRelease} from '../../src/cluster/release/desired-release.ts';
import {generate} from '../../src/values/generate.ts';
import {processesOf} from '../cluster/platform/fake-cluster.ts';
import {type FakeObject, fakeKubernetes} from '../support/fake-kubernetes.ts';
import {settingsFrom, TODAY} from '../support/settings-from.ts';

/** What makes preflight read more: a node of GKE, a quota in the namespace, and kinds that only some clusters serve. */
const OBJECTS: readonly FakeObject[] = [
  {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {name: 'one'},
    spec: {providerID: 'gce://project/zone/one'},
  },
  {apiVersion: 'v1', kind: 'ResourceQuota', metadata: {name: 'quota'}, spec: {}},
];
const SERVED_BY_SOME = [
  'ippools.crd.projectcalico.org',
  'networks.config.openshift.io',
  'nodepools.karpenter.sh',
  'securitycontextconstraints.security.openshift.io',
  'servicecidrs.networking.k8s.io',
];

/** The permissions for all requests that preflight sends before an install with default settings. */
export async function preflightPermissions(desired: RenderedRelease): Promise<Permission[]> {
  const {chart, manifest} = desired;
  const settings = await settingsFrom({chart: chart.chart, url: 'https://acme.scalr.io'});
  const {kubernetes, permissions} = recording(manifest.map((each) => resourceOf(each, manifest)));
  const deps = {
    kubernetes,
    processes: processesOf(async () => ({exitCode: 1, stdout: '', stderr: 'not found'})),
    registries: {manifest: () => Promise.reject(new Error('no mirror was set'))},
    signal: new AbortController().signal,
    sleep: async () => undefined,
    now: () => TODAY,
  };
  const already = {manifest, context: {name: 'c', cluster: 'c', server: 's'}};
  await readPreflightContext(generate(settings), desired, deps, already);
  return permissions;
}

/** An API server that allows everything, and what its user needs for the requests so far. */
function recording(served: readonly string[]): {
  kubernetes: KubernetesClient;
  permissions: Permission[];
} {
  const permissions: Permission[] = [];
  const server = fakeKubernetes({
    resources: [...SERVED_BY_SOME, ...served],
    objects: OBJECTS,
  });
  const note = (verb: 'get' | 'post', path: string): void => {
    const permission = permissionFor(verb, path);
    if (permission !== undefined) permissions.push(permission);
  };
  const kubernetes: KubernetesClient = {
    ...server,
    get: (path, options) => {
      note('get', path);
      return server.get(path, options);
    },
    post: async (path, body) => {
      note('post', path);
      return {status: 201, body: {...body, status: {allowed: true}}};
    },
  };
  return {kubernetes, permissions};
}

/** Undefined for what every user may do: discovery and reviews of the own access. */
function permissionFor(method: 'get' | 'post', path: string): Permission | undefined {
  const [, group, namespace, plural, name, subresource] =
    /^\/(?:api|apis\/([^/]+))\/[^/]+(?:\/namespaces\/([^/]+)(?=\/))?\/([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?/.exec(
      path.split('?')[0] as string,
    ) ?? [];
  if (plural === undefined || /^self/.test(plural)) return undefined;
  const nested = subresource === undefined ? plural : `${plural}/${subresource}`;
  const read = name === undefined ? 'list' : 'get';
  return {
    verb: method === 'post' ? 'create' : read,
    resource: group === undefined ? nested : `${nested}.${group}`,
    ...(namespace === undefined ? {} : {namespace}),
    ...(plural === 'namespaces' && name !== undefined ? {name} : {}),
  };
}
