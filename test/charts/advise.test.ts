import {describe, expect, test} from 'vitest';
import {
  advise,
  kubernetesAdvice,
  newSettingsOf,
  type UpgradeFacts,
} from '../../src/charts/advise.ts';
import {KNOWN_PROBLEMS} from '../../src/charts/known-problems.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {releasesOf} from '../../src/charts/releases/target.ts';
import {within} from '../../src/charts/releases/versions.ts';
import {at, setAt, type Tree, type Values} from '../../src/ground/tree.ts';
import {effectiveValues} from '../../src/values/reading/read-values.ts';
import {CHART_NAMES} from '../support/versions.ts';

const valuesOf = (entries: Readonly<Record<string, Tree>>): Values => {
  const values: Values = {};
  for (const [path, value] of Object.entries(entries)) setAt(values, at(path), value);
  return values;
};

const codes = (
  chart: ChartName,
  from: string,
  to: string,
  entries: Readonly<Record<string, Tree>> = {},
  more: Partial<UpgradeFacts> = {},
) => {
  const installed = {chart, version: from};
  const values = effectiveValues(valuesOf(entries), installed);
  return advise(
    installed,
    {chart, version: to},
    {release: 'agent', values, server: 'v1.35.1', nodes: [], ...more},
  ).map(({code}) => code);
};

interface Case {
  code: string;
  chart: ChartName;
  /** Upgrades that it applies to. */
  hit: readonly [from: string, to: string][];
  /** Upgrades on the other side of a boundary. */
  miss: readonly [from: string, to: string][];
  values?: Readonly<Record<string, Tree>>;
  /** Values for which it does not apply. */
  without?: Readonly<Record<string, Tree>>;
  facts?: Partial<UpgradeFacts>;
  /** Facts for which it does not apply. */
  withoutFacts?: Partial<UpgradeFacts>;
}

const CLAIM = {'persistence.cache.enabled': true};
const NAMED = {...CLAIM, 'persistence.cache.persistentVolumeClaim.claimName': 'mine'};

const JOB: readonly Omit<Case, 'chart'>[] = [
  {
    code: 'KEYS_RENAMED',
    hit: [
      ['0.5.63', '0.5.64'],
      ['0.5.59', '0.6.5'],
    ],
    miss: [
      ['0.5.62', '0.5.63'],
      ['0.5.64', '0.5.65'],
    ],
  },
  {
    code: 'CRD_RENAMED',
    hit: [
      ['0.5.63', '0.5.64'],
      ['0.5.63', '0.5.68'],
      ['0.5.67', '0.5.68'],
    ],
    miss: [
      ['0.5.64', '0.5.67'],
      ['0.5.68', '0.6.5'],
    ],
  },
  {
    code: 'PVC_RENAMED',
    hit: [
      ['0.5.67', '0.5.68'],
      ['0.5.64', '0.6.5'],
    ],
    miss: [
      ['0.5.64', '0.5.67'],
      ['0.5.68', '0.6.5'],
    ],
    values: CLAIM,
    without: NAMED,
  },
  {
    code: 'PVC_RENAMED',
    hit: [['0.5.63', '0.5.65']],
    miss: [['0.5.62', '0.5.63']],
    values: {'persistence.enabled': true},
    without: {},
  },
  {
    code: 'SELECTOR_CHANGED',
    hit: [['0.5.67', '0.5.68']],
    miss: [
      ['0.5.63', '0.5.68'],
      ['0.5.66', '0.5.67'],
    ],
    facts: {release: 'scalr-agent'},
    withoutFacts: {release: 'prod'},
  },
  {
    code: 'RUNS_LOSE_TEMPLATE',
    hit: [
      ['0.5.63', '0.5.64'],
      ['0.5.67', '0.6.5'],
    ],
    miss: [['0.5.64', '0.5.67']],
  },
  {
    code: 'EFS_REMOVED',
    hit: [['0.5.63', '0.6.5']],
    miss: [['0.5.62', '0.5.63']],
    values: {efsVolumeHandle: 'fs-1'},
    without: {},
  },
  {code: 'METADATA_BLOCKED', hit: [['0.5.63', '0.5.64']], miss: [['0.5.64', '0.6.5']]},
  {
    code: 'RUNNER_IMAGE_CHANGED',
    hit: [
      ['0.5.66', '0.5.67'],
      ['0.5.63', '0.6.5'],
    ],
    miss: [['0.5.67', '0.6.5']],
    values: {},
    without: {
      'task.runner.image.repository': 'mine/runner',
      'worker.runner.image.repository': 'mine/runner',
    },
  },
  {
    code: 'ENTRYPOINT_DOWNLOADED',
    hit: [
      ['0.5.66', '0.5.67'],
      ['0.6.5', '0.5.68'],
    ],
    miss: [
      ['0.5.67', '0.5.68'],
      ['0.5.66', '0.5.69'],
    ],
  },
  {
    code: 'GRACE_PERIOD_APPLIES',
    hit: [['0.5.68', '0.5.69']],
    miss: [
      ['0.5.63', '0.6.5'],
      ['0.5.69', '0.6.5'],
    ],
    values: {'task.terminationGracePeriodSeconds': 60},
    without: {},
  },
  {
    code: 'CLIENT_CERTIFICATE_IGNORED',
    hit: [
      ['0.5.76', '0.5.78'],
      ['0.6.1', '0.5.79'],
    ],
    miss: [
      ['0.5.76', '0.6.1'],
      ['0.5.75', '0.5.78'],
    ],
    values: {'global.tls.clientCertSecret.name': 'mine'},
    without: {},
  },
  {
    code: 'LABELS_UNUSABLE',
    hit: [
      ['0.6.1', '0.5.79'],
      ['0.5.77', '0.5.78'],
    ],
    miss: [['0.5.79', '0.6.1']],
    values: {'global.labels.team': 'a'},
    without: {},
  },
  {code: 'RUNS_BLOCK_DRAINS', hit: [['0.5.79', '0.6.1']], miss: [['0.6.1', '0.6.5']]},
  {
    code: 'PDB_NOT_RENDERED',
    hit: [
      ['0.5.79', '0.6.1'],
      ['0.6.4', '0.6.3'],
    ],
    miss: [['0.6.1', '0.6.4']],
    values: {'agent.replicaCount': 2},
    without: {},
  },
  {
    code: 'ENTRYPOINT_CHANGED',
    hit: [
      ['0.6.1', '0.6.2'],
      ['0.5.63', '0.6.5'],
    ],
    miss: [['0.6.2', '0.6.5']],
    values: {'agent.image.repository': 'mine/agent'},
    without: {},
  },
  {code: 'RUNS_RETRIED', hit: [['0.6.3', '0.6.4']], miss: [['0.6.4', '0.6.5']]},
  {code: 'REUSE_VALUES', hit: [['0.5.75', '0.6.5']], miss: [['0.6.2', '0.6.5']]},
];

const LOCAL: readonly Omit<Case, 'chart'>[] = [
  {
    code: 'VOLUME_SPLIT',
    hit: [['0.5.63', '0.5.64']],
    miss: [['0.5.64', '0.6.5']],
    values: {'persistence.enabled': true},
    without: {},
  },
  {
    code: 'METADATA_BLOCKED',
    hit: [
      ['0.5.63', '0.5.65'],
      ['0.5.64', '0.5.66'],
    ],
    miss: [
      ['0.5.63', '0.5.64'],
      ['0.5.65', '0.5.67'],
    ],
  },
  {
    code: 'CLIENT_CERTIFICATE_IGNORED',
    hit: [['0.5.73', '0.5.75']],
    miss: [
      ['0.5.73', '0.6.1'],
      ['0.5.72', '0.5.75'],
    ],
    values: {'agent.tls.clientCertSecret.name': 'mine'},
    without: {},
  },
  {
    code: 'PVC_RENAMED',
    hit: [
      ['0.5.74', '0.5.75'],
      ['0.6.5', '0.5.76'],
    ],
    miss: [
      ['0.5.74', '0.6.1'],
      ['0.5.72', '0.5.75'],
    ],
    values: CLAIM,
    without: NAMED,
  },
  {
    code: 'PVC_RENAMED',
    hit: [
      ['0.5.72', '0.6.1'],
      ['0.5.76', '0.6.5'],
    ],
    miss: [
      ['0.5.72', '0.5.75'],
      ['0.6.1', '0.6.5'],
    ],
    values: {'persistence.enabled': true},
    without: {'persistence.enabled': true, 'persistence.persistentVolumeClaim.claimName': 'mine'},
  },
  {
    code: 'IMAGE_CHANGED',
    hit: [['0.5.76', '0.6.1']],
    miss: [['0.6.1', '0.6.5']],
    values: {},
    without: {'image.repository': 'mine/agent'},
  },
  {code: 'REUSE_VALUES', hit: [['0.5.76', '0.6.1']], miss: [['0.6.1', '0.6.5']]},
  {
    code: 'KEYS_REMOVED',
    hit: [
      ['0.6.5', '0.7.0'],
      ['0.5.76', '0.8.1'],
    ],
    miss: [
      ['0.6.1', '0.6.5'],
      ['0.7.0', '0.7.1'],
    ],
    values: {'persistence.enabled': true},
    without: CLAIM,
  },
  {
    code: 'PVC_NOT_SHARED',
    hit: [['0.6.5', '0.7.0']],
    miss: [['0.6.1', '0.6.5']],
    values: {
      ...CLAIM,
      replicaCount: 2,
      'persistence.cache.persistentVolumeClaim.accessMode': 'ReadWriteOncePod',
    },
    without: {...CLAIM, 'persistence.cache.persistentVolumeClaim.accessMode': 'ReadWriteOncePod'},
  },
];

const K8S: readonly Omit<Case, 'chart'>[] = [
  {code: 'LIMITS_REMOVED', hit: [['0.5.65', '0.5.66']], miss: [['0.5.66', '0.6.5']]},
  {
    code: 'REGISTRY_LEGACY_ONLY',
    hit: [['0.5.66', '0.5.67']],
    miss: [['0.5.67', '0.6.5']],
    values: {'agent.container_task_image_registry': 'mine/'},
    without: {},
  },
  {code: 'REUSE_VALUES', hit: [['0.5.66', '0.6.5']], miss: [['0.5.67', '0.6.5']]},
];

const CASES: readonly Case[] = [
  ...JOB.map((each) => ({...each, chart: 'agent-job' as const})),
  ...LOCAL.map((each) => ({...each, chart: 'agent-local' as const})),
  ...K8S.map((each) => ({...each, chart: 'agent-k8s' as const})),
];

test.each(CASES)('advises $code of $chart on its side of the boundary only: $hit', ({
  code,
  chart,
  hit,
  miss,
  values,
  without,
  facts,
  withoutFacts,
}) => {
  for (const [from, to] of hit) expect(codes(chart, from, to, values, facts)).toContain(code);
  for (const [from, to] of miss) expect(codes(chart, from, to, values, facts)).not.toContain(code);
  for (const [from, to] of hit) {
    if (without) expect(codes(chart, from, to, without, facts)).not.toContain(code);
    if (withoutFacts) expect(codes(chart, from, to, values, withoutFacts)).not.toContain(code);
  }
});

test.each(CHART_NAMES)('every known problem of %s has a test for each of its ranges', (chart) => {
  const cases = CASES.filter((each) => each.chart === chart);
  const untested = KNOWN_PROBLEMS[chart].filter(
    (row) =>
      !cases.some(
        ({code, hit}) =>
          code === row.code &&
          hit.some(([from, to]) => within(from, row.from) && within(to, row.to)),
      ),
  );
  expect(untested).toEqual([]);
});

test.each(CHART_NAMES)('no known problem of %s applies if the version stays the same', (chart) => {
  for (const version of releasesOf(chart))
    expect(
      codes(chart, version, version, {'persistence.enabled': true}, {release: 'scalr-agent'}),
    ).toEqual([]);
});

test('a walk over several boundaries lists all of them, the worst first', () => {
  const found = codes('agent-job', '0.5.67', '0.6.5', CLAIM, {
    release: 'scalr-agent',
    server: 'v1.34.3-eks-abc',
  });
  expect(found.slice(0, 4)).toEqual([
    'KUBERNETES_TOO_OLD',
    'CRD_RENAMED',
    'PVC_RENAMED',
    'SELECTOR_CHANGED',
  ]);
  expect(found).toEqual(
    expect.arrayContaining(['RUNS_BLOCK_DRAINS', 'RUNS_RETRIED', 'REUSE_VALUES']),
  );
});

describe('Kubernetes floor', () => {
  const nodes = [
    {name: 'new', version: 'v1.35.1-gke.100'},
    {name: 'old', version: 'v1.34.9'},
  ];

  test('blocks when only a node is too old, and names the last version that runs there', () => {
    expect(
      kubernetesAdvice({chart: 'agent-job', version: '0.6.5'}, {server: 'v1.35.1', nodes}),
    ).toMatchObject([
      {
        verdict: 'error',
        message: expect.stringContaining('node old (v1.34.9)'),
        remedies: [{text: expect.stringContaining('--chart-version 0.5.68')}],
      },
    ]);
  });

  test('only advises when the README requires a version that nothing enforces', () => {
    expect(
      kubernetesAdvice({chart: 'agent-local', version: '0.6.5'}, {server: 'v1.30.0', nodes: []}),
    ).toMatchObject([{verdict: 'warning'}]);
  });

  test('says nothing when control plane and nodes are new enough or unknown', () => {
    expect(
      kubernetesAdvice(
        {chart: 'agent-job', version: '0.6.5'},
        {server: 'v1.35.0', nodes: [{name: 'a', version: ''}]},
      ),
    ).toEqual([]);
  });
});

test('derives gained settings from the rows', () => {
  const gained = (chart: ChartName, from: string, to: string) =>
    newSettingsOf({chart, version: from}, {chart, version: to}).map(({setting}) => setting);
  expect(gained('agent-job', '0.5.75', '0.6.5')).toContain('client-cert-secret');
  expect(gained('agent-job', '0.6.1', '0.6.5')).not.toContain('client-cert-secret');
  expect(gained('agent-local', '0.5.64', '0.6.5')).toEqual(
    expect.arrayContaining(['client-cert-secret', 'ca-secret']),
  );
  expect(gained('agent-k8s', '0.6.5', '0.6.5')).toEqual([]);
});
