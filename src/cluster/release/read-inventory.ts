import {addRelease} from '../../charts/add-release.ts';
import {ChartVersion} from '../../charts/chart-version.ts';
import {scalrChart} from '../../charts/releases/chart-name.ts';
import {chartSchema} from '../../charts/releases/schema.ts';
import type {Target} from '../../charts/releases/target.ts';
import {isUnknown} from '../../charts/releases/target.ts';
import type {ClusterTarget, ReleaseName} from '../../ground/command-line.ts';
import {mergeValues, type Values} from '../../ground/tree.ts';
import {effectiveValues as withDefaults} from '../../values/reading/read-values.ts';
import {
  type ListedRelease,
  objectsIn,
  type ReleaseRecord,
  type Revision,
  type StoredRevision,
} from '../helm/release-record.ts';
import {type ClusterAccess, releasesIn} from '../helm/releases.ts';
import {apiFailure} from '../kubernetes/api-error.ts';
import {collectionPath, pluralOf} from '../kubernetes/kinds.ts';
import type {DefinitionObject, KubernetesObject} from '../kubernetes/objects.ts';
import {MANAGED_BY} from '../kubernetes/owners.ts';
import {
  getObject,
  type Listing,
  listAll,
  listObjects,
  REQUIRED_MS,
} from '../kubernetes/resources.ts';
import {DEFINITIONS} from '../platform/cluster-facts.ts';
import type {NodeObject} from '../platform/readings.ts';
import {type Inventory, inventoryOf} from './inventory.ts';
import {nodeDirectoryOf} from './inventory-data.ts';
import {type InventoryReadings, type PersistentVolume, userReadings} from './inventory-readings.ts';
import {NAMESPACE_KINDS, WIDE_KINDS} from './namespace.ts';
import {deployedRevision, type InstallFacts} from './read-release.ts';
import {isRenderedFor} from './release-objects.ts';
import {withRoles} from './roles-to-read.ts';
import {USER_KINDS, usersIn} from './workload-users.ts';

/** Runs, data and tokens cannot be found without these. */
const NEEDED: readonly string[] = ['jobs.batch', 'pods', 'persistentvolumeclaims', 'secrets'];

const DEFINITION = 'customresourcedefinitions.apiextensions.k8s.io';

const BINDING_KINDS: readonly string[] = [
  'clusterrolebindings.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
];

/** Can mount a directory of a node for a long time. */
const WORKLOAD_KINDS: readonly string[] = [
  'daemonsets.apps',
  'deployments.apps',
  'statefulsets.apps',
];

interface InventoryReader {
  name: ReleaseName;
  access: ClusterAccess;
  options: {signal: AbortSignal; idleMs: number};
}

/** Reads everything an uninstall reports on; changes nothing. @throws ExpectedError */
export async function readInventory(
  name: ReleaseName,
  facts: Pick<InstallFacts, 'release' | 'namespace' | 'drift' | 'installed'>,
  access: ClusterAccess,
  signal: AbortSignal = new AbortController().signal,
): Promise<InventoryReadings> {
  const {kubeTarget} = name;
  const reader = {name, access, options: {signal, idleMs: REQUIRED_MS}};
  // With --keep-history Helm keeps the record of uninstalled releases.
  const state = facts.release?.status === 'uninstalled' ? undefined : facts.release;
  const values = state === undefined ? {} : mergeValues(state.defaults, state.values);
  const chart = scalrChart(state?.chart ?? '')?.chart;
  const hasDirectory = chart !== undefined && nodeDirectoryOf(values, chart) !== undefined;
  const [here, volumes, definitions, workloads, nodes, releases, wide] = await Promise.all([
    readNamespace(reader),
    everywhere<PersistentVolume>(reader, 'persistentvolumes'),
    readDefinitions(reader),
    hasDirectory ? allKinds(reader, WORKLOAD_KINDS) : [],
    everywhere<NodeObject>(reader, 'nodes'),
    readReleases(reader, true),
    readWide(reader),
  ]);
  const releasesHere = releases === undefined ? await readReleases(reader, false) : undefined;
  const isWide = hasDirectory || (definitions?.length ?? 0) > 1;
  const [customResources, revisions, bindings] = await Promise.all([
    readCustomResources(reader, definitions),
    readRevisions(reader, releases ?? releasesHere, isWide),
    wide?.some(({kind}) => kind === 'ClusterRole') ? allKinds(reader, BINDING_KINDS) : [],
  ]);
  return {
    release: name.release,
    namespace: kubeTarget.namespace,
    state,
    values,
    manifest: state === undefined ? [] : facts.installed,
    missing: new Set(
      facts.drift.filter(({problem}) => problem === 'missing').map(({object}) => object),
    ),
    ...here,
    namespaceObject: facts.namespace,
    releases,
    releasesHere,
    revisions,
    volumes,
    definitions,
    customResources,
    workloads,
    bindings,
    nodes,
    wide,
  };
}

/** @throws ExpectedError if a kind that is needed cannot be listed */
async function readNamespace({
  name,
  access: {kubernetes},
  options,
}: InventoryReader): Promise<Pick<InventoryReadings, 'objects' | 'unread'>> {
  const {kubeTarget} = name;
  const where = {...options, namespace: kubeTarget.namespace};
  const kinds = await Promise.all(
    NAMESPACE_KINDS.map(async (kind) => ({
      kind,
      ...(await listObjects<KubernetesObject>(kubernetes, kind, where)),
    })),
  );
  for (const {kind, error} of kinds) {
    if (error && (error.kind !== 'forbidden' || NEEDED.includes(kind)))
      await withRoles(name, kubernetes, {usesHelm: true})(apiFailure(error, kubeTarget));
  }
  return {
    objects: kinds.flatMap(({items}) => items),
    unread: kinds.filter(({error}) => error).map(({kind}) => pluralOf(kind)),
  };
}

/** Objects of all namespaces; undefined if this user may not list them. @throws ExpectedError */
async function everywhere<T = KubernetesObject>(
  {name, access, options}: InventoryReader,
  resource: string,
  groupVersion?: string,
): Promise<readonly T[] | undefined> {
  const where = groupVersion === undefined ? options : {...options, groupVersion};
  return permitted(await listObjects<T>(access.kubernetes, resource, where), name.kubeTarget);
}

const allKinds = async (
  reader: InventoryReader,
  kinds: readonly string[],
): Promise<readonly KubernetesObject[] | undefined> =>
  allOf(await Promise.all(kinds.map((kind) => everywhere(reader, kind))));

async function readDefinitions({
  name,
  access: {kubernetes},
  options,
}: InventoryReader): Promise<readonly DefinitionObject[] | undefined> {
  const found = await Promise.all(
    DEFINITIONS.map(async (each) => {
      const {object, error} = await getObject<DefinitionObject>(
        kubernetes,
        DEFINITION,
        each,
        options,
      );
      if (error) return permitted<DefinitionObject>({items: [], error}, name.kubeTarget);
      return object === undefined ? [] : [object];
    }),
  );
  return allOf(found);
}

async function readCustomResources(
  reader: InventoryReader,
  definitions: readonly DefinitionObject[] | undefined,
): Promise<readonly KubernetesObject[] | undefined> {
  if (definitions === undefined) return undefined;
  return allOf(
    await Promise.all(definitions.map((each) => everywhere(reader, ...resourceOf(each)))),
  );
}

const readReleases = async (
  {name: {kubeTarget}, access, options}: InventoryReader,
  everyNamespace: boolean,
): Promise<readonly ListedRelease[] | undefined> =>
  permitted(
    await releasesIn(access).list(kubeTarget, {...options, everywhere: everyNamespace}),
    kubeTarget,
  );

/** Of this release and the agents beside it; of all agents in the cluster if they can use the same CRDs or directories. */
async function readRevisions(
  {name, access, options}: InventoryReader,
  releases: readonly ListedRelease[] | undefined,
  isWide: boolean,
): Promise<readonly StoredRevision[] | undefined> {
  if (releases === undefined) return undefined;
  const {kubeTarget} = name;
  const others = releases
    .filter(({chart}) => scalrChart(chart) !== undefined)
    .filter(({namespace}) => isWide || namespace === kubeTarget.namespace)
    .filter((each) => each.name !== name.release || each.namespace !== kubeTarget.namespace)
    .map((each) => ({release: each.name, kubeTarget: {...kubeTarget, namespace: each.namespace}}));
  return permitted(await releasesIn(access).revisions([name, ...others], options), kubeTarget);
}

/** Helm labels what it creates. */
const OF_HELM = `?labelSelector=${encodeURIComponent(`${MANAGED_BY}=Helm`)}`;

/** Cluster-scoped objects that Helm created for the release. */
async function readWide({
  name,
  access: {kubernetes},
  options,
}: InventoryReader): Promise<readonly KubernetesObject[] | undefined> {
  const {release, kubeTarget} = name;
  const own = {release, namespace: kubeTarget.namespace};
  const found = await Promise.all(
    WIDE_KINDS.map(async (kind) => {
      const listed = await listAll(kubernetes, `${collectionPath(kind)}${OF_HELM}`, options);
      return permitted(listed as Listing<KubernetesObject>, kubeTarget);
    }),
  );
  return allOf(found)?.filter(
    (each) =>
      isRenderedFor(each, own) &&
      each.metadata.annotations?.['meta.helm.sh/release-namespace'] === own.namespace,
  );
}

/** The kind that a definition defines, in a version that is served. */
const resourceOf = ({
  metadata: {name},
  spec,
}: DefinitionObject): [resource: string, groupVersion: string] => [
  name,
  `${spec?.group}/${spec?.versions?.find(({served}) => served)?.name ?? 'v1'}`,
];

/** Undefined if this account may not read it. @throws ExpectedError */
function permitted<T>(
  {items, error}: Listing<T>,
  kubeTarget: ClusterTarget,
): readonly T[] | undefined {
  if (error && error.kind !== 'forbidden') throw apiFailure(error, kubeTarget);
  return error ? undefined : items;
}

const allOf = <T>(lists: readonly (readonly T[] | undefined)[]): readonly T[] | undefined =>
  lists.some((each) => each === undefined)
    ? undefined
    : (lists as readonly (readonly T[])[]).flat();

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
  definitions: readonly DefinitionObject[] | undefined;
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
    inventory: inventoryOf({
      ...readings,
      manifest: objects,
      state: {...release, chart},
      values: withDefaults(values, target),
    }),
    live: readings.objects,
    users: usersIn({...userReadings(readings), manifest: objects}),
    unlisted: USER_KINDS.map(pluralOf).filter((kind) => readings.unread.includes(kind)),
    nodes: (readings.nodes ?? []).map(({metadata, status}) => ({
      name: metadata.name,
      version: status?.nodeInfo?.kubeletVersion ?? '',
    })),
    definitions: readings.definitions,
  };
}

/** An unknown version is described by the values.yaml that Helm stores with the release. */
function describedBy(target: Target, defaults: Values, appVersion = ''): Target {
  if (!isUnknown(target, false) || Object.keys(defaults).length === 0)
    return new ChartVersion(target);
  const metadata = {name: target.chart, version: target.version, appVersion};
  const schema = addRelease(chartSchema(target.chart), {metadata, values: defaults});
  return new ChartVersion({...target, schema});
}
