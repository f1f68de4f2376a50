import {addRelease} from '../charts/add-release.ts';
import {scalrChart, type Target} from '../charts/define.ts';
import {chartSchema} from '../charts/schema.ts';
import {isUnknown} from '../charts/target.ts';
import type {ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import {mergeValues, type Values} from '../ground/tree.ts';
import {objectsIn, type ReleaseRecord, type Revision} from '../helm/release-record.ts';
import {type ClusterAccess, releasesIn} from '../helm/releases.ts';
import {apiFailure} from '../kubernetes/api-error.ts';
import {pluralOf} from '../kubernetes/kinds.ts';
import type {DefinitionObject, KubernetesObject} from '../kubernetes/objects.ts';
import {getObject, type Listing, listObjects, REQUIRED_MS} from '../kubernetes/resources.ts';
import {DEFINITIONS} from '../platform/cluster-facts.ts';
import type {NodeObject} from '../platform/readings.ts';
import {effectiveValues as withDefaults} from '../values/read-values.ts';
import {type Inventory, inventoryOf} from './inventory.ts';
import {
  type InventoryReadings,
  NAMESPACE_KINDS,
  type PersistentVolume,
  USER_KINDS,
  usersIn,
} from './namespace.ts';
import {deployedRevision, type InstallFacts} from './read-release.ts';
import {withRoles} from './roles-to-read.ts';

/** Runs, data and tokens cannot be found without these. */
const NEEDED: readonly string[] = ['jobs.batch', 'pods', 'persistentvolumeclaims', 'secrets'];

const DEFINITION = 'customresourcedefinitions.apiextensions.k8s.io';

/** Reads everything an uninstall reports on; changes nothing. @throws ExpectedError */
export async function readInventory(
  name: ReleaseName,
  {
    release,
    namespace,
    drift,
    installed,
  }: Pick<InstallFacts, 'release' | 'namespace' | 'drift' | 'installed'>,
  access: ClusterAccess,
  signal: AbortSignal = new AbortController().signal,
): Promise<InventoryReadings> {
  const {kubeTarget} = name;
  const {kubernetes} = access;
  const helm = releasesIn(access);
  // With --keep-history Helm keeps the record of uninstalled releases.
  const state = release?.status === 'uninstalled' ? undefined : release;
  const options = {signal, idleMs: REQUIRED_MS};
  const everywhere = async <T = KubernetesObject>(
    resource: string,
    groupVersion?: string,
  ): Promise<readonly T[] | undefined> =>
    permitted(
      await listObjects<T>(kubernetes, resource, {
        ...options,
        ...(groupVersion === undefined ? {} : {groupVersion}),
      }),
      kubeTarget,
    );
  const definition = async (each: string): Promise<Listing<DefinitionObject>> => {
    const {object, error} = await getObject<DefinitionObject>(
      kubernetes,
      DEFINITION,
      each,
      options,
    );
    return error ? {items: [], error} : {items: object === undefined ? [] : [object]};
  };
  const [kinds, volumes, definitions, daemonSets, nodes, releases] = await Promise.all([
    Promise.all(
      NAMESPACE_KINDS.map(async (kind) => ({
        kind,
        ...(await listObjects<KubernetesObject>(kubernetes, kind, {
          ...options,
          namespace: kubeTarget.namespace,
        })),
      })),
    ),
    everywhere<PersistentVolume>('persistentvolumes'),
    Promise.all(DEFINITIONS.map(definition)).then((found) =>
      allOf(found.map((each) => permitted(each, kubeTarget))),
    ),
    everywhere('daemonsets.apps'),
    everywhere<NodeObject>('nodes'),
    helm
      .list(kubeTarget, {...options, everywhere: true})
      .then((listed) => permitted(listed, kubeTarget)),
  ]);
  for (const {kind, error} of kinds) {
    if (error && (error.kind !== 'forbidden' || NEEDED.includes(kind)))
      await withRoles(name, kubernetes, {usesHelm: true})(apiFailure(error, kubeTarget));
  }
  const isUnknown = state === undefined && releases === undefined;
  const releasesHere = isUnknown
    ? permitted(await helm.list(kubeTarget, {...options, everywhere: false}), kubeTarget)
    : undefined;
  const customResources =
    definitions && (await Promise.all(definitions.map((each) => everywhere(...resourceOf(each)))));
  return {
    release: name.release,
    namespace: kubeTarget.namespace,
    state,
    values: state === undefined ? {} : mergeValues(state.defaults, state.values),
    manifest: state === undefined ? [] : installed,
    missing: new Set(drift.filter(({problem}) => problem === 'missing').map(({object}) => object)),
    objects: kinds.flatMap(({items}) => items),
    unread: kinds.filter(({error}) => error).map(({kind}) => pluralOf(kind)),
    namespaceObject: namespace,
    releases,
    releasesHere,
    volumes,
    definitions,
    customResources: customResources && allOf(customResources),
    daemonSets,
    nodes,
  };
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
    users: usersIn({...readings, manifest: objects}),
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
  if (!isUnknown(target, false) || Object.keys(defaults).length === 0) return target;
  const metadata = {name: target.chart, version: target.version, appVersion};
  return {...target, schema: addRelease(chartSchema(target.chart), {metadata, values: defaults})};
}
