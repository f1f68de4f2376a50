import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {parse} from 'yaml';
import type {KubernetesObject} from '../../src/cluster/objects.ts';
import type {Call, Outcome, Processes} from '../../src/ports/processes.ts';

/** A cluster as a file of fixtures/ describes it. */
export interface FakeCluster {
  serverVersion: string;
  /** What it serves beside what every API server serves. */
  resources: readonly string[];
  objects: readonly (KubernetesObject & {apiVersion: string; kind: string})[];
  /** clusterDNS of its kubelets. */
  kubeletDns?: readonly string[];
  /** What the operator may not read: nodes, daemonsets.apps, nodes/proxy, secrets, … */
  refuse?: readonly string[];
  /** What helm lists, and the values of each by name. */
  releases?: readonly {name: string; namespace: string; status: string; chart: string}[];
  values?: Readonly<Record<string, object>>;
}

export const PLATFORMS = ['gke-standard', 'gke-autopilot', 'eks-al2023', 'eks-bottlerocket', 'aks', 'openshift', 'kind', 'k3s'] as const;
export type PlatformName = (typeof PLATFORMS)[number];

export const platform = (name: PlatformName): FakeCluster =>
  parse(readFileSync(join(import.meta.dirname, 'fixtures', `${name}.yaml`), 'utf8')) as FakeCluster;

const BUILT_IN = ['configmaps', 'namespaces', 'nodes', 'services', 'daemonsets.apps', 'deployments.apps', 'storageclasses.storage.k8s.io'];

/** The plural that an object is listed under; English has no rule for these few. */
const PLURALS: Readonly<Record<string, string>> = {ClusterPolicy: 'clusterpolicies', StorageClass: 'storageclasses', Policy: 'policies'};

/** kubectl and helm as they answer for that cluster, refusals included; anything else they are asked fails the test. */
export function fakeProcesses(cluster: FakeCluster): Processes & {calls: string[]} {
  const calls: string[] = [];
  const run = async ({tool, args}: Call): Promise<Outcome> => {
    calls.push([tool, ...args].join(' '));
    const [command, what = ''] = args;
    if (tool === 'helm') return command === 'list' ? listReleases(cluster, args) : helmValues(cluster, args);
    if (command === 'version') return printed({serverVersion: {gitVersion: cluster.serverVersion}});
    if (command === 'api-resources') return {exitCode: 0, stdout: `${[...BUILT_IN, ...cluster.resources].join('\n')}\n`, stderr: ''};
    if (what === '--raw') return kubelet(cluster, args[2] as string);
    if (command === 'get' && args.includes('--all-namespaces')) return list(cluster, what.split(','));
    if (command === 'get') return named(cluster, args);
    throw new Error(`Nothing is known of: ${tool} ${args.join(' ')}`);
  };
  return {calls, ...processesOf(run)};
}

/** Calls that answer at once, so there is nothing to interrupt. */
export const processesOf = (run: Processes['run']): Processes => ({
  run,
  start: (call) => ({outcome: run(call), interrupt: () => undefined, leave: () => undefined}),
});

const printed = (answer: unknown, stderr: readonly string[] = []): Outcome => ({
  exitCode: stderr.length > 0 ? 1 : 0,
  stdout: JSON.stringify(answer),
  stderr: stderr.map((line) => `${line}\n`).join(''),
});

const resourceOf = ({apiVersion, kind}: FakeCluster['objects'][number]): string => {
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : '';
  return `${PLURALS[kind] ?? `${kind.toLowerCase()}s`}${group}`;
};

const refusal = (resource: string, verb: string, name = ''): string => {
  const [plural, ...group] = resource.split('.');
  return `Error from server (Forbidden): ${resource}${name} is forbidden: User "jane" cannot ${verb} resource "${plural}" in API group "${group.join('.')}" at the cluster scope`;
};

function list({objects, resources, refuse = []}: FakeCluster, kinds: readonly string[]): Outcome {
  const unserved = kinds.find((kind) => ![...BUILT_IN, ...resources].includes(kind));
  if (unserved) return {exitCode: 1, stdout: '', stderr: `error: the server doesn't have a resource type "${unserved.split('.')[0]}"\n`};
  const items = objects.filter((each) => kinds.includes(resourceOf(each)) && !refuse.includes(resourceOf(each)));
  const refused = kinds.filter((kind) => refuse.includes(kind)).map((kind) => refusal(kind, 'list'));
  return printed({apiVersion: 'v1', kind: 'List', items}, refused);
}

function named({objects, refuse = []}: FakeCluster, args: readonly string[]): Outcome {
  const wanted = args.filter((arg) => /^[\w.]+\/[\w-]+$/.test(arg)).map((arg) => arg.split('/') as [string, string]);
  const namespace = args[args.indexOf('--namespace') + 1];
  const items = objects.filter((each) =>
    wanted.some(
      ([resource, name]) =>
        resourceOf(each) === resource &&
        each.metadata.name === name &&
        [undefined, namespace].includes(each.metadata.namespace) &&
        !refuse.includes(resource),
    ),
  );
  const refused = wanted
    .filter(([resource]) => refuse.includes(resource))
    .map(([resource, name]) => refusal(resource, 'get', ` "${name}"`));
  return items.length === 0 ? {...printed('', refused), stdout: ''} : printed({apiVersion: 'v1', kind: 'List', items}, refused);
}

function kubelet({kubeletDns, refuse = []}: FakeCluster, path: string): Outcome {
  const [, node] = /^\/api\/v1\/nodes\/([^/]+)\/proxy\/configz$/.exec(path) ?? [];
  if (node === undefined || refuse.includes('nodes/proxy')) {
    return {
      exitCode: 1,
      stdout: '',
      stderr: `Error from server (Forbidden): nodes "${node}" is forbidden: User "jane" cannot get resource "nodes/proxy"\n`,
    };
  }
  return printed({kubeletconfig: {clusterDNS: kubeletDns}});
}

function listReleases({releases = [], refuse = []}: FakeCluster, args: readonly string[]): Outcome {
  const everywhere = args.includes('--all-namespaces');
  if (refuse.includes(everywhere ? 'secrets' : 'secrets of the namespace')) {
    return {
      exitCode: 1,
      stdout: '',
      stderr: 'Error: list: failed to list: secrets is forbidden: User "jane" cannot list resource "secrets"\n',
    };
  }
  const namespace = args[args.indexOf('--namespace') + 1];
  return printed(releases.filter((each) => everywhere || each.namespace === namespace));
}

const helmValues = ({values = {}}: FakeCluster, [, , name = '']: readonly string[]): Outcome => printed(values[name] ?? null);
