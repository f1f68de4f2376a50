import {fromCluster} from '../../../src/answers/discovered.ts';
import {resolveAnswers} from '../../../src/answers/resolve.ts';
import {fromFlags} from '../../../src/answers/sources.ts';
import {type Check, checkDocument, runChecks} from '../../../src/checks/preflight/checks/check.ts';
import type {LiveState, PreflightContext} from '../../../src/checks/preflight/facts/context.ts';
import type {Claim} from '../../../src/cluster/kubernetes/objects.ts';
import {clusterFactsOf} from '../../../src/cluster/platform/cluster-facts.ts';
import {readCluster} from '../../../src/cluster/platform/readings.ts';
import {known} from '../../../src/ground/fact.ts';
import {namespace, release} from '../../../src/settings/release.ts';
import {generate} from '../../../src/values/generate.ts';
import {effectiveGet, effectiveValues} from '../../../src/values/reading/read-values.ts';
import {type FakeCluster, fakeAccess} from '../../cluster/platform/fake-cluster.ts';
import {memoryFiles} from '../../support/memory-files.ts';
import {type RawFlags, TODAY} from '../../support/settings-from.ts';
import {manifestOf} from './manifest.ts';

type Objects = FakeCluster['objects'];

/** A Linux node with room for a few runs; what is given replaces what it has. */
export function node(
  name: string,
  {labels = {}, taints, allocatable, isReady = true, isCordoned = false, ...info}: NodeAsk = {},
): Objects[number] {
  const {os = 'linux', architecture = 'amd64', kubelet = 'v1.35.1', runtime} = info;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.azure.com/agentpool': 'runs',
        'kubernetes.io/os': os,
        'kubernetes.io/arch': architecture,
        'kubernetes.io/hostname': name,
        ...labels,
      },
    },
    spec: {
      providerID: `azure:///${name}`,
      podCIDR: '10.244.0.0/24',
      taints,
      unschedulable: isCordoned,
    },
    status: {
      allocatable: {cpu: '8', memory: '32Gi', pods: '110', ...allocatable},
      nodeInfo: {
        architecture,
        operatingSystem: os,
        osImage: 'Ubuntu 24.04.2 LTS',
        kubeletVersion: kubelet,
        containerRuntimeVersion: runtime ?? 'containerd://2.1.4',
      },
      conditions: [{type: 'Ready', status: isReady ? 'True' : 'False'}],
    },
  } as Objects[number];
}

interface NodeAsk {
  labels?: Record<string, string>;
  taints?: readonly {key: string; value?: string; effect: string}[];
  allocatable?: Record<string, string>;
  isReady?: boolean;
  isCordoned?: boolean;
  os?: string;
  architecture?: string;
  kubelet?: string;
  runtime?: string;
}

const daemonSet = (name: string): Objects[number] => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {namespace: 'kube-system', name},
});

export const storageClass = (
  name: string,
  provisioner: string,
  more: object = {},
): Objects[number] => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: {name},
  provisioner,
  volumeBindingMode: 'WaitForFirstConsumer',
  ...more,
});

/** AKS with a dataplane that enforces everything, two nodes, a default storage class and one that is shared. */
export const ORDINARY: FakeCluster = {
  serverVersion: 'v1.35.1',
  resources: ['servicecidrs.networking.k8s.io'],
  objects: [
    node('one'),
    node('two'),
    ...['azure-cns', 'cilium', 'cilium-node-init'].map(daemonSet),
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {namespace: 'kube-system', name: 'coredns'},
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: {name: 'kubernetes'},
      spec: {cidrs: ['10.0.0.0/16']},
    },
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {name: 'scalr-agent', labels: {'pod-security.kubernetes.io/enforce': 'privileged'}},
    },
    storageClass('default', 'disk.csi.azure.com', {
      metadata: {
        name: 'default',
        annotations: {'storageclass.kubernetes.io/is-default-class': 'true'},
      },
    }),
    storageClass('azurefile-csi', 'file.csi.azure.com', {volumeBindingMode: 'Immediate'}),
  ],
};

/** That cluster with other or further objects. */
export const clusterWith = (
  more: readonly object[],
  {without = []}: {without?: readonly string[]} = {},
): FakeCluster => ({
  ...ORDINARY,
  objects: [
    ...ORDINARY.objects.filter(
      ({kind, metadata}) => !without.includes(kind) && !without.includes(metadata.name),
    ),
    ...(more as Objects),
  ],
});

/** The same with these nodes only. */
export const withNodes = (...nodes: readonly object[]): FakeCluster =>
  clusterWith(nodes, {without: ['Node']});

/** Facts of a cluster, and the values that flags come to there. */
export async function desired(flags: RawFlags, cluster: FakeCluster) {
  const given: RawFlags = {
    chart: 'agent-job',
    'chart-version': '0.6.5',
    url: 'https://acme.scalr.io',
    ...flags,
  };
  const readings = await readCluster(
    {namespace: String(given['namespace'] ?? 'scalr-agent')},
    fakeAccess(cluster),
  );
  const facts = clusterFactsOf(readings);
  const answers = await resolveAnswers([fromFlags(given), fromCluster(facts)], {
    files: memoryFiles(),
    now: TODAY,
  });
  return {facts, readings, generated: generate(answers)};
}

/** What flags ask of a cluster, agent-job of the ordinary one unless they say otherwise; everything passes there. */
export async function preflightContext(
  flags: RawFlags = {},
  cluster: FakeCluster = ORDINARY,
  but: Partial<PreflightContext> = {},
): Promise<PreflightContext> {
  const {facts, readings, generated} = await desired(flags, cluster);
  const {target, settings, effective, values: own} = generated;
  const get = effectiveGet(settings, effective);
  const values = effectiveValues(own, target);
  const name = {release: get(release) as string, kubeTarget: {namespace: get(namespace) as string}};
  return {
    name,
    target,
    get,
    values,
    wantedSecrets: [{name: 'scalr-agent-token', keys: ['token'], isGiven: false}],
    manifest: known(manifestOf(target, values, name.release), 'helm template'),
    facts,
    readings,
    context: known(
      {name: 'aks', cluster: 'aks', server: 'https://aks.example.com'},
      'kubectl config view',
    ),
    tools: {helm: known('4.1.4', 'helm version'), kubectl: known('1.35.1', 'kubectl version')},
    permissions: known([], 'kubectl auth can-i'),
    secrets: new Map([
      [
        'scalr-agent-token',
        known(
          {metadata: {name: 'scalr-agent-token'}, data: {token: btoa('e30.e30.x')}},
          'secrets/scalr-agent-token',
        ),
      ],
    ]),
    claims: new Map(),
    accounts: new Map(),
    live: live(),
    admission: known([], 'server-side dry run'),
    token: undefined,
    now: TODAY,
    ...but,
  };
}

/** A namespace without quotas, and none of the objects of the chart in the cluster yet. */
export const live = (but: Partial<LiveState> = {}): LiveState => ({
  objects: new Map(),
  installed: new Set(),
  quotas: known([], 'resourcequotas'),
  limitRanges: known([], 'limitranges'),
  pods: known([], 'pods'),
  podsOnNodes: known([], 'pods of all namespaces'),
  customResources: known([], 'custom resources'),
  revisions: known([], 'revisions'),
  user: known('jane', 'SelfSubjectReview'),
  sccs: known([], 'LocalSubjectAccessReview'),
  ...but,
});

/** A claim of the namespace, bound unless it says otherwise. */
export const claim = (name: string, more: Partial<Claim> = {}): Claim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {name},
  spec: {accessModes: ['ReadWriteMany'], storageClassName: 'azurefile-csi'},
  status: {phase: 'Bound'},
  ...more,
});

/** The result of one check, as `warn: message; remedy`; undefined where it has nothing to look at. */
export function saidBy(
  checks: readonly Check[],
  id: string,
  about: PreflightContext,
): string | undefined {
  const check = checks.find((each) => each.id === id);
  if (check === undefined) throw new Error(`There is no check ${id}.`);
  const [found] = runChecks([check], about).map(checkDocument);
  return (
    found &&
    `${found.status}: ${found.message}${found.remedy === undefined ? '' : ` -> ${found.remedy}`}`
  );
}
