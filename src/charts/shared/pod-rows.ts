import {
  at,
  getAt,
  isMap,
  itemsAt,
  sameTree,
  type Tree,
  textAt,
  type Values,
} from '../../ground/tree.ts';
import {serviceAccountAnnotation, serviceAccountName} from '../../settings/identity.ts';
import type {Mount} from '../../settings/kinds/kubernetes.ts';
import {textMapIn} from '../../settings/kinds/lists.ts';
import {integerIn} from '../../settings/kinds/numbers.ts';
import {gracePeriod, shutdownMode} from '../../settings/lifecycle.ts';
import {AZURE_LABEL, mount, podLabel} from '../../settings/placement.ts';
import {concurrency} from '../../settings/purpose.ts';
import type {ContainerSize} from '../../settings/size.ts';
import type {ChartName} from '../releases/chart-name.ts';
import {asEnum} from './codecs.ts';
import type {Row} from './row.ts';
import {key, notWritten, type Options, row} from './row-kinds.ts';

/** What the agent does when it is stopped. */
export const asStopAction = asEnum({
  graceful: 'grace-shutdown',
  drain: 'drain',
  force: 'force-shutdown',
});

/** The time until a pod or container is killed, and the timeouts of the agent, which must end before. */
export const stopPeriod = (
  {grace, drain, stop}: Readonly<Record<'grace' | 'drain' | 'stop', string>>,
  {
    timeoutAs = (seconds) => seconds,
    ...options
  }: Options<number> & {timeoutAs?(seconds: number): Tree} = {},
): Row<number> => ({
  setting: gracePeriod,
  ...options,
  paths: [grace, drain, stop].map(at),
  write: (period, {get}) => {
    const mode = get(shutdownMode) ?? 'drain';
    return [
      [at(grace), period],
      ...(mode === 'drain' ? [[at(drain), timeoutAs(period - 60)] as const] : []),
      ...(mode === 'graceful' ? [[at(stop), timeoutAs(period - 10)] as const] : []),
    ];
  },
  read: (values) => integerIn(getAt(values, at(grace)) ?? null),
});

/** The agent pool decides how many runs start: the chart has no key for a limit. */
export const noRunLimit = (chart: ChartName, perRun: string): Row<number> =>
  notWritten(concurrency, {
    partly: (value) =>
      `${chart} does not limit concurrent runs: it starts a ${perRun} for each run that the agent pool assigns. The number is only used to plan capacity; the nodes need capacity for ${value} run pods.`,
  });

/** The sizes of a container at `<path>.requests` and `<path>.limits`. */
export const resourceRows = (
  {cpuRequest, cpuLimit, memoryRequest, memoryLimit}: ContainerSize,
  path: string,
  options: Pick<Row<string>, 'partly'> = {},
): Row[] => [
  key(cpuRequest, `${path}.requests.cpu`, options),
  key(cpuLimit, `${path}.limits.cpu`, options),
  key(memoryRequest, `${path}.requests.memory`, options),
  key(memoryLimit, `${path}.limits.memory`, options),
];

/** Pod labels without the label of Azure Workload Identity, which has its own setting. */
export const podLabels = (path: string, options: Pick<Row<object>, 'in' | 'partly'> = {}): Row =>
  row({
    setting: podLabel,
    paths: [at(path)],
    write: (labels) =>
      Object.entries(labels).map(([label, value]) => [[...at(path), label], value] as const),
    read: (values) => {
      const {[AZURE_LABEL]: _, ...others} = mapAt(values, path) as Values;
      return textMapIn(others);
    },
    ...options,
  });
const CREATE = at('serviceAccount.create');
const NAME = at('serviceAccount.name');
const ANNOTATIONS = at('serviceAccount.annotations');

/**
 * A name alone is an account that exists; annotations need one that the chart creates, under the name if there is one:
 * without `serviceAccount.create` all three charts drop them.
 */
export const serviceAccount = (options: Pick<Row<string>, 'partly'> = {}): Row[] => [
  row({
    setting: serviceAccountName,
    paths: [CREATE, NAME],
    write: (name, {get}) => [
      [CREATE, get(serviceAccountAnnotation) !== undefined],
      [NAME, name],
    ],
    read: (values) => textAt(values, NAME) || undefined,
    ...options,
  }),
  row({
    setting: serviceAccountAnnotation,
    paths: [CREATE, ANNOTATIONS],
    write: (map) => [
      [CREATE, true],
      [ANNOTATIONS, {...map}],
    ],
    read: (values) =>
      getAt(values, CREATE) === true ? textMapIn(getAt(values, ANNOTATIONS) ?? {}) : undefined,
  }),
];

export function mapAt(values: Values, path: string): object {
  const map = getAt(values, at(path));
  return isMap(map) ? map : {};
}

/** Where a volume of a kind has the name of its object. */
const NAMES: Readonly<Record<Mount['kind'], readonly [string, string]>> = {
  secret: ['secret', 'secretName'],
  configmap: ['configMap', 'name'],
  pvc: ['persistentVolumeClaim', 'claimName'],
};

const volumeOf = ({kind, name}: Mount): string =>
  `${kind}-${name.replaceAll('.', '-')}`.slice(0, 63).replace(/-+$/, '');

/** Volumes of the pod, and their mounts in one container. */
export const mountRow = (volumes: string, volumeMounts: string): Row<Mount[]> => {
  const write = (all: readonly Mount[]): [Tree[], Tree[]] => {
    const once = new Map(
      all.map((each) => [
        volumeOf(each),
        {name: volumeOf(each), [NAMES[each.kind][0]]: {[NAMES[each.kind][1]]: each.name}},
      ]),
    );
    const mounts = all.map((each) => ({
      name: volumeOf(each),
      mountPath: each.path,
      ...(each.kind === 'pvc' ? {} : {readOnly: true}),
    }));
    return [[...once.values()], mounts];
  };
  return row({
    setting: mount,
    paths: [at(volumes), at(volumeMounts)],
    write: (all) =>
      write(all).map((tree, index) => [at(index === 0 ? volumes : volumeMounts), tree] as const),
    read: (values) => {
      const found = [itemsAt(values, volumes), itemsAt(values, volumeMounts)] as const;
      const all = found[1].filter(isMap).flatMap((target) => {
        const source =
          found[0].filter(isMap).find(({name}) => name === target['name']) ?? ({} as Values);
        return (Object.keys(NAMES) as Mount['kind'][])
          .map(
            (kind): Mount => ({
              kind,
              name: textAt(source, NAMES[kind]),
              path: textAt(target, ['mountPath']),
            }),
          )
          .filter(({name}) => name !== '');
      });
      // Other fields, such as a sub path, have no setting.
      return all.length > 0 && sameTree(write(all), found) ? all : undefined;
    },
  });
};
