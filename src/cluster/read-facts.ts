import type {Values} from '../charts/tree.ts';
import {releaseHistory, releaseManifest, releaseValues} from '../helm/helm.ts';
import {currentContext, getObject, listObjects, serverVersion} from '../kubernetes/kubectl.ts';
import type {ReleaseName} from '../ports/place.ts';
import type {Call, Processes} from '../ports/processes.ts';
import {toolFailure} from '../ports/tool-failure.ts';
import {jsonFrom} from '../ports/tool-output.ts';
import {type InstallFacts, isPending, type ReleaseState, type Revision, type SecretObject} from './install-facts.ts';
import {objectsIn} from './manifest.ts';
import type {KubernetesObject, Workload} from './objects.ts';
import {recordName} from './release-record.ts';

/** Asks the cluster; changes nothing. @throws ExpectedError */
export async function readFacts(
  name: ReleaseName,
  secretNames: readonly string[],
  processes: Processes,
  over?: AbortSignal,
): Promise<InstallFacts> {
  const {place} = name;
  const json = <T>(call: Call): Promise<T | undefined> => read(call, processes, over);
  // One question first: without an answer the others would all fail the same way.
  const version = await json<{serverVersion?: {gitVersion: string}}>(serverVersion(place));
  const state = releaseState(name, processes, over);
  const [config, namespace, release, installed, controllers, ...secrets] = await Promise.all([
    json<Config>(currentContext(place)),
    json<InstallFacts['namespace'] & object>(getObject(place, 'namespace', place.namespace)),
    state,
    state.then((found) => (found === undefined ? [] : installedObjects(name, processes, over))),
    json<{items: readonly Workload[]}>(listObjects(place, ['deployments'])),
    ...secretNames.map((secret) => json<SecretObject>(getObject(place, 'secret', secret))),
  ]);
  return {
    context: contextOf(config),
    serverVersion: version?.serverVersion?.gitVersion ?? '',
    namespace,
    release,
    installed,
    stopped: new Set(controllers?.items.filter(({spec}) => spec?.replicas === 0).map(({kind, metadata}) => `${kind} ${metadata.name}`)),
    secrets: new Map(secretNames.map((secret, index) => [secret, secrets[index]])),
  };
}

async function read<T>(call: Call, processes: Processes, over?: AbortSignal): Promise<T | undefined> {
  const outcome = await processes.run(call, over && {over});
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

async function installedObjects(name: ReleaseName, processes: Processes, over?: AbortSignal): Promise<KubernetesObject[]> {
  const call = releaseManifest(name);
  const outcome = await processes.run(call, over && {over});
  if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
  return objectsIn(outcome.stdout);
}

/** The newest revision of the release; undefined when there is none. */
export async function releaseState(name: ReleaseName, processes: Processes, over?: AbortSignal): Promise<ReleaseState | undefined> {
  const latest = await newestRevision(name, processes, over);
  if (latest === undefined) return undefined;
  const state = {...latest, values: await givenValues(name, processes, over)};
  if (!isPending(state)) return state;
  const record = await read<SecretObject>(getObject(name.place, 'secret', recordName(name.release, latest.revision)), processes, over);
  return record === undefined ? state : {...state, record};
}

/** The same without its values. */
export async function newestRevision(name: ReleaseName, processes: Processes, over?: AbortSignal): Promise<Revision | undefined> {
  const call = releaseHistory(name);
  const history = await processes.run(call, over && {over});
  if (history.exitCode === 0) return jsonFrom<Revision[]>(call, history.stdout).at(-1);
  if (/release: not found/.test(history.stderr)) return undefined;
  throw toolFailure(call, history);
}

/** What was given to helm, without the chart's own defaults. */
export const givenValues = async (name: ReleaseName, processes: Processes, over?: AbortSignal): Promise<Values> =>
  (await read<Values | null>(releaseValues(name), processes, over)) ?? {};

/** Its name in the kubeconfig; asks no cluster. */
export const contextName = async ({place}: ReleaseName, processes: Processes, over?: AbortSignal): Promise<string> =>
  contextOf(await read<Config>(currentContext(place), processes, over)).name;
