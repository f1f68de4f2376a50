import {expect, test} from 'vitest';
import {fromCluster} from '../../../src/answers/discovered.ts';
import {type ClusterFacts, clusterFactsOf} from '../../../src/cluster/platform/cluster-facts.ts';
import {readCluster} from '../../../src/cluster/platform/readings.ts';
import {knownValue} from '../../../src/ground/fact.ts';
import {cloud, nodeOs} from '../../../src/settings/cluster.ts';
import {noProxy} from '../../../src/settings/network.ts';
import {fakeKubernetes} from '../../support/fake-kubernetes.ts';
import {fakeAccess, fakeProcesses, PLATFORMS, type PlatformName, platform} from './fake-cluster.ts';

const factsOf = async (name: PlatformName): Promise<ClusterFacts> =>
  clusterFactsOf(await readCluster({namespace: 'scalr'}, fakeAccess(platform(name))));

/** What decides about an install, on one line a platform. */
const summary = ({
  platform: is,
  cni,
  networkPolicies,
  dns,
  networks,
  nodeSystems,
  versions,
  storageClasses,
  forbidsHostPath,
}: ClusterFacts) => ({
  cloud: knownValue(is.cloud),
  distribution: knownValue(is.distribution),
  infrastructure: knownValue(is.infrastructure),
  flavor: knownValue(is.flavor),
  nodeOs: knownValue(nodeSystems.ofWorkers),
  oldest: knownValue(versions.oldest),
  cni: knownValue(cni),
  areEnforced: knownValue(networkPolicies.areEnforced),
  blockMetadata: knownValue(networkPolicies.blockMetadata),
  usesMetadataAddress: knownValue(dns.usesMetadataAddress),
  services: knownValue(networks.services),
  pods: knownValue(networks.pods),
  podsOfNodes: knownValue(networks.podsOfNodes),
  defaultClass: knownValue(storageClasses)?.find(({isDefault}) => isDefault)?.name,
  sharedClasses: knownValue(storageClasses)?.flatMap(({name, accessModes}) =>
    knownValue(accessModes)?.includes('ReadWriteMany') ? [name] : [],
  ),
  forbidsHostPath: knownValue(forbidsHostPath),
});

const EXPECTED: Readonly<Record<PlatformName, ReturnType<typeof summary>>> = {
  'gke-standard': {
    cloud: 'gke',
    distribution: 'gke',
    infrastructure: 'google',
    flavor: 'standard',
    nodeOs: 'cos',
    oldest: '1.31.3',
    cni: {plugin: 'gke-dataplane-v1', policyEngine: 'none'},
    areEnforced: false,
    blockMetadata: false,
    usesMetadataAddress: false,
    services: ['34.118.224.0/20'],
    pods: undefined,
    podsOfNodes: ['10.8.0.0/24', '10.8.1.0/24'],
    defaultClass: 'standard-rwo',
    sharedClasses: [],
    forbidsHostPath: undefined,
  },
  'gke-autopilot': {
    cloud: 'gke-autopilot',
    distribution: 'gke',
    infrastructure: 'google',
    flavor: 'autopilot',
    nodeOs: 'cos',
    oldest: '1.34.1',
    cni: {plugin: 'gke-dataplane-v2', policyEngine: 'cilium'},
    areEnforced: true,
    blockMetadata: true,
    usesMetadataAddress: undefined,
    services: ['34.118.224.0/20'],
    pods: undefined,
    podsOfNodes: ['10.0.8.0/26'],
    defaultClass: 'standard-rwo',
    sharedClasses: ['standard-rwx'],
    forbidsHostPath: true,
  },
  'eks-al2023': {
    cloud: 'eks',
    distribution: 'eks',
    infrastructure: 'aws',
    flavor: 'standard',
    nodeOs: 'al2023',
    oldest: '1.33.4',
    cni: {plugin: 'aws-vpc-cni', policyEngine: 'aws-network-policy-agent'},
    areEnforced: true,
    blockMetadata: undefined,
    usesMetadataAddress: false,
    services: ['172.20.0.0/16'],
    pods: undefined,
    podsOfNodes: undefined,
    defaultClass: 'gp3',
    sharedClasses: ['efs-sc'],
    forbidsHostPath: undefined,
  },
  'eks-bottlerocket': {
    cloud: 'eks',
    distribution: 'eks',
    infrastructure: 'aws',
    flavor: 'standard',
    nodeOs: 'bottlerocket',
    oldest: '1.33.1',
    cni: {plugin: 'aws-vpc-cni', policyEngine: 'calico'},
    areEnforced: true,
    blockMetadata: true,
    usesMetadataAddress: false,
    services: undefined,
    pods: undefined,
    podsOfNodes: undefined,
    defaultClass: undefined,
    sharedClasses: [],
    forbidsHostPath: undefined,
  },
  aks: {
    cloud: 'aks',
    distribution: 'aks',
    infrastructure: 'azure',
    flavor: 'standard',
    nodeOs: 'ubuntu',
    oldest: '1.32.9',
    cni: {plugin: 'azure-cni', policyEngine: 'cilium'},
    areEnforced: true,
    blockMetadata: true,
    usesMetadataAddress: false,
    services: ['10.0.0.0/16'],
    pods: undefined,
    podsOfNodes: ['10.244.0.0/24'],
    defaultClass: 'default',
    sharedClasses: ['azurefile-csi'],
    forbidsHostPath: undefined,
  },
  openshift: {
    cloud: 'openshift',
    distribution: 'openshift',
    infrastructure: 'aws',
    flavor: 'standard',
    nodeOs: 'other',
    oldest: '1.31.6',
    cni: {plugin: 'ovn-kubernetes', policyEngine: 'ovn-kubernetes'},
    areEnforced: true,
    blockMetadata: undefined,
    usesMetadataAddress: false,
    services: ['172.30.0.0/16'],
    pods: ['10.128.0.0/14'],
    podsOfNodes: undefined,
    defaultClass: 'gp3-csi',
    sharedClasses: [],
    forbidsHostPath: true,
  },
  kind: {
    cloud: 'other',
    distribution: 'kind',
    infrastructure: 'docker',
    flavor: 'standard',
    nodeOs: 'other',
    oldest: '1.34.0',
    cni: {plugin: 'kindnet', policyEngine: 'kindnet'},
    areEnforced: true,
    blockMetadata: undefined,
    usesMetadataAddress: false,
    services: ['10.96.0.0/16'],
    pods: ['10.244.0.0/16'],
    podsOfNodes: ['10.244.0.0/24'],
    defaultClass: 'standard',
    sharedClasses: [],
    forbidsHostPath: undefined,
  },
  k3s: {
    cloud: 'other',
    distribution: 'k3s',
    infrastructure: undefined,
    flavor: 'standard',
    nodeOs: 'ubuntu',
    oldest: '1.33.4',
    cni: {plugin: 'flannel', policyEngine: 'kube-router'},
    areEnforced: true,
    blockMetadata: undefined,
    usesMetadataAddress: false,
    services: ['10.43.0.0/16'],
    pods: undefined,
    podsOfNodes: ['10.42.0.0/24', '10.42.1.0/24'],
    defaultClass: 'local-path',
    sharedClasses: [],
    forbidsHostPath: undefined,
  },
};

test.each(PLATFORMS)('%s is recognized', async (name) => {
  expect(summary(await factsOf(name))).toEqual(EXPECTED[name]);
});

test.each(PLATFORMS)('%s answers the settings it can, each with where it says so', async (name) => {
  const source = fromCluster(await factsOf(name));
  const expected = EXPECTED[name];
  const networks = [...(expected.services ?? []), ...(expected.pods ?? [])];
  expect([cloud, nodeOs, noProxy].map(source.answer)).toEqual([
    expected.cloud,
    expected.nodeOs,
    networks.length > 0 ? networks : undefined,
  ]);
  expect(source.because?.(cloud)).toMatch(/\w/);
});

test.each(PLATFORMS)('%s is read once, and helm is asked for little', async (name) => {
  const processes = fakeProcesses(platform(name));
  const kubernetes = fakeKubernetes(platform(name));
  await readCluster({namespace: 'scalr'}, {kubernetes, processes});
  expect(processes.calls.length).toBeLessThanOrEqual(2);
  expect(kubernetes.requests).toEqual([...new Set(kubernetes.requests)]);
});
