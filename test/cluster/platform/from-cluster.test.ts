import {expect, test} from 'vitest';
import {fromCluster} from '../../../src/answers/discovered.ts';
import {resolveAnswers} from '../../../src/answers/resolve.ts';
import {fromFlags} from '../../../src/answers/sources.ts';
import {clusterFactsOf} from '../../../src/cluster/platform/cluster-facts.ts';
import {readCluster} from '../../../src/cluster/platform/readings.ts';
import {cloud, nodeOs} from '../../../src/settings/cluster.ts';
import {noProxy} from '../../../src/settings/network.ts';
import type {Settings} from '../../../src/settings/settings.ts';
import {valuesDocument} from '../../../src/values/document.ts';
import {generate} from '../../../src/values/generate.ts';
import {memoryFiles} from '../../support/memory-files.ts';
import {TODAY} from '../../support/settings-from.ts';
import {fakeAccess, type PlatformName, platform} from './fake-cluster.ts';

async function settingsOn(
  name: PlatformName,
  flags: Readonly<Record<string, unknown>> = {},
): Promise<Settings> {
  const facts = clusterFactsOf(await readCluster({namespace: 'scalr'}, fakeAccess(platform(name))));
  const url = {url: 'https://acme.scalr.io', 'token-secret': 'scalr'};
  return resolveAnswers([fromFlags({...url, ...flags}), fromCluster(facts)], {
    files: memoryFiles({}),
    now: TODAY,
  });
}

test('the cluster answers what nobody said, and says where', async () => {
  const settings = await settingsOn('aks');
  expect(settings.answer(cloud)).toEqual({
    value: 'aks',
    source: 'cluster',
    because: 'node label kubernetes.azure.com/cluster',
  });
  expect(settings.answer(nodeOs)).toEqual({
    value: 'ubuntu',
    source: 'cluster',
    because: 'nodes, status.nodeInfo.osImage',
  });
  expect(settings.isExplicit(cloud)).toBe(false);
});

test('what a person says comes first', async () => {
  const settings = await settingsOn('aks', {cloud: 'other'});
  expect(settings.answer(cloud)).toEqual({value: 'other', source: 'flag'});
});

test('networks are of use beside a proxy only', async () => {
  expect((await settingsOn('kind')).answer(noProxy)).toBeUndefined();
  const settings = await settingsOn('kind', {'https-proxy': 'http://proxy.example.com:3128'});
  expect(settings.answer(noProxy)).toEqual({
    value: ['10.96.0.0/16', '10.244.0.0/16'],
    source: 'cluster',
    because: 'servicecidrs.networking.k8s.io; configmaps/kubeadm-config, podSubnet',
  });
});

test('the command that writes the same file names what the cluster said', async () => {
  const settings = await settingsOn('gke-standard', {
    chart: 'agent-k8s',
    'https-proxy': 'http://proxy.example.com:3128',
  });
  const document = valuesDocument(generate(settings));
  for (const flag of ['--cloud gke', '--node-os cos', '--no-proxy 34.118.224.0/20'])
    expect(document).toContain(flag);
});

test('a comment above a value of the cluster says what it is for, and where it was read', async () => {
  const proxy = {'https-proxy': 'http://proxy.example.com:3128'};
  const withProxy = valuesDocument(
    generate(await settingsOn('kind', {chart: 'agent-local', ...proxy})),
  );
  expect(withProxy).toContain(
    '# Connections inside the cluster bypass the proxy; read from the cluster (servicecidrs.networking.k8s.io; configmaps/kubeadm-config, podSubnet)\n',
  );
});
