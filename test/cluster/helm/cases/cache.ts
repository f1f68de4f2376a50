import type {Target} from '../../../../src/charts/releases/target.ts';
import {within} from '../../../../src/charts/releases/versions.ts';
import type {Values} from '../../../../src/ground/tree.ts';
import {
  type Case,
  type Claim,
  claim,
  type Flags,
  inEach,
  isFlat,
  NESTED,
  variableIn,
} from '../claims.ts';
import type {Rendered} from '../render.ts';
import {type Container, mountedAt, type Role, variableOf} from '../workloads.ts';

interface Place {
  role: Role;
  path(container: Container): string | undefined;
  /** Directory inside the volume, below the configured one. */
  below: string;
}

/** Cache directories of the containers of a chart version. */
export function cachePlaces({target, containers}: Rendered): Place[] {
  const fixed = (path: string) => () => path;
  if (target.chart === 'agent-local') {
    const cacheDirectory = within(target.version, '>=0.5.64')
      ? 'SCALR_AGENT_CACHE_DIR'
      : 'SCALR_AGENT_DATA_DIR';
    return [{role: 'agent', path: (container) => variableOf(container, cacheDirectory), below: ''}];
  }
  if (isFlat(target)) {
    const data = containers('controller').map((container) =>
      variableOf(container, 'SCALR_AGENT_DATA_DIR'),
    )[0];
    return [
      {role: 'worker', path: fixed(`${data}/bin`), below: 'bin'},
      {role: 'worker', path: fixed(`${data}/providers`), below: 'providers'},
      {role: 'runner', path: fixed('/opt/bin'), below: 'bin'},
      {role: 'runner', path: fixed('/opt/plugin-cache'), below: 'providers'},
    ];
  }
  const path = (container: Container) => variableOf(container, 'SCALR_AGENT_CACHE_DIR');
  return [
    {role: 'worker', path, below: 'cache'},
    ...(within(target.version, '>=0.5.65')
      ? [{role: 'controller', path, below: 'cache'} as const]
      : []),
    // In 0.5.64, runs read a directory that workers do not write, which is a warning.
    {
      role: 'runner',
      path: fixed('/opt/plugin-cache'),
      below: within(target.version, '>=0.5.65') ? 'cache/providers' : 'providers',
    },
  ];
}

const join = (...parts: string[]): string => parts.filter((part) => part !== '').join('/');

/** All cache paths are on the volume, and writer and reader use the same directory. */
const cacheLiesOn = (rendered: Rendered, source: Values, subPath = ''): Claim[] =>
  cachePlaces(rendered).flatMap(({role, path, below}) =>
    inEach(rendered, [role], (container) => {
      const found = mountedAt(container, path(container));
      const {name: _, ...volume} = found?.volume ?? {name: ''};
      return [
        claim(`volume at ${path(container)}`, volume, source),
        claim(
          `directory of the volume at ${path(container)}`,
          found?.mount.subPath ?? '',
          join(subPath, below),
        ),
      ];
    }),
  );

/** `<fullname>`: docs/charts/README.md, "Terms". */
function fullName({target: {chart, version}, release}: Rendered): string {
  const base = chart === 'agent-job' && within(version, '>=0.5.68') ? 'scalr-agent' : chart;
  return release.includes(base) ? release : `${release}-${base}`;
}

const claimName = (rendered: Rendered): string => {
  const {chart, version} = rendered.target;
  const isSplit =
    chart === 'agent-local' ? within(version, '0.5.74 || >=0.6.1') : within(version, NESTED);
  return isSplit ? `${fullName(rendered)}-cache` : fullName(rendered);
};

/** The release creates only this PVC. */
const makesClaim = (
  rendered: Rendered,
  {size, className, mode}: {size: string; className?: string; mode: string},
): Claim[] => [
  claim(
    'claims of the release',
    rendered.ofKind('PersistentVolumeClaim').map(({metadata, spec}) => [metadata.name, spec]),
    [
      [
        claimName(rendered),
        {
          accessModes: [mode],
          resources: {requests: {storage: size}},
          ...(className === undefined ? {} : {storageClassName: className}),
        },
      ],
    ],
  ),
];

const newClaim = (rendered: Rendered): Values => ({
  persistentVolumeClaim: {claimName: claimName(rendered)},
});

const BYTES: Readonly<Record<string, number>> = {Mi: 1, Gi: 1024};

/** agent-job uses both caches with a persistent volume; a new PVC must fit the sum of their limits. */
const cachesAreUsed = (rendered: Rendered, size?: string): Claim[] => {
  if (rendered.target.chart !== 'agent-job' || !within(rendered.target.version, '>=0.5.65'))
    return [];
  const [, amount, unit = 'Gi'] = /^(\d+)(\w+)$/.exec(size ?? '') ?? [];
  const limit = (container: Container, name: string): number =>
    Number(variableOf(container, `SCALR_AGENT_${name}_CACHE_SIZE_LIMIT_MB`) ?? 0);
  return [
    ...variableIn(rendered, ['controller', 'worker'], 'SCALR_AGENT_PROVIDER_CACHE_ENABLED', 'true'),
    ...variableIn(rendered, ['controller', 'worker'], 'SCALR_AGENT_MODULE_CACHE_ENABLED', 'true'),
    ...inEach(rendered, ['controller', 'worker'], (container) => {
      const limits = [
        'PROVIDER',
        'MODULE',
        ...(within(rendered.target.version, '>=0.6.2') ? ['BINARY'] : []),
      ].map((name) => limit(container, name));
      const sum = limits.reduce((total, each) => total + each, 0);
      return [
        claim(
          'each cache has a limit',
          limits.every((each) => each > 0),
          true,
        ),
        claim(
          'the limits fit the volume together',
          amount === undefined || sum <= Number(amount) * (BYTES[unit] ?? 0),
          true,
        ),
      ];
    }),
  ];
};

const CLAIMS = {'agent-local': '*', 'agent-job': '*'} as const;
const DASH = {'agent-local': '>=0.6.2', 'agent-job': '>=0.6.2'} as const;

/** Disables the caches that a persistent volume enables, so that only the keys of the volume change. */
export const cachesOff = ({chart, version}: Target): Flags =>
  chart === 'agent-job' && within(version, '>=0.5.65')
    ? {'provider-cache': false, 'module-cache': false}
    : {};

/** Caches that a persistent volume enables. They change several keys, so they prove nothing about a single key. */
export const persistentCaches: readonly Case[] = [
  {
    name: 'caches on a small claim',
    settings: {cache: 'pvc', 'cache-size': '40Gi', 'cache-access-mode': 'ReadWriteMany'},
    takenBy: CLAIMS,
    check: (rendered) => cachesAreUsed(rendered, '40Gi'),
  },
  {
    name: 'caches on an existing claim',
    settings: {cache: 'existing-pvc', 'cache-claim': 'shared-cache'},
    takenBy: CLAIMS,
    check: (rendered) => cachesAreUsed(rendered),
  },
  {
    name: 'caches on the nodes',
    settings: {cache: 'hostpath', 'cache-path': '/mnt/disks/ssd0/scalr'},
    takenBy: {'agent-job': '>=0.6.2'},
    check: (rendered) => cachesAreUsed(rendered),
  },
];

export const claimCase: Case = {
  name: 'a cache on a new claim of which everything is said',
  settings: (target) => ({
    cache: 'pvc',
    'cache-size': '55Gi',
    'cache-storage-class': 'shared-fast.v2',
    'cache-access-mode': 'ReadWriteMany',
    'cache-sub-path': 'scalr/prod',
    ...cachesOff(target),
  }),
  takenBy: CLAIMS,
  check: (rendered) => [
    ...makesClaim(rendered, {size: '55Gi', className: 'shared-fast.v2', mode: 'ReadWriteMany'}),
    ...cacheLiesOn(rendered, newClaim(rendered), 'scalr/prod'),
  ],
};

export const existingClaimCase: Case = {
  name: 'a cache on an existing claim',
  settings: (target) => ({
    cache: 'existing-pvc',
    'cache-claim': 'shared-cache',
    ...cachesOff(target),
  }),
  takenBy: CLAIMS,
  check: (rendered) => [
    claim('claims of the release', rendered.ofKind('PersistentVolumeClaim').length, 0),
    ...cacheLiesOn(rendered, {persistentVolumeClaim: {claimName: 'shared-cache'}}),
  ],
};

export const claimCases: readonly Case[] = [
  claimCase,
  existingClaimCase,
  {
    name: 'a cache on a new claim of which only the size is said',
    settings: (target) => ({cache: 'pvc', 'cache-size': '1.5Ti', ...cachesOff(target)}),
    takenBy: CLAIMS,
    check: (rendered) => [
      ...makesClaim(rendered, {
        size: '1536Gi',
        mode: rendered.target.chart === 'agent-job' ? 'ReadWriteMany' : 'ReadWriteOnce',
      }),
      ...cacheLiesOn(rendered, newClaim(rendered)),
      ...(rendered.target.chart === 'agent-local'
        ? [
            claim(
              'how pods are replaced',
              rendered
                .ofKind('Deployment')
                .map(({spec}) => (spec as {strategy: Values}).strategy['type']),
              ['Recreate'],
            ),
          ]
        : []),
    ],
  },
  {
    name: 'a cache on a claim that only a prepared volume binds to',
    settings: (target) => ({
      cache: 'pvc',
      'cache-size': '10Gi',
      'cache-storage-class': '-',
      'cache-access-mode': 'ReadWriteMany',
      ...cachesOff(target),
    }),
    takenBy: DASH,
    check: (rendered) => [
      ...makesClaim(rendered, {size: '10Gi', className: '', mode: 'ReadWriteMany'}),
      ...cacheLiesOn(rendered, newClaim(rendered)),
    ],
  },
  {
    name: 'a directory of an existing claim',
    settings: (target) => ({
      cache: 'existing-pvc',
      'cache-claim': 'shared-cache',
      'cache-sub-path': 'team-a',
      ...cachesOff(target),
    }),
    takenBy: CLAIMS,
    check: (rendered) =>
      cacheLiesOn(rendered, {persistentVolumeClaim: {claimName: 'shared-cache'}}, 'team-a'),
  },
];
