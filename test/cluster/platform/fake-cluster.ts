import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {parse} from 'yaml';
import type {ClusterAccess} from '../../../src/cluster/helm/releases.ts';
import type {Call} from '../../../src/ground/call.ts';
import {argumentsOf} from '../../../src/ground/call-arguments.ts';
import type {ProcessResult} from '../../../src/ground/command-line.ts';
import type {Processes} from '../../../src/ground/system/system.ts';
import {type FakeObject, type FakeServer, fakeKubernetes} from '../../support/fake-kubernetes.ts';

/** A cluster as a file of fixtures/ describes it. */
export interface FakeCluster extends FakeServer {
  serverVersion: string;
  resources: readonly string[];
  objects: readonly FakeObject[];
  /** What helm lists, and the values of each by name. */
  releases?: readonly {name: string; namespace: string; status: string; chart: string}[];
  values?: Readonly<Record<string, object>>;
}

export const PLATFORMS = [
  'gke-standard',
  'gke-autopilot',
  'eks-al2023',
  'eks-bottlerocket',
  'aks',
  'openshift',
  'kind',
  'k3s',
] as const;
export type PlatformName = (typeof PLATFORMS)[number];

export const platform = (name: PlatformName): FakeCluster =>
  parse(readFileSync(join(import.meta.dirname, 'fixtures', `${name}.yaml`), 'utf8')) as FakeCluster;

/** helm as it answers for that cluster, refusals included; anything else it is asked fails the test. */
export function fakeProcesses(cluster: FakeCluster): Processes & {calls: string[]} {
  const calls: string[] = [];
  const run = async (call: Call): Promise<ProcessResult> => {
    const {tool} = call;
    const args = argumentsOf(call);
    calls.push([tool, ...args].join(' '));
    const [command, what = ''] = args;
    if (tool === 'helm' && command === 'list') return listReleases(cluster, args);
    if (tool === 'helm' && command === 'get' && what === 'values') return helmValues(cluster, args);
    if (tool === 'kubectl' && command === 'config')
      return {exitCode: 0, stdout: JSON.stringify({contexts: [{name: 'fake'}]}), stderr: ''};
    throw new Error(`Nothing is known of: ${tool} ${args.join(' ')}`);
  };
  return {calls, ...processesOf(run)};
}

export const fakeAccess = (cluster: FakeCluster): ClusterAccess => ({
  kubernetes: fakeKubernetes(cluster),
  processes: fakeProcesses(cluster),
  helmDriver: 'sql',
});

/** The same for a command that runs in a test. */
export const fakeTools = (cluster: FakeCluster) => ({
  kubernetes: async () => fakeKubernetes(cluster),
  processes: () => fakeProcesses(cluster),
});

/** Calls that answer at once, so there is nothing to interrupt. */
export const processesOf = (run: Processes['run']): Processes => ({
  run,
  start: (call) => ({outcome: run(call), interrupt: () => undefined, leave: () => undefined}),
});

const printed = (answer: unknown): ProcessResult => ({
  exitCode: 0,
  stdout: JSON.stringify(answer),
  stderr: '',
});

function listReleases(
  {releases = [], refuse = []}: FakeCluster,
  args: readonly string[],
): ProcessResult {
  const everywhere = args.includes('--all-namespaces');
  if (refuse.includes(everywhere ? 'secrets' : 'secrets of the namespace')) {
    return {
      exitCode: 1,
      stdout: '',
      stderr:
        'Error: list: failed to list: secrets is forbidden: User "jane" cannot list resource "secrets"\n',
    };
  }
  const namespace = args[args.indexOf('--namespace') + 1];
  return printed(releases.filter((each) => everywhere || each.namespace === namespace));
}

const helmValues = (
  {values = {}}: FakeCluster,
  [, , name = '']: readonly string[],
): ProcessResult => printed(values[name] ?? null);
