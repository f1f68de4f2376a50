import {describe, expect, test} from 'vitest';
import {CHARTS} from '../../src/charts/charts.ts';
import type {KubernetesVersions} from '../../src/charts/releases/versions.ts';
import {sharedRules} from '../../src/charts/shared/setting-rules.ts';
import {ExpectedError} from '../../src/ground/errors.ts';
import type {SettingFinding} from '../../src/ground/finding.ts';
import {generate} from '../../src/values/generate.ts';
import {certificates} from '../support/certificates.ts';
import {type RawFlags, settingsFrom} from '../support/settings-from.ts';

/** Codes of the warnings, or of the refusal. */
async function findings(flags: RawFlags): Promise<string[]> {
  try {
    return generate(
      await settingsFrom({url: 'https://acme.scalr.io', ...flags}, certificates),
    ).warnings.map(({code}) => code);
  } catch (error) {
    if (error instanceof ExpectedError)
      return [
        error.code,
        ...(error.cause instanceof Error ? error.cause.message.split(', ') : [error.message]),
      ];
    throw error;
  }
}

const K = {chart: 'agent-k8s', cloud: 'other'};
const L = {chart: 'agent-local'};
const J = {chart: 'agent-job'};
const SHARED = {cache: 'pvc', 'cache-storage-class': 'efs'};

/** Each rule with a case that breaks it and the nearest one that does not. */
const RULES: readonly [code: string, breaks: RawFlags, holds: RawFlags][] = [
  ['REQUEST_ABOVE_LIMIT', {...L, 'run-memory-request': '4Gi'}, {...L, 'run-memory-request': '2Gi'}],
  [
    'EFS_OFF_AWS',
    {...K, cloud: 'gke', cache: 'efs', 'efs-handle': 'fs-0123456789abcdef0'},
    {...K, cloud: 'eks', cache: 'efs', 'efs-handle': 'fs-0123456789abcdef0'},
  ],
  ['REQUEST_ABOVE_LIMIT', {...K, 'run-cpu-request': '9'}, {...K, 'run-cpu-request': '8'}],
  [
    'REQUEST_ABOVE_LIMIT',
    {...J, 'controller-memory-limit': '128Mi'},
    {...J, 'controller-memory-limit': '128Mi', 'controller-memory-request': '128Mi'},
  ],
  [
    'REQUEST_ABOVE_LIMIT',
    {...K, 'controller-cpu-limit': '200m'},
    {...K, 'controller-cpu-limit': '250m'},
  ],
  ['GRACE_PERIOD_TOO_SHORT', {...L, 'grace-period': '29'}, {...L, 'grace-period': '30'}],
  [
    'GRACE_PERIOD_TOO_SHORT',
    {...L, 'shutdown-mode': 'drain', 'grace-period': '119'},
    {...L, 'shutdown-mode': 'drain', 'grace-period': '120'},
  ],
  ['GRACE_PERIOD_TOO_SHORT', {...K, 'grace-period': '89'}, {...K, 'grace-period': '90'}],
  [
    'GRACE_PERIOD_TOO_SHORT',
    {...K, set: ['agent.worker_drain_timeout=7200']},
    {...K, set: ['agent.worker_drain_timeout=3000']},
  ],
  [
    'SHORT_DRAIN',
    {...L, 'shutdown-mode': 'drain', 'grace-period': '10m'},
    {...L, 'shutdown-mode': 'drain', 'grace-period': '1h'},
  ],
  [
    'PVC_NOT_SHARED',
    {...L, ...SHARED, concurrency: '2', 'cache-access-mode': 'ReadWriteOnce'},
    {...L, ...SHARED, concurrency: '2'},
  ],
  [
    'PVC_NOT_SHARED',
    {...J, 'cache-claim': 'c', 'cache-access-mode': 'ReadWriteOnce'},
    {...J, 'cache-claim': 'c', 'cache-access-mode': 'ReadWriteMany'},
  ],
  ['PVC_MUST_BE_SHARED', {...L, 'cache-claim': 'c', concurrency: '2'}, {...L, 'cache-claim': 'c'}],
  [
    'PVC_MUST_BE_SHARED',
    {...J, 'cache-claim': 'c'},
    {...J, 'cache-claim': 'c', 'cache-access-mode': 'ReadWriteMany'},
  ],
  ...[K, L, J].flatMap((chart): [string, RawFlags, RawFlags][] => [
    [
      'AGENT_VERSION',
      {...chart, 'agent-image': 'scalr/agent:1.3.0'},
      {...chart, 'agent-image': 'scalr/agent:1.4.0'},
    ],
    [
      'AGENT_VERSION',
      {...chart, 'agent-image': 'mirror.example.com/scalr/agent:1.3.0'},
      {...chart, 'agent-image': 'team/agent:1.3.0'},
    ],
  ]),
  [
    'DIRECTORIES_COLLIDE',
    {...L, 'data-home': '/var/lib/scalr-agent/cache'},
    {...L, 'data-home': '/var/lib/scalr-agent/work'},
  ],
  [
    'DEFAULT_SERVICE_ACCOUNT',
    {...L, 'workload-identity': 'eks-pod-identity'},
    {...L, 'workload-identity': 'eks-pod-identity', 'service-account-name': 'a'},
  ],
  [
    'WATCHED_DIRECTORY',
    {...K, cloud: 'gke', 'data-home': '/home/kubernetes/flexvolume/x'},
    {...K, cloud: 'gke'},
  ],
  ['UNKNOWN_NODES', {chart: 'agent-k8s'}, K],
  [
    'NOEXEC_DIRECTORY',
    {...K, 'node-os': 'cos', 'data-home': '/var/lib/x'},
    {...K, 'node-os': 'cos'},
  ],
  [
    'NOEXEC_DIRECTORY',
    {...J, cloud: 'gke', 'cache-path': '/mnt/disks/x'},
    {...J, cloud: 'gke', 'cache-path': '/mnt/disks/ssd0/x'},
  ],
  [
    'HOSTPATH_FORBIDDEN',
    {...J, cache: 'hostpath', cloud: 'gke-autopilot'},
    {...J, cache: 'hostpath', cloud: 'gke'},
  ],
  ['PREPARE_DIRECTORY', {...J, cache: 'hostpath'}, {...J, cache: 'ephemeral'}],
  [
    'CACHES_LARGER_THAN_VOLUME',
    {...J, ...SHARED, 'cache-size': '40Gi', set: ['agent.providerCache.sizeLimit=40Gi']},
    {...J, ...SHARED, 'cache-size': '40Gi'},
  ],
  [
    'CACHES_LARGER_THAN_VOLUME',
    {...J, 'provider-cache': true},
    {...J, 'provider-cache': true, 'cache-size': '45Gi'},
  ],
  [
    'CACHES_LARGER_THAN_VOLUME',
    {...J, ...SHARED, 'cache-size': '20Gi', set: ['agent.providerCache.sizeLimit=25Gi']},
    {...J, ...SHARED, 'cache-size': '20Gi', set: ['agent.providerCache.sizeLimit=15Gi']},
  ],
  ['CACHES_NEED_SPACE', {...J, 'cache-claim': 'c'}, {...J, ...SHARED}],
  [
    'CACHES_NEED_SPACE',
    {...J, cache: 'hostpath'},
    {...J, cache: 'hostpath', 'provider-cache': false, 'module-cache': false},
  ],
  [
    'CACHES_OFF',
    {...J, ...SHARED, 'provider-cache': false, 'module-cache': false},
    {...J, ...SHARED, 'module-cache': false},
  ],
  ['CACHES_OFF', {...J, set: ['persistence.cache.enabled=true']}, {...J, ...SHARED}],
  ['SHORT_GRACE_PERIOD', {...J, 'grace-period': '119'}, {...J, 'grace-period': '120'}],
  [
    'TWO_DISRUPTION_BOUNDS',
    {...J, set: ['task.podDisruptionBudget.minAvailable=1']},
    {...J, set: ['task.podDisruptionBudget={"minAvailable":1,"maxUnavailable":null}']},
  ],
  [
    'TWO_DISRUPTION_BOUNDS',
    {...J, set: ['task.podDisruptionBudget.minAvailable=1']},
    {...J, set: ['task.podDisruptionBudget.minAvailable=0']},
  ],
  [
    'PDB_NOT_RENDERED',
    {...J, 'chart-version': '0.6.2', set: ['agent.replicaCount=2']},
    {...J, set: ['agent.replicaCount=2']},
  ],
  [
    'PDB_NOT_RENDERED',
    {...J, 'chart-version': '0.6.2', 'controller-replicas': '2'},
    {...J, 'controller-replicas': '2'},
  ],
  [
    'SHARED_WORKSPACE',
    {...J, set: ['persistence.data.enabled=true']},
    {...J, set: ['persistence.data.enabled=true'], concurrency: '1'},
  ],
  ['POLICY_WITHOUT_DNS', {...J, 'chart-version': '0.5.68'}, {...J, 'chart-version': '0.5.69'}],
  [
    'POLICY_WITHOUT_DNS',
    {...L, 'chart-version': '0.5.66'},
    {...L, 'chart-version': '0.5.67', 'metadata-service': 'block'},
  ],
  [
    'METADATA_BLOCKED',
    {...L, 'chart-version': '0.5.66'},
    {...L, 'chart-version': '0.5.66', 'metadata-service': 'block'},
  ],
  ['NEEDS_KUBERNETES_1_35', {...J, 'chart-version': '0.5.69'}, {...J, 'chart-version': '0.5.68'}],
  ['NEEDS_EGRESS', {...J, 'chart-version': '0.5.67'}, {...J, 'chart-version': '0.5.66'}],
  ['RUNS_WITHOUT_MEMORY', {...J, 'chart-version': '0.5.63'}, {...J, 'chart-version': '0.5.62'}],
  [
    'METADATA_NEEDED',
    {...J, 'workload-identity': 'gke', 'metadata-service': 'block'},
    {...J, 'workload-identity': 'gke'},
  ],
  [
    'METADATA_NEEDED',
    {...K, 'workload-identity': 'gke', 'metadata-service': 'block'},
    {...L, 'chart-version': '0.5.66', 'workload-identity': 'gke'},
  ],
  [
    'POLICY_AGAINST_CLOUD_DNS',
    {...J, cloud: 'gke'},
    {...J, cloud: 'gke', 'metadata-service': 'allow'},
  ],
  [
    'SCALR_BYPASSES_PROXY',
    {...J, 'https-proxy': 'http://proxy:3128', 'no-proxy': ['.scalr.io']},
    {...J, 'https-proxy': 'http://proxy:3128', 'no-proxy': ['.corp.example']},
  ],
  ['POLICY_ENFORCEMENT', {...J, cloud: 'eks', 'metadata-service': 'block'}, {...J, cloud: 'eks'}],
  [
    'IDENTITY_INCOMPLETE',
    {...L, 'workload-identity': 'irsa'},
    {
      ...L,
      'workload-identity': 'irsa',
      'service-account-annotation': ['eks.amazonaws.com/role-arn=x'],
    },
  ],
  ['SHARED_PVC_WITHOUT_CLASS', {...J, cache: 'pvc'}, {...J, ...SHARED}],
  [
    'VARIABLE_HAS_SETTING',
    {...L, 'extra-env': ['HTTP_PROXY=x']},
    {...L, 'http-proxy': 'http://x:1', 'https-proxy': 'http://x:1'},
  ],
  [
    'PVC_NOT_SHARED',
    {...L, 'cache-claim': 'c', concurrency: '2', 'cache-access-mode': 'ReadWriteOnce'},
    {...L, 'cache-claim': 'c', 'cache-access-mode': 'ReadWriteOnce'},
  ],
  [
    'TWO_DISRUPTION_BOUNDS',
    {...J, set: ['agent.replicaCount=2', 'agent.podDisruptionBudget.maxUnavailable=1']},
    {...J, set: ['agent.podDisruptionBudget.maxUnavailable=1']},
  ],
  [
    'SHARED_WORKSPACE',
    {...L, concurrency: '2', set: ['persistence.data.enabled=true']},
    {...L, set: ['persistence.data.enabled=true']},
  ],
  ['ROLLING_UPDATE_BLOCKED', {...L, set: ['persistence.cache.enabled=true']}, {...L, cache: 'pvc'}],
  [
    'LEGACY_KEY_PRECEDENCE',
    {...L, cache: 'pvc', set: ['persistence.enabled=true']},
    {...L, cache: 'pvc'},
  ],
  [
    'BREAKS_TEMPLATES',
    {...J, 'chart-version': '0.5.65', set: ['agent.podLabels.a=b']},
    {...J, 'chart-version': '0.5.68', set: ['agent.podLabels.a=b']},
  ],
  [
    'BREAKS_TEMPLATES',
    {...J, 'chart-version': '0.5.70', set: ['global.labels.a=b']},
    {...J, 'chart-version': '0.6.1', set: ['global.labels.a=b']},
  ],
  [
    'BREAKS_TEMPLATES',
    {...J, set: ['task.runner.image.tag=']},
    {...J, set: ['task.runner.image.tag=0.2.1']},
  ],
  [
    'BREAKS_TEMPLATES',
    {...K, set: ['agent.ca_cert=-----BEGIN\nX']},
    {...K, set: ['agent.ca_cert=/etc/ca.pem']},
  ],
  [
    'BREAKS_TEMPLATES',
    {
      ...L,
      'chart-version': '0.6.1',
      cache: 'pvc',
      set: ['persistence.cache.persistentVolumeClaim.storageClassName=-'],
    },
    {
      ...L,
      'chart-version': '0.6.2',
      cache: 'pvc',
      set: ['persistence.cache.persistentVolumeClaim.storageClassName=-'],
    },
  ],
  [
    'METADATA_NEEDED',
    {...J, 'workload-identity': 'gke', set: ['task.allowMetadataService=false']},
    {...J, 'workload-identity': 'gke'},
  ],
  [
    'WATCHED_DIRECTORY',
    {...K, cloud: 'gke', set: ['agent.data_home=/home/kubernetes/flexvolume/x']},
    {...K, cloud: 'gke'},
  ],
  ['OPENSHIFT_SCC', {...J, cloud: 'openshift'}, {...J, cloud: 'other'}],
  ['OPENSHIFT_SCC', {...L, cloud: 'openshift'}, {...L, cloud: 'other'}],
  ['OPENSHIFT_SCC', {...K, cloud: 'openshift'}, K],
];

test.each(RULES)('reports %s for %j, but not for similar settings', async (code, breaks, holds) => {
  expect(await findings(breaks)).toContain(code);
  const nearby = await findings(holds);
  expect(nearby).not.toContain(code);
  expect(nearby.filter((each) => /^(UNSUPPORTED|INVALID)/.test(each))).toEqual([]);
});

test('has a pair of cases for every rule', () => {
  const tested = new Set(RULES.map(([code, {chart}]) => `${chart} ${code}`));
  const own = Object.values(CHARTS).flatMap(({name, rules}) =>
    rules.filter((rule) => !sharedRules.includes(rule)).map(({code}) => `${name} ${code}`),
  );
  expect(own.filter((each) => !tested.has(each))).toEqual([]);
  const anywhere = new Set(RULES.map(([code]) => code));
  expect(sharedRules.filter(({code}) => !anywhere.has(code))).toEqual([]);
});

describe('--set', () => {
  test.each<RawFlags>([
    {...J, 'cache-size': '3Gi', set: ['persistence.cache.enabled=true']},
    {...J, ...SHARED, set: ['persistence.cache.hostPath.path=/var/x']},
  ])('refuses %j, which overrides a setting', async (flags) => {
    expect(await findings(flags)).toContain('CONFLICTING_SETTINGS');
  });

  test.each<RawFlags>([
    {...J, set: ['persistence.data.persistentVolumeClaim.subPath=x']},
    {...J, set: ['global.proxy.httpsProxy=http://p:1']},
    {...L, 'chart-version': '0.5.66', set: ['allowMetadataService=false']},
  ])('reports ignored keys in %j', async (flags) => {
    expect(await findings(flags)).toContain('IGNORED_KEY');
  });

  test('removes a limit of the chart when --set gives null', async () => {
    const {values} = generate(
      await settingsFrom({
        url: 'https://acme.scalr.io',
        ...L,
        set: ['resources.limits.cpu=null', 'securityContext.runAsUser=null'],
      }),
    );
    expect(values).toMatchObject({
      resources: {limits: {cpu: null}},
      securityContext: {runAsUser: null},
    });
  });
});

describe('agent-job on the Kubernetes versions of the cluster', () => {
  const warning = async (kubernetes?: KubernetesVersions): Promise<SettingFinding | undefined> => {
    const settings = await settingsFrom({url: 'https://acme.scalr.io', ...J});
    return generate(settings, kubernetes === undefined ? {} : {kubernetes}).warnings.find(
      ({code}) => code === 'NEEDS_KUBERNETES_1_35',
    );
  };
  const cluster = (server: string, node: string): KubernetesVersions => ({
    found: [
      {machines: 'control plane', version: server},
      {machines: '2 nodes', version: node},
    ],
    isComplete: true,
  });

  test('is not mentioned when all machines are new enough', async () => {
    expect(await warning(cluster('v1.35.4', 'v1.35.1-gke.100'))).toBeUndefined();
  });

  test.each([
    [
      cluster('v1.36.0', 'v1.34.9'),
      'Older: 2 nodes (v1.34.9). Upgrade them, or use --chart agent-local.',
    ],
    [
      cluster('v1.34.3-eks-abc', 'v1.33.1'),
      'Older: control plane (v1.34.3-eks-abc), 2 nodes (v1.33.1).',
    ],
    [{...cluster('v1.35.4', 'v1.34.9'), isComplete: false}, 'Older: 2 nodes (v1.34.9).'],
  ])('names the older machines, and suggests another chart: %j', async (versions, text) => {
    expect((await warning(versions))?.message).toContain(text);
  });

  test.each([
    undefined,
    {...cluster('v1.35.4', 'v1.35.4'), isComplete: false},
  ])('is not verified when a version is unknown: %j', async (versions) => {
    expect(await warning(versions)).toMatchObject({
      subject: {setting: 'chart'},
      message: expect.stringMatching(/^Not verified: this version requires/),
    });
  });
});

describe('a duplicate variable of a container', () => {
  test.each<RawFlags>([
    {...L, 'extra-env': ['SCALR_AGENT_NAME=x']},
    {...K, set: ['extraEnv.SCALR_AGENT_KUBERNETES_MODE=x']},
    {...J, set: ['task.worker.extraEnv.SCALR_AGENT_SENTRY_DSN=x']},
    {...J, 'extra-env': ['FOO=1'], set: ['task.worker.extraEnv.FOO=2']},
    {...J, set: ['agent.controller.extraEnv=[{"name":"SCALR_URL","value":"x"}]']},
    {...L, set: ['extraEnv.HTTPS_PROXY=http://p:1']},
    {...L, set: ['extraEnv={"HTTPS_PROXY":"http://p:1"}']},
  ])('is refused in %j', async (flags) => {
    expect((await findings(flags))[0]).toBe('RESERVED_VARIABLE');
  });

  test('is accepted when the containers differ', async () => {
    expect((await findings({...J, 'extra-env': ['FOO=1'], set: ['task.sidecars=[]']}))[0]).toBe(
      'NEEDS_KUBERNETES_1_35',
    );
  });
});

describe('a version without a chart', () => {
  test.each([
    ['0.5.60', 'agent-job'],
    ['0.5.79', 'agent-job'],
    ['0.5.64', 'agent-local'],
  ])('%s selects a chart that has this version', async (version, chart) => {
    const {target} = generate(
      await settingsFrom({url: 'https://acme.scalr.io', 'chart-version': version}),
    );
    expect(target).toEqual({chart, version});
  });
});
