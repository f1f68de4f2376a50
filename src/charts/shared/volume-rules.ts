import {at, getAt, isMap, isOn, itemsAt, type Tree, textAt} from '../../ground/tree.ts';
import {type Keys, keyError} from './key-rule.ts';
import type {ValuesRule} from './rule.ts';

const nameOf = (item: Tree): string | undefined =>
  isMap(item) && typeof item['name'] === 'string' ? item['name'] : undefined;

/** Two volumes cannot have the same mount path. */
export const separateDirectories = keyError('DIRECTORIES_COLLIDE', {
  in: '>=0.5.64',
  keys: ['agent.dataDir', 'agent.cacheDir'],
  isWrong: (values) =>
    textAt(values, 'agent.dataDir') !== '' &&
    textAt(values, 'agent.dataDir') === textAt(values, 'agent.cacheDir'),
  message:
    'agent.dataDir and agent.cacheDir must be different directories, because each is a mount path.',
});

/** Directories where a volume is mounted. */
export const directories = (keys: Keys): ValuesRule =>
  keyError('DIRECTORY_REQUIRED', {
    ...keys,
    isWrong: (values, key) => getAt(values, at(key)) === '',
    message: 'The value must not be empty, because a volume is mounted at this path.',
    suggestion: 'Remove it to use the chart default',
  });
interface MountKeys {
  in: string;
  /** Key of the list of extra volumes, and keys of lists of mounts. */
  volumes: string;
  mounts: readonly string[];
  /** Key of a list of containers with mounts of their own. */
  containers?: string;
  /** Names of volumes that the chart defines. */
  own: readonly string[];
}

/** Kubernetes rejects mounts of missing volumes and duplicate volume names. */
export const requiresVolumes = ({
  in: range,
  volumes,
  mounts,
  containers,
  own,
}: MountKeys): ValuesRule => ({
  code: 'VOLUME_NOT_FOUND',
  in: range,
  verdict: 'error',
  test: (values) => {
    const extra = itemsAt(values, volumes).map(nameOf);
    const repeated = extra.flatMap((name, index) => {
      if (name === undefined || !own.includes(name)) return [];
      const message = `The volume name ${name} is used by the chart.`;
      return [{path: [...at(volumes), index, 'name'], message, suggestion: 'Use another name'}];
    });
    const lists = [
      ...mounts.map((key) => ({path: at(key), items: itemsAt(values, key)})),
      ...(containers === undefined ? [] : itemsAt(values, containers)).map((each, index) => ({
        path: [...at(containers as string), index, 'volumeMounts'],
        items: isMap(each) ? itemsAt(each, 'volumeMounts') : [],
      })),
    ];
    const dangling = lists.flatMap(({path, items}) =>
      items.flatMap((mount, index) => {
        const name = nameOf(mount);
        if (name === undefined || extra.includes(name) || own.includes(name)) return [];
        return [
          {
            path: [...path, index, 'name'],
            message: `Volume ${name} not found.`,
            suggestion: `Add the volume to ${volumes}`,
          },
        ];
      }),
    );
    return [...repeated, ...dangling];
  },
});

/** PersistentVolumeClaims that the chart creates require a size; `volumes` are their parent keys. */
export const requiresClaimSize = ({
  volumes,
  ...rule
}: {
  in?: string;
  volumes: readonly string[];
}): ValuesRule =>
  keyError('PVC_SIZE_REQUIRED', {
    ...rule,
    keys: volumes.map((volume) => `${volume}.persistentVolumeClaim.storage`),
    isWrong: (values, key) => {
      const claim = key.replace(/\.storage$/, '');
      const isMade =
        isOn(values, claim.replace(/\.persistentVolumeClaim$/, '.enabled')) &&
        textAt(values, `${claim}.claimName`) === '';
      return isMade && /^[+-]?0*(\.0*)?[A-Za-z]*$/.test(String(getAt(values, at(key)) ?? ''));
    },
    message: 'The size of a PVC must be greater than zero.',
    suggestion: '20Gi',
  });
