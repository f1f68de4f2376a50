import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {mapsIn, pairsBelow} from '../../../cluster/kubernetes/pod-specs.ts';
import type {DesiredSecret} from '../../../cluster/release/desired-release.ts';
import {claimNames} from '../../../cluster/release/workload-users.ts';
import {isMap, type Tree} from '../../../ground/tree.ts';
import type {Get} from '../../../settings/define.ts';
import {caSecret, caSecretKey} from '../../../settings/tls.ts';
import type {RequiredSecret} from './context.ts';

/** Every Secret that must exist before pods start, or that an install creates. */
export function requiredSecrets(
  made: readonly DesiredSecret[],
  get: Get,
  objects: readonly KubernetesObject[],
): RequiredSecret[] {
  const keysOf = new Map(made.map(({name, data}) => [name, new Set(Object.keys(data))]));
  const ca = get(caSecret);
  const referenced = [
    ...referencedSecrets(objects),
    ...(ca === undefined ? [] : [[ca, [get(caSecretKey) as string]] as const]),
  ];
  for (const [name, keys] of referenced)
    keysOf.set(name, new Set([...(keysOf.get(name) ?? []), ...keys]));
  return [...keysOf].map(([name, keys]) => {
    const data = made.findLast((each) => each.name === name)?.data;
    return {
      name,
      keys: [...keys],
      isGiven: keys.size > 0 && [...keys].every((key) => data?.[key] !== undefined),
    };
  });
}

/** Secrets that pods cannot start without, with the keys they read; those that the chart creates are left out. */
function referencedSecrets(objects: readonly KubernetesObject[]): [name: string, keys: string[]][] {
  const created = new Set(
    objects.filter(({kind}) => kind === 'Secret').map(({metadata}) => metadata.name),
  );
  return pairsIn(objects)
    .flatMap(([key, below]): [name: Tree | undefined, keys: (Tree | undefined)[]][] => {
      if (key === 'imagePullSecrets') return mapsIn(below).map(({name}) => [name, []]);
      if (!isMap(below) || below['optional'] === true) return [];
      if (key === 'secretKeyRef') return [[below['name'], [below['key']]]];
      if (key === 'secretRef') return [[below['name'], []]];
      if (key === 'secret')
        return [
          [below['secretName'] ?? below['name'], mapsIn(below['items']).map((each) => each['key'])],
        ];
      return [];
    })
    .flatMap(([name, keys]) =>
      typeof name === 'string' && name !== '' && !created.has(name)
        ? [[name, keys.filter((key) => typeof key === 'string')]]
        : [],
    );
}

export const referencedPullSecrets = (objects: readonly KubernetesObject[]): string[] => [
  ...new Set(
    pairsIn(objects).flatMap(([key, below]) =>
      key === 'imagePullSecrets' ? mapsIn(below).map(({name}) => String(name)) : [],
    ),
  ),
];

/** PersistentVolumeClaims that pods mount, including those that the chart creates. */
export const referencedClaims = (objects: readonly KubernetesObject[]): string[] => [
  ...new Set(objects.flatMap((object) => claimNames(object as unknown as Tree))),
];

/** Service accounts of pods that must exist; every namespace has the default one. */
export function referencedAccounts(objects: readonly KubernetesObject[]): string[] {
  const existing = objects
    .filter(({kind}) => kind === 'ServiceAccount')
    .map(({metadata}) => metadata.name)
    .concat('default', '');
  const named = pairsIn(objects).flatMap(([key, below]) =>
    key === 'serviceAccountName' && typeof below === 'string' ? [below] : [],
  );
  return [...new Set(named)].filter((name) => !existing.includes(name));
}

/** All keys with their values. CRDs are skipped, because their keys are descriptions. */
const pairsIn = (objects: readonly KubernetesObject[]): [key: string, below: Tree][] =>
  objects
    .filter(({kind}) => kind !== 'CustomResourceDefinition')
    .flatMap((object) => pairsBelow(object as unknown as Tree));
