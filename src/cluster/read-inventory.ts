import type {Values} from '../charts/tree.ts';
import {effectiveValues, listReleases, releaseManifest} from '../helm/helm.ts';
import {getNamed, listEverywhere, listObjects} from '../kubernetes/kubectl.ts';
import type {ReleaseName} from '../ports/place.ts';
import type {Call, Outcome, Processes} from '../ports/processes.ts';
import {isForbidden, toolFailure} from '../ports/tool-failure.ts';
import {jsonFrom} from '../ports/tool-output.ts';
import type {InstallFacts} from './install-facts.ts';
import type {Readings} from './inventory.ts';
import {DEFINITIONS, type ListedRelease} from './inventory-definitions.ts';
import {NAMESPACE_KINDS} from './inventory-namespace.ts';
import {objectsIn} from './manifest.ts';
import type {KubernetesObject} from './objects.ts';

/** Without these nothing can be said about runs, data and tokens. */
const NEEDED: readonly string[] = ['jobs', 'pods', 'persistentvolumeclaims', 'secrets'];

/** Asks the cluster about everything an uninstall has to account for; changes nothing. @throws ExpectedError */
export async function readInventory(
  name: ReleaseName,
  {release, namespace}: Pick<InstallFacts, 'release' | 'namespace'>,
  processes: Processes,
  over?: AbortSignal,
): Promise<Readings> {
  const {place} = name;
  // With --keep-history Helm remembers what is no more.
  const state = release?.status === 'uninstalled' ? undefined : release;
  const run = (call: Call): Promise<Outcome> => processes.run(call, over && {over});
  const say = async (call: Call): Promise<string> => {
    const outcome = await run(call);
    if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
    return outcome.stdout;
  };
  const permitted = async <T>(call: Call): Promise<T | undefined> => {
    const outcome = await run(call);
    if (outcome.exitCode === 0) return jsonFrom<T>(call, outcome.stdout.trim() || '{}');
    if (isForbidden(outcome)) return undefined;
    throw toolFailure(call, outcome);
  };
  const list = async <T extends KubernetesObject>(call: Call): Promise<readonly T[] | undefined> => {
    const found = await permitted<{items?: readonly T[]}>(call);
    return found && (found.items ?? []);
  };
  const [listed, volumes, definitions, daemonSets, nodes, releases, values, manifest] = await Promise.all([
    listPermitted(listObjects(place, NAMESPACE_KINDS), run),
    list<NonNullable<Readings['volumes']>[number]>(listEverywhere(place, ['persistentvolumes'])),
    list(
      getNamed(
        place,
        DEFINITIONS.map((each) => `customresourcedefinition/${each}`),
      ),
    ),
    list(listEverywhere(place, ['daemonsets'])),
    list<NonNullable<Readings['nodes']>[number]>(listEverywhere(place, ['nodes'])),
    permitted<readonly ListedRelease[]>(listReleases(place, {everywhere: true})),
    state === undefined ? '{}' : say(effectiveValues(name)),
    state === undefined ? '' : say(releaseManifest(name)),
  ]);
  const kinds = definitions?.map(({metadata}) => metadata.name);
  return {
    release: name.release,
    namespace: place.namespace,
    state,
    values: jsonFrom<Values>(effectiveValues(name), values),
    manifest: objectsIn(manifest),
    ...listed,
    namespaceObject: namespace,
    releases,
    volumes,
    definitions,
    customResources: kinds?.length === 0 ? [] : kinds && (await list(listEverywhere(place, kinds))),
    daemonSets,
    nodes,
  };
}

/** kubectl prints what it may read and names what it may not. */
async function listPermitted(call: Call, run: (call: Call) => Promise<Outcome>): Promise<Pick<Readings, 'objects' | 'unread'>> {
  const outcome = await run(call);
  const unread = [...outcome.stderr.matchAll(/cannot list resource "(\w+)"/g)].map(([, kind]) => kind as string);
  const isUsable = outcome.exitCode === 0 || (isForbidden(outcome) && !unread.some((kind) => NEEDED.includes(kind)));
  if (!isUsable) throw toolFailure(call, outcome);
  return {objects: jsonFrom<{items: KubernetesObject[]}>(call, outcome.stdout).items, unread};
}
