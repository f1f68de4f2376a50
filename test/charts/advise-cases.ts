import type {UpgradeFacts} from '../../src/charts/advise.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {at, setAt, type Tree, type Values} from '../../src/ground/tree.ts';

export const valuesOf = (entries: Readonly<Record<string, Tree>>): Values => {
  const values: Values = {};
  for (const [path, value] of Object.entries(entries)) setAt(values, at(path), value);
  return values;
};

/** Upgrades with a known problem, and the closest ones without it. */
export interface AdviseCase {
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

export const CLAIM = {'persistence.cache.enabled': true};
const NAMED = {...CLAIM, 'persistence.cache.persistentVolumeClaim.claimName': 'mine'};

const JOB: readonly Omit<AdviseCase, 'chart'>[] = [
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

const LOCAL: readonly Omit<AdviseCase, 'chart'>[] = [
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

const K8S: readonly Omit<AdviseCase, 'chart'>[] = [
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

export const CASES: readonly AdviseCase[] = [
  ...JOB.map((each) => ({...each, chart: 'agent-job' as const})),
  ...LOCAL.map((each) => ({...each, chart: 'agent-local' as const})),
  ...K8S.map((each) => ({...each, chart: 'agent-k8s' as const})),
];
