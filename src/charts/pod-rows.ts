import {at, isMap, itemsAt, sameTree, type Tree, textAt, type Values} from '../ground/tree.ts';
import type {Mount} from '../settings/lists.ts';
import {mount, workerCpuLimit, workerCpuRequest, workerMemoryLimit, workerMemoryRequest} from '../settings/pods.ts';
import type {Row} from './define.ts';
import {row} from './row-kinds.ts';
import {resourceRows} from './shared-rows.ts';

/** Where a volume of a kind has the name of its object. */
const NAMES: Readonly<Record<Mount['kind'], readonly [string, string]>> = {
  secret: ['secret', 'secretName'],
  configmap: ['configMap', 'name'],
  pvc: ['persistentVolumeClaim', 'claimName'],
};

const volumeOf = ({kind, name}: Mount): string => `${kind}-${name.replaceAll('.', '-')}`.slice(0, 63).replace(/-+$/, '');

/** Volumes of the pod, and their mounts in one container. */
export const mountRow = (volumes: string, volumeMounts: string, options: Pick<Row<Mount[]>, 'in'> = {}): Row<Mount[]> => {
  const write = (all: readonly Mount[]): [Tree[], Tree[]] => {
    const once = new Map(
      all.map((each) => [volumeOf(each), {name: volumeOf(each), [NAMES[each.kind][0]]: {[NAMES[each.kind][1]]: each.name}}]),
    );
    const mounts = all.map((each) => ({name: volumeOf(each), mountPath: each.path, ...(each.kind === 'pvc' ? {} : {readOnly: true})}));
    return [[...once.values()], mounts];
  };
  return row({
    setting: mount,
    paths: [at(volumes), at(volumeMounts)],
    write: (all) => write(all).map((tree, index) => [at(index === 0 ? volumes : volumeMounts), tree] as const),
    read: (values) => {
      const found = [itemsAt(values, volumes), itemsAt(values, volumeMounts)] as const;
      const all = found[1].filter(isMap).flatMap((target) => {
        const source = found[0].filter(isMap).find(({name}) => name === target['name']) ?? ({} as Values);
        return (Object.keys(NAMES) as Mount['kind'][])
          .map((kind): Mount => ({kind, name: textAt(source, NAMES[kind]), path: textAt(target, ['mountPath'])}))
          .filter(({name}) => name !== '');
      });
      // Other fields, such as a sub path, have no setting.
      return all.length > 0 && sameTree(write(all), found) ? all : undefined;
    },
    ...options,
  });
};

/** The worker container of run pods, which only agent-job has. */
export const WORKER_SIZES = [workerCpuRequest, workerCpuLimit, workerMemoryRequest, workerMemoryLimit];

export const workerResources = (path: string): Row[] => resourceRows(WORKER_SIZES, path);
