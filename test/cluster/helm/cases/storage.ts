import {within} from '../../../../src/charts/releases/versions.ts';
import type {Values} from '../../../../src/ground/tree.ts';
import {agentRoles, type Case, claim, inEach, NESTED, variableIn} from '../claims.ts';
import type {Rendered} from '../render.ts';
import {mountedAt, type Role, variableOf} from '../workloads.ts';
import {cachePlaces, cachesOff, claimCases} from './cache.ts';

const EFS = 'fs-0123456789abcdef0::fsap-0123456789abcdef0';
const SWITCHES = {'agent-local': '*', 'agent-job': NESTED} as const;

export const ephemeralCase: Case = {
  name: 'an ephemeral cache with a limit',
  settings: {cache: 'ephemeral', 'cache-size': '7Gi'},
  takenBy: {'agent-local': '*', 'agent-job': NESTED},
  check: (rendered) => [
    claim('claims of the release', rendered.ofKind('PersistentVolumeClaim').length, 0),
    ...cachePlaces(rendered)
      .filter(({role}) => role !== 'controller')
      .flatMap(({role, path}) =>
        inEach(rendered, [role], (container) => [
          claim(
            `volume at ${path(container)}`,
            mountedAt(container, path(container))?.volume?.['emptyDir'],
            {sizeLimit: '7Gi'},
          ),
        ]),
      ),
  ],
};

export const nodeCase: Case = {
  name: 'a cache in a directory of the nodes',
  settings: (target) =>
    target.chart === 'agent-k8s'
      ? {cache: 'hostpath', 'data-home': '/var/lib/scalr-prod'}
      : {cache: 'hostpath', 'cache-path': '/mnt/disks/ssd0/scalr', ...cachesOff(target)},
  takenBy: {'agent-k8s': '*', 'agent-job': '>=0.6.2'},
  check: (rendered) => {
    const isK8s = rendered.target.chart === 'agent-k8s';
    const path = isK8s ? '/var/lib/scalr-prod' : '/mnt/disks/ssd0/scalr';
    return [
      claim('claims of the release', rendered.ofKind('PersistentVolumeClaim').length, 0),
      ...inEach(rendered, isK8s ? ['worker'] : ['worker', 'runner'], (container) => {
        const place =
          container.role === 'runner'
            ? '/opt/plugin-cache'
            : variableOf(container, isK8s ? 'SCALR_AGENT_DATA_DIR' : 'SCALR_AGENT_CACHE_DIR');
        return [
          claim(`volume at ${place}`, mountedAt(container, place)?.volume?.['hostPath'], {
            path,
            type: 'DirectoryOrCreate',
          }),
        ];
      }),
    ];
  },
};

export const efsCase: Case = {
  name: 'a cache on EFS',
  settings: {cache: 'efs', 'efs-handle': EFS},
  takenBy: {'agent-k8s': '*', 'agent-job': '<=0.5.63'},
  check: (rendered) => {
    const {target, ofKind} = rendered;
    const name = `${target.chart}-efs-claim`;
    const volumes = ofKind('PersistentVolume').map(
      ({spec}) => (spec as {csi: Values}).csi['volumeHandle'],
    );
    return [
      claim('file system', volumes, [EFS]),
      claim(
        'claims of the release',
        ofKind('PersistentVolumeClaim').map(({metadata}) => metadata.name),
        [name],
      ),
      ...(target.chart === 'agent-k8s'
        ? [
            ...variableIn(
              rendered,
              ['controller', 'worker'],
              'SCALR_AGENT_KUBERNETES_EFS_CLAIM_NAME',
              name,
            ),
            ...inEach(rendered, ['worker'], (container) => [
              claim(
                'volume of the data',
                mountedAt(container, variableOf(container, 'SCALR_AGENT_DATA_DIR'))?.volume?.[
                  'persistentVolumeClaim'
                ],
                {claimName: name},
              ),
            ]),
          ]
        : inEach(rendered, ['runner', 'worker'], ({pod}) => [
            claim(
              'volume of the cache',
              pod.volumes.find((volume) => volume.name === 'cache')?.['persistentVolumeClaim'],
              {
                claimName: name,
              },
            ),
          ])),
    ];
  },
};

export const mountOptionCase: Case = {
  name: 'mount options of EFS',
  settings: {
    cache: 'efs',
    'efs-handle': EFS,
    'efs-mount-option': ['acregmin=1', 'acregmax=3', 'acdirmin=1', 'acdirmax=3', 'tls'],
  },
  takenBy: {'agent-k8s': '*', 'agent-job': '<=0.5.63'},
  check: ({ofKind}) => [
    claim(
      'mount options',
      ofKind('PersistentVolume').map(({spec}) => (spec as Values)['mountOptions']),
      [['acregmin=1', 'acregmax=3', 'acdirmin=1', 'acdirmax=3', 'tls']],
    ),
  ],
};

export const dataSizeCase: Case = {
  name: 'a limit for the data of runs',
  settings: {'data-size': '9Gi'},
  takenBy: {'agent-local': NESTED, 'agent-job': NESTED},
  check: (rendered) =>
    inEach(
      rendered,
      rendered.target.chart === 'agent-job' ? ['worker'] : ['agent'],
      (container) => [
        claim(
          'volume of the data',
          mountedAt(container, variableOf(container, 'SCALR_AGENT_DATA_DIR'))?.volume?.['emptyDir'],
          {
            sizeLimit: '9Gi',
          },
        ),
      ],
    ),
};

/** agent-job 0.5.64 configures only the worker. */
const cachingRoles = ({target}: Rendered): Role[] =>
  target.chart === 'agent-job' && within(target.version, '0.5.64')
    ? ['worker']
    : agentRoles(target);

const switchCase = (
  setting: 'provider-cache' | 'module-cache',
  on: boolean,
  takenBy: Case['takenBy'],
): Case => {
  const name =
    setting === 'provider-cache'
      ? 'SCALR_AGENT_PROVIDER_CACHE_ENABLED'
      : 'SCALR_AGENT_MODULE_CACHE_ENABLED';
  return {
    name: `${setting} ${on ? 'on' : 'off'}`,
    settings: {[setting]: on},
    takenBy,
    check: (rendered) => {
      if (rendered.target.chart === 'agent-k8s') return [];
      return variableIn(rendered, cachingRoles(rendered), name, String(on));
    },
  };
};

export const providerCacheCase = switchCase('provider-cache', true, {
  ...SWITCHES,
  'agent-k8s': '*',
});
export const moduleCacheCase = switchCase('module-cache', true, {
  'agent-local': '*',
  'agent-job': '>=0.5.65',
});

export const cacheLimitCase: Case = {
  name: 'a limit for the provider cache',
  settings: {'provider-cache-limit': '15Gi'},
  takenBy: {...SWITCHES, 'agent-k8s': '*'},
  check: (rendered) => [
    ...variableIn(
      rendered,
      cachingRoles(rendered),
      'SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB',
      '15360',
    ),
    ...providerCacheCase.check(rendered),
  ],
};

export const storageCases: readonly Case[] = [
  ephemeralCase,
  {
    name: 'an ephemeral cache without a limit',
    settings: {cache: 'ephemeral'},
    takenBy: {'agent-local': '*', 'agent-job': '*'},
    check: (rendered) => [
      claim('claims of the release', rendered.ofKind('PersistentVolumeClaim').length, 0),
    ],
  },
  ...claimCases,
  nodeCase,
  efsCase,
  mountOptionCase,
  dataSizeCase,
  providerCacheCase,
  moduleCacheCase,
  cacheLimitCase,
  switchCase('provider-cache', false, SWITCHES),
  switchCase('module-cache', false, {
    'agent-k8s': '*',
    'agent-local': '*',
    'agent-job': '>=0.5.65',
  }),
];
