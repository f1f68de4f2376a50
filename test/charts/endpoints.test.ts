import {describe, expect, test} from 'vitest';
import {type Endpoint, endpointsOf} from '../../src/charts/endpoints.ts';
import type {TargetName} from '../../src/settings/release.ts';
import {generate} from '../../src/values/generate.ts';
import {effectiveGet, effectiveValues} from '../../src/values/reading/read-values.ts';
import {type RawFlags, settingsFrom} from '../support/settings-from.ts';

const ACCOUNT = {url: 'https://acme.scalr.io'};

async function endpointsFor(
  flags: RawFlags,
  target: TargetName = 'kubernetes',
  urls: readonly string[] = [],
): Promise<Endpoint[]> {
  const settings = await settingsFrom(flags);
  if (target !== 'kubernetes') return endpointsOf({target, get: settings.get, urls});
  const generated = generate(settings);
  const chart = {...generated.target, values: effectiveValues(generated.values, generated.target)};
  return endpointsOf({
    target,
    get: effectiveGet(generated.settings, generated.effective),
    chart,
    urls,
  });
}

const spelled = ({from, host, port, required}: Endpoint): string =>
  `${from} ${host}:${port}${required ? '' : ' optional'}`;
const listed = async (...about: Parameters<typeof endpointsFor>): Promise<string[]> =>
  (await endpointsFor(...about)).map(spelled);
const of = (all: readonly Endpoint[], purpose: Endpoint['purpose']): string[] =>
  all.filter((each) => each.purpose === purpose).map(spelled);

test('lists the account, its relay, and the wildcard of the tools', async () => {
  const all = await endpointsFor({...ACCOUNT, chart: 'agent-local'});
  expect(of(all, 'scalr')).toEqual(['agent acme.scalr.io:443', 'agent relay.acme.scalr.io:443']);
  expect(of(all, 'tools')).toEqual(['agent *.scalr.io:443']);
  expect(of(all, 'state')).toEqual(['runs acme.scalr.io:443']);
});

test('lists an account outside of scalr.io with its port, and scalr.io as optional', async () => {
  const all = await endpointsFor({url: 'https://scalr.corp.example:8443', chart: 'agent-local'});
  expect(of(all, 'scalr')).toEqual([
    'agent scalr.corp.example:8443',
    'agent relay.scalr.corp.example:8443',
  ]);
  expect(of(all, 'tools')).toEqual(['agent *.scalr.io:443 optional']);
});

describe('images', () => {
  test('come from Docker Hub, pulled by the nodes or by Docker', async () => {
    expect(await listed({...ACCOUNT, chart: 'agent-job'})).toContain(
      'nodes registry-1.docker.io:443',
    );
    expect(await listed(ACCOUNT, 'docker')).toContain('docker registry-1.docker.io:443');
  });

  test.each([
    ['agent-local', 'kubernetes'],
    ['agent-job', 'kubernetes'],
    ['agent-k8s', 'kubernetes'],
    [undefined, 'docker'],
    [undefined, 'systemd'],
  ] as const)('come only from --image-registry: %s, %s', async (chart, target) => {
    const all = await endpointsFor(
      {...ACCOUNT, ...(chart ? {chart} : {}), 'image-registry': 'registry.example.com:5000/mirror'},
      target,
    );
    expect(of(all, 'images')).toEqual([
      `${target === 'kubernetes' ? 'nodes' : 'docker'} registry.example.com:5000`,
    ]);
  });

  test('of one registry beside those of Docker Hub', async () => {
    const all = of(
      await endpointsFor({...ACCOUNT, chart: 'agent-job', 'runner-image': 'ghcr.io/team/runner:1'}),
      'images',
    );
    expect(all).toEqual(expect.arrayContaining(['nodes ghcr.io:443', 'nodes auth.docker.io:443']));
  });

  test('are none for a VCS agent of the Linux packages, which contain the agent', async () => {
    expect(of(await endpointsFor({...ACCOUNT, purpose: 'vcs'}, 'systemd'), 'images')).toEqual([]);
  });
});

test('a VCS agent needs its VCS server, but neither state nor providers nor metadata', async () => {
  const all = await endpointsFor({...ACCOUNT, purpose: 'vcs'}, 'kubernetes', [
    'https://gitlab.example.com/',
    'http://git.example.com/x',
  ]);
  expect(of(all, 'vcs')).toEqual(['agent gitlab.example.com:443', 'agent git.example.com:80']);
  for (const purpose of ['state', 'providers', 'metadata'] as const)
    expect(of(all, purpose)).toEqual([]);
});

test.each([
  ['agent-local', []],
  [
    'agent-k8s',
    [
      'agent kubernetes.default.svc:443',
      'agent kubernetes.default.svc:6443',
      'installer <API server>:443',
    ],
  ],
  [
    'agent-job',
    [
      'agent kubernetes.default.svc:443',
      'agent kubernetes.default.svc:6443',
      'installer <API server>:443',
    ],
  ],
])('%s uses the Kubernetes API only if it starts pods', async (chart, expected) => {
  const all = of(await endpointsFor({...ACCOUNT, chart}), 'kubernetes-api');
  expect(all).toEqual(expected.length === 0 ? ['installer <API server>:443'] : expected);
});

test.each([
  [
    {'https-proxy': 'http://ann:secret@10.1.2.3:3128', 'allow-clear-text': true},
    ['agent 10.1.2.3:3128'],
  ],
  [
    {'https-proxy': 'https://proxy.example.com', 'http-proxy': 'http://proxy.example.com'},
    ['agent proxy.example.com:443', 'agent proxy.example.com:80'],
  ],
  [{'https-proxy': 'http://proxy:3128', 'http-proxy': 'http://proxy:3128'}, ['agent proxy:3128']],
])('lists the proxies %j without their passwords', async (flags, expected) => {
  const all = await endpointsFor({...ACCOUNT, chart: 'agent-job', ...flags});
  expect(of(all, 'proxy')).toEqual(expected);
  expect(JSON.stringify(all)).not.toContain('secret');
});

test.each([
  [{'otel-endpoint': 'otel.obs.svc:4317'}, 'telemetry', ['agent otel.obs.svc:4317 optional']],
  [
    {cloud: 'eks', 'efs-handle': 'fs-01234567::fsap-01234567890abcdef', chart: 'agent-k8s'},
    'storage',
    ['nodes fs-01234567.efs.*.amazonaws.com:2049'],
  ],
  [{cloud: 'eks', 'workload-identity': 'irsa'}, 'identity', ['runs sts.*.amazonaws.com:443']],
  [{cloud: 'eks', 'workload-identity': 'eks-pod-identity'}, 'identity', ['runs 169.254.170.23:80']],
  [
    {cloud: 'aks', 'workload-identity': 'azure'},
    'identity',
    ['runs login.microsoftonline.com:443'],
  ],
  [
    {cloud: 'gke', 'workload-identity': 'gke', 'metadata-service': 'allow'},
    'metadata',
    [
      'runs 169.254.169.254:80',
      'runs 169.254.169.254:8080',
      'runs 169.254.169.252:987',
      'runs 169.254.169.252:988',
    ],
  ],
  [{'metadata-service': 'block'}, 'metadata', []],
  [{'metadata-service': 'allow'}, 'metadata', ['runs 169.254.169.254:80 optional']],
  [
    {cloud: 'openshift'},
    'dns',
    [
      'agent dns-default.openshift-dns.svc:53',
      'agent dns-default.openshift-dns.svc:5353',
      'agent dns-default.openshift-dns.svc:53',
      'agent dns-default.openshift-dns.svc:5353',
    ],
  ],
  [
    {
      'chart-source': 'oci://registry.example.com/charts/agent-job',
      chart: 'agent-job',
      'chart-version': '0.6.5',
    },
    'chart',
    ['installer registry.example.com:443'],
  ],
  [{'chart-source': './agent-job.tgz', chart: 'agent-job', 'chart-version': '0.6.5'}, 'chart', []],
] as const)('%j needs for %s: %j', async (flags, purpose, expected) => {
  expect(of(await endpointsFor({...ACCOUNT, ...flags} as RawFlags), purpose)).toEqual(expected);
});

test.each([
  [
    'a value',
    {
      chart: 'agent-job',
      set: ['agent.providerNetworkMirrors[0].url=https://mirror.example.com/providers/'],
    },
    'kubernetes',
  ],
  [
    'a variable',
    {'extra-env': ['SCALR_AGENT_PROVIDER_NETWORK_MIRRORS=[{"url":"https://mirror.example.com/"}]']},
    'docker',
  ],
] as const)('a provider mirror in %s makes the public registries optional', async (_, flags, target) => {
  const providers = of(
    await endpointsFor({...ACCOUNT, ...flags} as unknown as RawFlags, target),
    'providers',
  );
  expect(providers[0]).toBe('runs mirror.example.com:443');
  expect(providers).toContain('runs registry.opentofu.org:443 optional');
});

test('only two versions of agent-job download the entrypoint of runs', async () => {
  const host = 'runs storage.googleapis.com:443';
  expect(await listed({...ACCOUNT, chart: 'agent-job', 'chart-version': '0.5.68'})).toContain(host);
  expect(await listed({...ACCOUNT, chart: 'agent-job', 'chart-version': '0.5.69'})).not.toContain(
    host,
  );
});
