import type {Call, ClusterTarget, ProcessResult, ReleaseName} from '../ground/command-line.ts';
import {isForbidden, jsonFrom, toolFailure} from '../ground/tool-errors.ts';
import type {Values} from '../ground/tree.ts';
import {effectiveValues, listReleases, releaseManifest} from '../helm/helm.ts';
import {objectsIn} from '../helm/manifest.ts';
import {apiFailure} from '../kubernetes/api-error.ts';
import type {ClusterAccess} from '../kubernetes/cluster-access.ts';
import {REQUIRED_MS} from '../kubernetes/fact-readers.ts';
import {pluralOf} from '../kubernetes/kinds.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import {getObject, type Listing, listObjects} from '../kubernetes/resources.ts';
import {DEFINITIONS} from '../platform/releases.ts';
import {NAMESPACE_KINDS} from './inventory-namespace.ts';
import type {ListedRelease, Readings} from './inventory-readings.ts';
import type {InstallFacts} from './release-state.ts';

/** Runs, data and tokens cannot be found without these. */
const NEEDED: readonly string[] = ['jobs.batch', 'pods', 'persistentvolumeclaims', 'secrets'];

const DEFINITION = 'customresourcedefinitions.apiextensions.k8s.io';

/** Reads everything an uninstall reports on; changes nothing. @throws ExpectedError */
export async function readInventory(
  name: ReleaseName,
  {release, namespace, drift}: Pick<InstallFacts, 'release' | 'namespace' | 'drift'>,
  {kubernetes, processes}: ClusterAccess,
  signal: AbortSignal = new AbortController().signal,
): Promise<Readings> {
  const {place} = name;
  // With --keep-history Helm keeps the record of uninstalled releases.
  const state = release?.status === 'uninstalled' ? undefined : release;
  const options = {signal, idleMs: REQUIRED_MS};
  const run = (call: Call): Promise<ProcessResult> => processes.run(call, {signal});
  const printed = async (call: Call): Promise<string> => {
    const outcome = await run(call);
    if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
    return outcome.stdout;
  };
  const everywhere = async <T = KubernetesObject>(resource: string, groupVersion?: string): Promise<readonly T[] | undefined> =>
    permitted(await listObjects<T>(kubernetes, resource, {...options, ...(groupVersion === undefined ? {} : {groupVersion})}), place);
  const definition = async (each: string): Promise<Listing<Definition>> => {
    const {object, trouble} = await getObject<Definition>(kubernetes, DEFINITION, each, options);
    return trouble ? {items: [], trouble} : {items: object === undefined ? [] : [object]};
  };
  const [kinds, volumes, definitions, daemonSets, nodes, releases, values, manifest] = await Promise.all([
    Promise.all(
      NAMESPACE_KINDS.map(async (kind) => ({
        kind,
        ...(await listObjects<KubernetesObject>(kubernetes, kind, {...options, namespace: place.namespace})),
      })),
    ),
    everywhere<NonNullable<Readings['volumes']>[number]>('persistentvolumes'),
    Promise.all(DEFINITIONS.map(definition)).then((found) => allOf(found.map((each) => permitted(each, place)))),
    everywhere('daemonsets.apps'),
    everywhere<NonNullable<Readings['nodes']>[number]>('nodes'),
    run(listReleases(place, {everywhere: true})).then((outcome) => releasesIn(listReleases(place, {everywhere: true}), outcome)),
    state === undefined ? '{}' : printed(effectiveValues(name)),
    state === undefined ? '' : printed(releaseManifest(name)),
  ]);
  for (const {kind, trouble} of kinds) {
    if (trouble && (trouble.kind !== 'forbidden' || NEEDED.includes(kind))) throw apiFailure(trouble, place);
  }
  const here = listReleases(place, {everywhere: false});
  const releasesHere = state === undefined && releases === undefined ? releasesIn(here, await run(here)) : undefined;
  const customResources = definitions && (await Promise.all(definitions.map((each) => everywhere(...resourceOf(each)))));
  return {
    release: name.release,
    namespace: place.namespace,
    state,
    values: jsonFrom<Values>(effectiveValues(name), values),
    manifest: objectsIn(manifest),
    missing: new Set(drift.filter(({problem}) => problem === 'missing').map(({object}) => object)),
    objects: kinds.flatMap(({items}) => items),
    unread: kinds.filter(({trouble}) => trouble).map(({kind}) => pluralOf(kind)),
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

interface Definition extends KubernetesObject {
  spec?: {group?: string; versions?: readonly {name: string; served?: boolean}[]};
}

/** The kind that a definition defines, in a version that is served. */
const resourceOf = ({metadata: {name}, spec}: Definition): [resource: string, groupVersion: string] => [
  name,
  `${spec?.group}/${spec?.versions?.find(({served}) => served)?.name ?? 'v1'}`,
];

/** Undefined if this account may not read it. @throws ExpectedError */
function permitted<T>({items, trouble}: Listing<T>, place: ClusterTarget): readonly T[] | undefined {
  if (trouble && trouble.kind !== 'forbidden') throw apiFailure(trouble, place);
  return trouble ? undefined : items;
}

const allOf = <T>(lists: readonly (readonly T[] | undefined)[]): readonly T[] | undefined =>
  lists.some((each) => each === undefined) ? undefined : (lists as readonly (readonly T[])[]).flat();

function releasesIn(call: Call, outcome: ProcessResult): readonly ListedRelease[] | undefined {
  if (outcome.exitCode === 0) return jsonFrom<readonly ListedRelease[]>(call, outcome.stdout.trim() || '[]');
  if (isForbidden(outcome)) return undefined;
  throw toolFailure(call, outcome);
}
