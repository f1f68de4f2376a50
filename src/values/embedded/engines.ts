import {listItems, nodeIn, scalarText} from './nodes.ts';

/** Where an engine keeps its releases, and in each the chart, its version and its values: maps, or texts that contain YAML. */
export interface EngineFormat {
  releases(root: unknown): unknown[];
  chart: string;
  version: string;
  values: readonly string[];
  /** A list of names of files. */
  files?: string;
  others: readonly string[];
  /** Single values with their names: a list of `name` and `value`, or a map. */
  parameters?: string;
  /** Where the release is installed: paths below the root, or below the release. */
  place: readonly string[];
  /** What a release of agent-job lacks, so that upgrades apply its definitions. */
  lacksDefinitions?(root: unknown, release: unknown): string | false;
  /** What it lacks, so that the replicas of an autoscaler stay. */
  lacksIgnored?(root: unknown): string | false;
}

const argo = (spec: string): EngineFormat => ({
  releases: (root) => [
    nodeIn(root, `${spec}.source`),
    ...listItems(nodeIn(root, `${spec}.sources`)),
  ],
  chart: 'chart',
  version: 'targetRevision',
  values: ['helm.valuesObject', 'helm.values'],
  files: 'helm.valueFiles',
  others: ['helm.fileParameters'],
  parameters: 'helm.parameters',
  place: ['namespace', 'server', 'name'].map((key) => `${spec}.destination.${key}`),
  // Argo CD applies the definitions of a chart with its other objects.
  lacksDefinitions: (_, release) =>
    scalarText(nodeIn(release, 'helm.skipCrds')) === 'true' && 'Remove helm.skipCrds',
  lacksIgnored: (root) =>
    !hasReplicas(nodeIn(root, `${spec}.ignoreDifferences`)) &&
    `Add /spec/replicas to ${spec}.ignoreDifferences, and RespectIgnoreDifferences=true to syncOptions`,
});

const hasReplicas = (node: unknown): boolean =>
  JSON.stringify(node ?? '').includes('/spec/replicas');

const flux: EngineFormat = {
  releases: (root) => [nodeIn(root, 'spec')],
  chart: 'chart.spec.chart',
  version: 'chart.spec.version',
  values: ['values'],
  others: ['valuesFrom'],
  place: ['spec.targetNamespace', 'metadata.namespace'],
  lacksDefinitions: (root) =>
    !/^Create/.test(scalarText(nodeIn(root, 'spec.upgrade.crds')) ?? '') &&
    'Set spec.upgrade.crds to CreateReplace',
  lacksIgnored: (root) =>
    scalarText(nodeIn(root, 'spec.driftDetection.mode')) === 'enabled' &&
    !hasReplicas(nodeIn(root, 'spec.driftDetection.ignore')) &&
    'Add /spec/replicas to spec.driftDetection.ignore',
};

const k3s: EngineFormat = {
  releases: (root) => [nodeIn(root, 'spec')],
  chart: 'chart',
  version: 'version',
  values: ['valuesContent'],
  others: [],
  parameters: 'set',
  place: ['spec.targetNamespace', 'metadata.namespace'],
};

const helmfile: EngineFormat = {
  releases: (root) => listItems(nodeIn(root, 'releases')),
  chart: 'chart',
  version: 'version',
  values: ['values'],
  others: ['secrets'],
  parameters: 'set',
  place: ['namespace', 'kubeContext'],
};

/** By the kind of the object; a Helmfile has none. */
export const ENGINES: ReadonlyMap<string, EngineFormat> = new Map([
  ['Application', argo('spec')],
  ['ApplicationSet', argo('spec.template.spec')],
  ['HelmRelease', flux],
  ['HelmChart', k3s],
  ['helmfile', helmfile],
]);
