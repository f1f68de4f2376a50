import {at, getAt, isMap, itemsAt, type Tree, textAt, type Values} from '../../ground/tree.ts';
import type {ValuesReading} from '../reading/source.ts';
import {type TreePath, valueAt} from '../reading/tree-path.ts';

/** A single value that an engine sets beside the values, as `helm --set` does. Without a value its content is unknown. */
export interface Assignment {
  name: string;
  value?: string;
  /** A text even where it looks like a number. */
  isText: boolean;
  at: TreePath;
}

/** An object that a release refers to. */
export interface ObjectReference {
  kind: string;
  name: string;
  namespace: string;
}

/** Where values come from: a map or a text in the document, a file beside it, an object, single values, or a place that is not read. */
export type ValuesOrigin =
  | {inline: TreePath}
  | {file: string}
  | {object: ObjectReference; key: string}
  | {assignments: readonly Assignment[]}
  | {read: ValuesReading}
  | {unread: string};

/** A release as its engine describes it. Later values override earlier ones. */
export interface EngineRelease {
  /** HelmRelease, Application, … */
  kind: string;
  /** The chart, with or without its repository. */
  reference: string;
  chartAt: TreePath;
  version?: string | undefined;
  versionAt: TreePath;
  /** The object that has the chart and its version instead. */
  chartObject?: ObjectReference;
  /** The chart is a directory of a repository, so the version of the release is that of its Chart.yaml. */
  isFromGit?: boolean;
  origins: readonly ValuesOrigin[];
  /** Where it is installed, as far as the file says. */
  place: string;
  /** What a release of agent-job lacks, so that upgrades apply its definitions. */
  lacksDefinitions?: string | false;
  /** What it lacks, so that the replicas of an autoscaler stay. */
  lacksIgnored?: string | false;
}

type Engine = (root: Values) => EngineRelease[];

/** The releases in a document; undefined if no engine reads it. */
export function engineReleases(root: Values): EngineRelease[] | undefined {
  const {apiVersion, kind, helm} = root;
  if (kind === 'Kustomization' && root['helmCharts'] === undefined) return undefined;
  if (typeof kind === 'string') {
    const isSource = String(apiVersion).startsWith('source.toolkit.fluxcd.io/');
    return isSource ? undefined : ENGINES.get(kind)?.(root);
  }
  if (Array.isArray(root['helmCharts'])) return kustomize(root);
  if (Array.isArray(root['releases'])) return helmfile(root);
  if (isMap(helm) && typeof helm['chart'] === 'string') return rancherFleet(root);
  return undefined;
}

const scalarAt = (tree: Tree | undefined, path: TreePath): string | undefined => {
  const found = valueAt(tree, path);
  return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined;
};

const listAt = (tree: Tree | undefined, path: TreePath): Tree[] => {
  const found = valueAt(tree, path);
  return Array.isArray(found) ? found : [];
};

const textsAt = (tree: Tree | undefined, path: TreePath): string[] =>
  listAt(tree, path).filter((each) => typeof each === 'string');

const placeOf = (root: Values, ...paths: TreePath[]): string =>
  paths.flatMap((path) => scalarAt(root, path) ?? []).join('/');

/** Maps and texts that exist at these paths. */
const inlineAt = (root: Values, ...paths: TreePath[]): ValuesOrigin[] =>
  paths.flatMap((inline) => {
    const found = valueAt(root, inline);
    return isMap(found) || typeof found === 'string' ? [{inline}] : [];
  });

const filesOf = (names: readonly string[]): ValuesOrigin[] => names.map((file) => ({file}));

/** A list of maps with a name and a value. */
function assignmentsAt(root: Values, path: TreePath): ValuesOrigin[] {
  const assignments = listAt(root, path).flatMap((item, index): Assignment[] => {
    const name = scalarAt(item, ['name']);
    if (!isMap(item) || name === undefined) return [];
    const {value, forceString, type} = item;
    const isText = forceString === true || type === 'string';
    const assignment = {name, isText, at: [...path, index]};
    return [
      isMap(value) || value === undefined || Array.isArray(value)
        ? assignment
        : {...assignment, value: String(value)},
    ];
  });
  return assignments.length === 0 ? [] : [{assignments}];
}

const hasReplicas = (tree: Tree | undefined): boolean =>
  JSON.stringify(tree ?? '').includes('/spec/replicas');

/** An Argo CD Application, or the template of an ApplicationSet. */
const argo =
  (kind: string, above: TreePath): Engine =>
  (root) => {
    const spec = [...above, 'spec'];
    const sources = listAt(root, [...spec, 'sources']).map((_, index) => [
      ...spec,
      'sources',
      index,
    ]);
    return [[...spec, 'source'], ...sources].map((source) => {
      const helm = [...source, 'helm'];
      return {
        kind,
        reference: scalarAt(root, [...source, 'chart']) ?? '',
        chartAt: [...source, 'chart'],
        version: scalarAt(root, [...source, 'targetRevision']),
        versionAt: [...source, 'targetRevision'],
        origins: [
          ...filesOf(textsAt(root, [...helm, 'valueFiles'])),
          ...inlineAt(root, [...helm, 'values'], [...helm, 'valuesObject']),
          ...assignmentsAt(root, [...helm, 'parameters']),
          ...listAt(root, [...helm, 'fileParameters']).map((each) => ({
            unread: `the file of ${scalarAt(each, ['name']) ?? 'a parameter'}`,
          })),
          ...(valueAt(root, ['spec', 'templatePatch']) === undefined
            ? []
            : [{unread: 'spec.templatePatch'}]),
        ],
        place: placeOf(
          root,
          ...['namespace', 'server', 'name'].map((key) => [...spec, 'destination', key]),
        ),
        // Argo CD applies the definitions of a chart with its other objects.
        lacksDefinitions: valueAt(root, [...helm, 'skipCrds']) === true && 'Remove helm.skipCrds',
        lacksIgnored:
          !hasReplicas(valueAt(root, [...spec, 'ignoreDifferences'])) &&
          `Add /spec/replicas to ${spec.join('.')}.ignoreDifferences, and RespectIgnoreDifferences=true to syncOptions`,
      };
    });
  };

/** A HelmRelease of Flux. */
const flux: Engine = (root) => {
  const namespace = textAt(root, 'metadata.namespace');
  const chart = ['spec', 'chart', 'spec'];
  const source = textAt(root, 'spec.chart.spec.sourceRef.kind');
  const isExisting = getAt(root, at('spec.chartRef')) !== undefined;
  return [
    {
      kind: 'HelmRelease',
      reference: scalarAt(root, [...chart, 'chart']) ?? '',
      chartAt: [...chart, 'chart'],
      version: scalarAt(root, [...chart, 'version']),
      versionAt: [...chart, 'version'],
      ...(isExisting ? {chartObject: referenceAt(root, 'spec.chartRef', namespace)} : {}),
      isFromGit: source === 'GitRepository' || source === 'Bucket',
      origins: [
        // Without this list, the values.yaml of the chart counts.
        ...textsAt(root, [...chart, 'valuesFiles'])
          .filter((file) => file !== 'values.yaml')
          .map((file) => ({unread: `${file} of the chart`})),
        ...itemsAt(root, 'spec.valuesFrom').map((_, index) => fluxOrigin(root, index, namespace)),
        ...inlineAt(root, ['spec', 'values']),
      ],
      place: placeOf(root, ['spec', 'targetNamespace'], ['metadata', 'namespace']),
      lacksDefinitions:
        !textAt(root, 'spec.upgrade.crds').startsWith('Create') &&
        'Set spec.upgrade.crds to CreateReplace',
      lacksIgnored:
        textAt(root, 'spec.driftDetection.mode') === 'enabled' &&
        !hasReplicas(getAt(root, at('spec.driftDetection.ignore'))) &&
        'Add /spec/replicas to spec.driftDetection.ignore',
    },
  ];
};

const referenceAt = (root: Values, path: string, namespace: string): ObjectReference => ({
  kind: textAt(root, `${path}.kind`),
  name: textAt(root, `${path}.name`),
  namespace: textAt(root, `${path}.namespace`) || namespace,
});

/** A Secret or ConfigMap with values, or with the value of one key. */
function fluxOrigin(root: Values, index: number, namespace: string): ValuesOrigin {
  const path = ['spec', 'valuesFrom', index];
  const name = scalarAt(root, [...path, 'targetPath']);
  if (name !== undefined) return {assignments: [{name, isText: true, at: path}]};
  const kind = scalarAt(root, [...path, 'kind']) ?? 'ConfigMap';
  const key = scalarAt(root, [...path, 'valuesKey']) ?? 'values.yaml';
  return {object: {kind, name: scalarAt(root, [...path, 'name']) ?? '', namespace}, key};
}

/** A HelmChart of K3s and RKE2; a HelmChartConfig of the same name overrides its values. */
const k3s: Engine = (root) => {
  const namespace = textAt(root, 'metadata.namespace');
  const name = textAt(root, 'metadata.name');
  const parameters = getAt(root, at('spec.set'));
  const assignments = Object.entries(isMap(parameters) ? parameters : {}).map(
    ([key, value]): Assignment => ({
      name: key,
      value: String(value),
      isText: false,
      at: ['spec', 'set', key],
    }),
  );
  return [
    {
      kind: 'HelmChart',
      reference: scalarAt(root, ['spec', 'chart']) ?? '',
      chartAt: ['spec', 'chart'],
      version: scalarAt(root, ['spec', 'version']),
      versionAt: ['spec', 'version'],
      origins: [
        ...inlineAt(root, ['spec', 'valuesContent']),
        ...itemsAt(root, 'spec.valuesSecrets').map((each) => ({
          unread: `Secret ${scalarAt(each, ['name'])}`,
        })),
        {object: {kind: 'HelmChartConfig', name, namespace}, key: 'valuesContent'},
        ...(assignments.length === 0 ? [] : [{assignments}]),
      ],
      place: placeOf(root, ['spec', 'targetNamespace'], ['metadata', 'namespace']),
    },
  ];
};

/** The charts that Kustomize renders with `--enable-helm`. */
const kustomize: Engine = (root) =>
  itemsAt(root, 'helmCharts').map((chart, index) => {
    const path = ['helmCharts', index];
    const file = scalarAt(chart, ['valuesFile']);
    return {
      kind: 'Kustomization',
      reference: scalarAt(chart, ['name']) ?? '',
      chartAt: [...path, 'name'],
      version: scalarAt(chart, ['version']),
      versionAt: [...path, 'version'],
      origins: [
        ...filesOf(file === undefined ? [] : [file]),
        ...inlineAt(root, [...path, 'valuesInline']),
        ...filesOf(textsAt(chart, ['additionalValuesFiles'])),
      ],
      place: scalarAt(chart, ['namespace']) ?? textAt(root, 'namespace'),
    };
  });

const helmfile: Engine = (root) =>
  itemsAt(root, 'releases').flatMap((release, index) => {
    if (!isMap(release)) return [];
    const path = ['releases', index];
    const values = listAt(release, ['values']).map((each, item): ValuesOrigin => {
      if (isMap(each)) return {inline: [...path, 'values', item]};
      return typeof each === 'string' ? {file: each} : {unread: 'a list of values'};
    });
    return [
      {
        kind: 'helmfile',
        reference: scalarAt(release, ['chart']) ?? '',
        chartAt: [...path, 'chart'],
        version: scalarAt(release, ['version']),
        versionAt: [...path, 'version'],
        origins: [
          ...inlineAt(root, [...path, 'values']),
          ...values,
          ...textsAt(release, ['secrets']).map((unread) => ({unread})),
          ...assignmentsAt(root, [...path, 'set']),
        ],
        place: placeOf(release, ['namespace'], ['kubeContext']),
      },
    ];
  });

/** A fleet.yaml of Rancher. */
const rancherFleet: Engine = (root) => [
  {
    kind: 'fleet.yaml',
    reference: textAt(root, 'helm.chart'),
    chartAt: ['helm', 'chart'],
    version: scalarAt(root, ['helm', 'version']),
    versionAt: ['helm', 'version'],
    origins: [
      ...inlineAt(root, ['helm', 'values']),
      ...filesOf(textsAt(root, ['helm', 'valuesFiles'])),
      ...itemsAt(root, 'helm.valuesFrom').map(() => ({unread: 'helm.valuesFrom'})),
      ...itemsAt(root, 'targetCustomizations').map((each) => ({
        unread: `the target ${scalarAt(each, ['name']) ?? 'customization'}`,
      })),
    ],
    place: textAt(root, 'defaultNamespace'),
  },
];

/** A Release of the Helm provider of Crossplane. */
const crossplane: Engine = (root) => {
  const path = ['spec', 'forProvider'];
  return [
    {
      kind: 'Release',
      reference: scalarAt(root, [...path, 'chart', 'name']) ?? '',
      chartAt: [...path, 'chart', 'name'],
      version: scalarAt(root, [...path, 'chart', 'version']),
      versionAt: [...path, 'chart', 'version'],
      origins: [
        ...itemsAt(root, 'spec.forProvider.valuesFrom').map(() => ({unread: 'valuesFrom'})),
        ...inlineAt(root, [...path, 'values']),
        ...assignmentsAt(root, [...path, 'set']),
      ],
      place: placeOf(root, [...path, 'namespace']),
    },
  ];
};

/** By the kind of the object. */
const ENGINES: ReadonlyMap<string, Engine> = new Map([
  ['Application', argo('Application', [])],
  ['ApplicationSet', argo('ApplicationSet', ['spec', 'template'])],
  ['HelmRelease', flux],
  ['HelmChart', k3s],
  ['Kustomization', kustomize],
  ['Release', crossplane],
]);
