import type {ChartName} from '../charts/schema.ts';
import {at, getAt, type Tree} from '../charts/tree.ts';
import {type ClaimItem, claimsOf, keptVolumesOf, type VolumeItem} from './inventory-claims.ts';
import {type DefinitionItem, definitionsOf} from './inventory-definitions.ts';
import {type NamespaceItem, namespaceOf, type SecretItem, secretsOf} from './inventory-namespace.ts';
import {type NodeDataItem, nodeDataOf} from './inventory-node-data.ts';
import type {Readings} from './inventory-readings.ts';
import {labelsOfRuns, type Run, type RunsOf, runsIn} from './inventory-runs.ts';

/** What an uninstall has to account for, by class. */
export interface Inventory {
  release: ReleaseItem | undefined;
  runs: readonly Run[];
  /** How runs of this release are found again later; undefined where they happen inside the pods of the agent. */
  runsOf: RunsOf | undefined;
  controllers: readonly Controller[];
  claims: readonly ClaimItem[];
  /** Volumes that an earlier uninstall kept. */
  volumes: readonly VolumeItem[];
  definitions: readonly DefinitionItem[];
  secrets: readonly SecretItem[];
  namespace: NamespaceItem | undefined;
  nodeData: readonly NodeDataItem[];
}

export interface ReleaseItem {
  chart: ChartName;
  version: string;
  status: string;
  revision: number;
  /** What goes with it. */
  objects: readonly string[];
}

/** What takes runs from the pool. */
export interface Controller {
  kind: string;
  name: string;
  /** Its pods end as these say when they are asked to stop. */
  onStop: 'drain' | 'interrupt';
  graceSeconds: number;
}

/** Pure. */
export function inventoryOf(readings: Readings): Inventory {
  const release = releaseOf(readings);
  const runsOf =
    release && release.chart !== 'agent-local'
      ? {chart: release.chart, version: release.version, release: readings.release, taskLabels: labelsOfRuns(readings.values)}
      : undefined;
  return {
    release,
    runs: runsOf ? runsIn(readings.objects, runsOf) : [],
    runsOf,
    controllers: release ? controllersOf(readings, release.chart) : [],
    claims: claimsOf(readings),
    volumes: keptVolumesOf(readings),
    definitions: definitionsOf(readings),
    secrets: secretsOf(readings),
    namespace: namespaceOf(readings),
    nodeData: release ? nodeDataOf(readings, release.chart) : [],
  };
}

function releaseOf({state, manifest}: Readings): ReleaseItem | undefined {
  const [, chart, version] = /^(agent-(?:k8s|local|job))-(\d.*)$/.exec(state?.chart ?? '') ?? [];
  if (state === undefined || chart === undefined || version === undefined) return undefined;
  const objects = manifest.map(({kind, metadata}) => `${kind} ${metadata.name}`);
  return {chart: chart as ChartName, version, status: state.status, revision: state.revision, objects};
}

const STOP_KEY: Readonly<Record<ChartName, string | undefined>> = {
  'agent-k8s': 'agent.worker_on_stop_action',
  'agent-local': 'agent.shutdownMode',
  // The templates set it to drain.
  'agent-job': undefined,
};
const DEFAULT_GRACE = 30;

function controllersOf({manifest, values}: Readings, chart: ChartName): Controller[] {
  const key = STOP_KEY[chart];
  const onStop = key === undefined || getAt(values, at(key)) === 'drain' ? 'drain' : 'interrupt';
  return manifest
    .filter(({kind}) => kind === 'Deployment' || kind === 'StatefulSet')
    .map(({kind, metadata: {name}, ...rest}) => {
      const seconds = getAt(rest as Tree, at('spec.template.spec.terminationGracePeriodSeconds'));
      return {kind: kind as string, name, onStop, graceSeconds: typeof seconds === 'number' ? seconds : DEFAULT_GRACE};
    });
}
