import {addRelease} from '../charts/add-release.ts';
import {isUnknown} from '../charts/chart-of.ts';
import {scalrChart, type Target} from '../charts/define.ts';
import {chartSchema} from '../charts/schema.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import type {Values} from '../ground/tree.ts';
import {objectsIn, type ReleaseRecord, type Revision} from '../helm/release-record.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {pluralOf} from '../kubernetes/kinds.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import type {NodeObject} from '../platform/readings.ts';
import {effectiveValues as withDefaults} from '../values/read-values.ts';
import {type Inventory, inventoryOf} from './inventory.ts';
import {readInventory} from './read-inventory.ts';
import {deployedRevision, type InstallFacts} from './read-release.ts';
import {USER_KINDS, usersIn} from './users.ts';

/** A release as an upgrade finds it. */
export interface InstalledRelease {
  name: ReleaseName;
  target: Target;
  /** Chart, values and objects are those of the deployed revision, which Helm compares the upgrade with. */
  facts: InstallFacts & {release: ReleaseRecord};
  /** The revision to roll back to; undefined if none is deployed. */
  deployed: Revision | undefined;
  inventory: Inventory;
  /** Objects of the namespace. */
  live: readonly KubernetesObject[];
  /** Those of them that belong to others and can read a Secret or mount a PVC. */
  users: readonly KubernetesObject[];
  /** Kinds of `users` that this Kubernetes user may not list. */
  unlisted: readonly string[];
  nodes: readonly {name: string; version: string}[];
  /** CRDs of all generations of agent-job; undefined if they cannot be read. */
  definitions: readonly KubernetesObject[] | undefined;
}

/** Reads a release and everything in its namespace. A failed or interrupted upgrade has a newer revision than the deployed one. @throws ExpectedError */
export async function readInstalled(
  name: ReleaseName,
  facts: InstallFacts & {release: ReleaseRecord},
  access: ClusterAccess,
  signal: AbortSignal,
): Promise<InstalledRelease> {
  const {release} = facts;
  const isDeployed = release.status === 'deployed';
  const [readings, former] = await Promise.all([
    readInventory(name, facts, access, signal),
    isDeployed ? undefined : deployedRevision(name, access, signal),
  ]);
  const {chart, values, defaults, manifest} = former ?? release;
  const objects = former ? objectsIn(manifest) : facts.installed;
  const target = describedBy(scalrChart(chart) as Target, defaults, release.app_version);
  return {
    name,
    target,
    facts: {...facts, release: {...release, chart, values, defaults, manifest}, installed: objects},
    deployed: isDeployed ? release : former,
    inventory: inventoryOf({...readings, manifest: objects, state: {...release, chart}, values: withDefaults(values, target)}),
    live: readings.objects,
    users: usersIn({...readings, manifest: objects}),
    unlisted: USER_KINDS.map(pluralOf).filter((kind) => readings.unread.includes(kind)),
    nodes: ((readings.nodes ?? []) as readonly NodeObject[]).map(({metadata, status}) => ({
      name: metadata.name,
      version: status?.nodeInfo?.kubeletVersion ?? '',
    })),
    definitions: readings.definitions,
  };
}

/** An unknown version is described by the values.yaml that Helm stores with the release. */
const describedBy = (target: Target, defaults: Values, appVersion = ''): Target =>
  isUnknown(target, false) && Object.keys(defaults).length > 0
    ? {
        ...target,
        schema: addRelease(chartSchema(target.chart), {
          metadata: {name: target.chart, version: target.version, appVersion},
          values: defaults,
        }),
      }
    : target;
