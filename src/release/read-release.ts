import {readLiveDrift} from '../diff/live-diff.ts';
import type {Call, ReleaseName} from '../ground/command-line.ts';
import {anySignal} from '../ground/signals.ts';
import {jsonFrom, toolFailure} from '../ground/tool-errors.ts';
import type {Values} from '../ground/tree.ts';
import {releaseHistory, releaseManifest, releaseMetadata, releaseValues} from '../helm/helm.ts';
import {objectsIn} from '../helm/manifest.ts';
import {recordName} from '../helm/release-record.ts';
import {answered} from '../kubernetes/api-error.ts';
import type {ClusterAccess} from '../kubernetes/cluster-access.ts';
import {REQUIRED_MS} from '../kubernetes/fact-readers.ts';
import {currentContext} from '../kubernetes/kubectl.ts';
import type {KubernetesObject, SecretObject, Workload} from '../kubernetes/objects.ts';
import {getObject, listObjects, serverVersion} from '../kubernetes/resources.ts';
import type {Processes} from '../ports/processes.ts';
import {type InstallFacts, isPending, type ReleaseState, type Revision} from './release-state.ts';

const NEVER_ABORTED = new AbortController().signal;

/** Asks the cluster; changes nothing. @throws ExpectedError */
export async function readFacts(
  name: ReleaseName,
  secretNames: readonly string[],
  {kubernetes, processes}: ClusterAccess,
  signal: AbortSignal = NEVER_ABORTED,
): Promise<InstallFacts> {
  const {namespace: here} = name.place;
  const ended = new AbortController();
  const either = anySignal(signal, ended.signal);
  const options = {signal: either, idleMs: REQUIRED_MS};
  const get = async <T>(kind: string, object: string, namespace?: string): Promise<T | undefined> =>
    answered(await getObject<T>(kubernetes, kind, object, {...options, ...(namespace === undefined ? {} : {namespace})}), name.place)
      .object;
  const state = releaseState(name, {kubernetes, processes}, either);
  const rest = Promise.all([
    read<Config>(currentContext(name.place), processes, either),
    get<KubernetesObject>('namespaces', here),
    state,
    state.then(async (found) => {
      if (found === undefined) return {installed: [], drift: [], live: [], isServerSide: false};
      const installed = await installedObjects(name, processes, either);
      const {differences: drift, live} = await readLiveDrift(installed, name.place, kubernetes, options);
      return {
        installed,
        drift,
        live,
        isServerSide: drift.some(({problem}) => problem === 'changed') && (await isServerSide(name, processes, either)),
      };
    }),
    listObjects<Workload>(kubernetes, 'deployments.apps', {...options, namespace: here}).then(
      (listed) => answered(listed, name.place).items,
    ),
    Promise.all(secretNames.map((secret) => get<SecretObject>('secrets', secret, here))),
  ]);
  rest.catch(() => undefined);
  try {
    // Without an API server all of them fail; this error contains the reason.
    const {version = ''} = answered(await serverVersion(kubernetes, options), name.place, 'version');
    const [config, namespace, release, objects, controllers, secrets] = await rest;
    return {
      context: contextOf(config),
      serverVersion: version,
      namespace,
      release,
      ...objects,
      stopped: new Set(controllers.filter(({spec}) => spec?.replicas === 0).map(({kind, metadata}) => `${kind} ${metadata.name}`)),
      secrets: new Map(secretNames.map((secret, index) => [secret, secrets[index]])),
    };
  } finally {
    ended.abort();
  }
}

async function read<T>(call: Call, processes: Processes, signal?: AbortSignal): Promise<T | undefined> {
  const outcome = await processes.run(call, signal && {signal});
  if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
  return outcome.stdout.trim() === '' ? undefined : jsonFrom<T>(call, outcome.stdout);
}

export interface Config {
  'current-context'?: string;
  contexts?: {name: string; context?: {cluster?: string}}[];
  clusters?: {name: string; cluster?: {server?: string}}[];
}

/** The context in use, out of a kubeconfig cut down to it. */
export function contextOf(config: Config | undefined): InstallFacts['context'] {
  const context = config?.contexts?.[0];
  const cluster = config?.clusters?.[0];
  return {name: context?.name ?? config?.['current-context'] ?? '', cluster: cluster?.name ?? '', server: cluster?.cluster?.server ?? ''};
}

/** Of the newest revision by default. */
export async function installedObjects(
  name: ReleaseName,
  processes: Processes,
  signal?: AbortSignal,
  revision?: number,
): Promise<KubernetesObject[]> {
  const call = releaseManifest(name, revision);
  const outcome = await processes.run(call, signal && {signal});
  if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
  return objectsIn(outcome.stdout);
}

/** Helm 4 applies new releases on the server; those of Helm 3 stay on client-side apply. */
export async function isServerSide(name: ReleaseName, processes: Processes, signal: AbortSignal): Promise<boolean> {
  const metadata = await read<{applyMethod?: string}>(releaseMetadata(name), processes, signal);
  return metadata?.applyMethod?.startsWith('ssa') === true || metadata?.applyMethod?.startsWith('server-side') === true;
}

/** The newest revision of the release; undefined without one. */
export async function releaseState(
  name: ReleaseName,
  {kubernetes, processes}: ClusterAccess,
  signal: AbortSignal = NEVER_ABORTED,
): Promise<ReleaseState | undefined> {
  const latest = await newestRevision(name, processes, signal);
  if (latest === undefined) return undefined;
  const state = {...latest, values: await givenValues(name, processes, signal)};
  if (!isPending(state)) return state;
  const options = {signal, idleMs: REQUIRED_MS, namespace: name.place.namespace, keepsManagedFields: true};
  const found = answered(
    await getObject<ManagedSecret>(kubernetes, 'secrets', recordName(name.release, latest.revision), options),
    name.place,
  ).object;
  if (found === undefined) return state;
  const {managedFields = [], ...metadata} = found.metadata;
  const operator = managedFields.at(-1)?.manager;
  return {...state, record: {...found, metadata}, ...(operator === undefined ? {} : {operator})};
}

type ManagedSecret = SecretObject & {metadata: {managedFields?: readonly {manager?: string}[]}};

/** The same without its values. */
export const newestRevision = async (name: ReleaseName, processes: Processes, signal?: AbortSignal): Promise<Revision | undefined> =>
  (await revisions(name, processes, signal)).at(-1);

/** The history of a release, oldest first; empty if it does not exist. */
async function revisions(name: ReleaseName, processes: Processes, signal?: AbortSignal): Promise<Revision[]> {
  const call = releaseHistory(name);
  const history = await processes.run(call, signal && {signal});
  if (history.exitCode === 0) return jsonFrom<Revision[]>(call, history.stdout);
  if (/release: not found/.test(history.stderr)) return [];
  throw toolFailure(call, history);
}

/** The revision that is deployed, with its values and objects: what Helm compares the next upgrade with. Undefined without one. */
export async function deployedRevision(
  name: ReleaseName,
  processes: Processes,
  signal: AbortSignal,
): Promise<(Revision & {values: Values; objects: KubernetesObject[]}) | undefined> {
  const deployed = (await revisions(name, processes, signal)).findLast(({status}) => status === 'deployed');
  if (deployed === undefined) return undefined;
  const [values, objects] = await Promise.all([
    givenValues(name, processes, signal, deployed.revision),
    installedObjects(name, processes, signal, deployed.revision),
  ]);
  return {...deployed, values, objects};
}

/** What was given to helm, without the chart's own defaults. */
export const givenValues = async (name: ReleaseName, processes: Processes, signal?: AbortSignal, revision?: number): Promise<Values> =>
  (await read<Values | null>(releaseValues(name, revision), processes, signal)) ?? {};

/** Its name in the kubeconfig; sends no request. */
export const contextName = async ({place}: ReleaseName, processes: Processes, signal?: AbortSignal): Promise<string> =>
  contextOf(await read<Config>(currentContext(place), processes, signal)).name;
