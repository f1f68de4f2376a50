import {anySignal} from '../../ground/async.ts';
import type {Call} from '../../ground/call.ts';
import type {ClusterTarget, ProcessResult, ReleaseName} from '../../ground/command-line.ts';
import type {Processes} from '../../ground/system/system.ts';
import {jsonFrom, toolFailure} from '../../ground/tool-errors.ts';
import {type ObjectDrift, readLiveDrift} from '../diff/live-drift.ts';
import {objectsIn, type ReleaseRecord, type Revision} from '../helm/release-record.ts';
import {type ClusterAccess, releasesIn} from '../helm/releases.ts';
import {requireAnswer} from '../kubernetes/api-error.ts';
import type {RequestOptions} from '../kubernetes/client.ts';
import {serverVersion} from '../kubernetes/discovery.ts';
import {serverOfPod} from '../kubernetes/in-pod.ts';
import {contextsIn, type Kubeconfig, type SelectedCluster} from '../kubernetes/kubeconfig.ts';
import {allContexts, currentContext} from '../kubernetes/kubectl.ts';
import {kindAndName} from '../kubernetes/object-refs.ts';
import type {KubernetesObject, SecretObject, Workload} from '../kubernetes/objects.ts';
import {getObject, listObjects, REQUIRED_MS} from '../kubernetes/resources.ts';
import {releaseOfAgent, requireNoController} from './managers.ts';
import {withRoles} from './roles-to-read.ts';

/** What the plan of an install depends on. */
export interface InstallFacts {
  context: SelectedCluster;
  serverVersion: string;
  namespace: KubernetesObject | undefined;
  /** The newest revision. */
  release: ReleaseRecord | undefined;
  /** The newest revision in the history of Helm, deployed or not; undefined without a history. */
  newestRevision?: number | undefined;
  /** Rendered objects of the release, from helm. */
  installed: readonly KubernetesObject[];
  /** Rendered objects that are missing or changed in the cluster. */
  drift: readonly ObjectDrift[];
  /** Rendered objects that exist, with the values of the cluster. */
  live: readonly KubernetesObject[];
  /** Deployments of the namespace that were scaled to nothing, as "Deployment scalr-agent"; no chart makes anything else that can be. */
  stopped: ReadonlySet<string>;
  /** Secrets that the values reference, by name; undefined if not found. */
  secrets: ReadonlyMap<string, SecretObject | undefined>;
  /** Workloads and pods of others that read a Secret, by its name; only for Secrets that the plan would change. */
  secretUsers?: ReadonlyMap<string, readonly string[]>;
  /** Kinds of workloads that this user may not list, such as cronjobs; `secretUsers` lacks them. */
  unlistedUsers?: readonly string[];
}

/** True if a Helm operation of the release is pending, possibly without a running helm. */
export const isPending = ({status}: Pick<Revision, 'status'>): boolean =>
  status.startsWith('pending-') || status === 'uninstalling';

const NEVER_ABORTED = new AbortController().signal;

/** Asks the cluster before every change; changes nothing. @throws ExpectedError, for example if Argo CD or Flux manages the release */
export async function readFacts(
  name: ReleaseName,
  secretNames: readonly string[],
  access: ClusterAccess,
  signal: AbortSignal = NEVER_ABORTED,
): Promise<InstallFacts> {
  const ended = new AbortController();
  const options = {signal: anySignal(signal, ended.signal), idleMs: REQUIRED_MS};
  const reader = new FactReader(name, access, options);
  const rest = Promise.all([
    access.context ?? selectedCluster(name.kubeTarget, access.processes, options.signal),
    reader.get<KubernetesObject>('namespaces', name.kubeTarget.namespace),
    reader.release(),
    reader.deployments(),
    Promise.all(secretNames.map((secret) => reader.secret(secret))),
    access.identity?.planned(options.signal),
  ]);
  rest.catch(() => undefined);
  try {
    // Without an API server all of them fail; this error contains the reason.
    const version = await reader.version();
    const [context, namespace, ofRelease, deployments, secrets] = await rest;
    const agents = deployments.filter((each) => releaseOfAgent(each) === name.release);
    await requireNoController(name, agents, access.kubernetes, options);
    return {
      context,
      serverVersion: version,
      namespace,
      ...ofRelease,
      stopped: new Set(
        deployments.filter(({spec}) => spec?.replicas === 0).map((each) => kindAndName(each)),
      ),
      secrets: new Map(secretNames.map((secret, index) => [secret, secrets[index]])),
    };
  } catch (error) {
    return withRoles(name, access.kubernetes, {usesHelm: true})(error);
  } finally {
    ended.abort();
  }
}

/** Reads single facts. @throws ExpectedError for everything that cannot be read */
class FactReader {
  readonly #name: ReleaseName;
  readonly #access: ClusterAccess;
  readonly #options: RequestOptions;

  constructor(name: ReleaseName, access: ClusterAccess, options: RequestOptions) {
    this.#name = name;
    this.#access = access;
    this.#options = options;
  }

  async version(): Promise<string> {
    const read = await serverVersion(this.#access.kubernetes, this.#options);
    const {version = ''} = requireAnswer(read, this.#name.kubeTarget, 'version');
    return version;
  }

  async get<T>(
    kind: string,
    object: string,
    where: {namespace?: string; keepsManagedFields?: boolean} = {},
  ): Promise<T | undefined> {
    const options = {...this.#options, ...where};
    const read = await getObject<T>(this.#access.kubernetes, kind, object, options);
    return requireAnswer(read, this.#name.kubeTarget).object;
  }

  secret(secret: string): Promise<SecretObject | undefined> {
    const {namespace} = this.#name.kubeTarget;
    return this.get('secrets', secret, {namespace, keepsManagedFields: true});
  }

  async deployments(): Promise<readonly Workload[]> {
    const {kubeTarget} = this.#name;
    const options = {...this.#options, namespace: kubeTarget.namespace};
    const {kubernetes} = this.#access;
    const listed = await listObjects<Workload>(kubernetes, 'deployments.apps', options);
    return requireAnswer(listed, kubeTarget).items;
  }

  /** The newest revision, and what the cluster has of its objects. */
  async release(): Promise<
    Pick<InstallFacts, 'release' | 'newestRevision' | 'installed' | 'drift' | 'live'>
  > {
    const release = await newestRevision(this.#name, this.#access, this.#options.signal);
    const newest = {release, newestRevision: release?.revision};
    if (release === undefined) return {...newest, installed: [], drift: [], live: []};
    const installed = objectsIn(release.manifest);
    const comparer = {...this.#access, kubeTarget: this.#name.kubeTarget};
    const {differences: drift, live} = await readLiveDrift(installed, comparer, this.#options);
    return {...newest, installed, drift, live};
  }
}

/** @throws ExpectedError for a failed call */
function parsed<T>(call: Call, outcome: ProcessResult): T | undefined {
  if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
  return outcome.stdout.trim() === '' ? undefined : jsonFrom<T>(call, outcome.stdout);
}

/** The context in use and its cluster, or the cluster of this pod. Sends no request. @throws ExpectedError */
export async function selectedCluster(
  kubeTarget: ClusterTarget,
  processes: Pick<Processes, 'run'>,
  signal?: AbortSignal,
): Promise<SelectedCluster> {
  const call = currentContext(kubeTarget);
  const outcome = await processes.run(call, signal && {signal});
  return clusterOfPod(outcome) ?? contextOf(parsed<Kubeconfig>(call, outcome));
}

const NO_CONTEXT = /current-context (is not set|must exist)/;
/** As Argo CD calls it. */
const IN_CLUSTER = 'in-cluster';

/** What kubectl and helm use if no kubeconfig selects a context: in a pod, the cluster of its service account. */
export function clusterOfPod({
  exitCode,
  stderr,
}: Pick<ProcessResult, 'exitCode' | 'stderr'>): SelectedCluster | undefined {
  if (exitCode === 0 || !NO_CONTEXT.test(stderr)) return undefined;
  const server = serverOfPod();
  return server === undefined ? undefined : {name: '', cluster: IN_CLUSTER, server};
}

/** The context in use, out of a kubeconfig cut down to it. */
export function contextOf(config: Kubeconfig | undefined): SelectedCluster {
  const context = config?.contexts?.[0];
  const cluster = config?.clusters?.[0];
  return {
    name: context?.name ?? config?.['current-context'] ?? '',
    cluster: cluster?.name ?? '',
    server: cluster?.cluster?.server ?? '',
  };
}

/** The newest revision of the release; undefined without one. @throws ExpectedError */
export const newestRevision = async (
  name: ReleaseName,
  access: ClusterAccess,
  signal: AbortSignal = NEVER_ABORTED,
): Promise<ReleaseRecord | undefined> =>
  requireAnswer(
    await releasesIn(access).newest(name, {signal, idleMs: REQUIRED_MS}),
    name.kubeTarget,
  ).object;

/** The revision that is deployed: what Helm compares the next upgrade with. Undefined without one. @throws ExpectedError */
export const deployedRevision = async (
  name: ReleaseName,
  access: ClusterAccess,
  signal: AbortSignal,
): Promise<ReleaseRecord | undefined> =>
  requireAnswer(
    await releasesIn(access).deployed(name, {signal, idleMs: REQUIRED_MS}),
    name.kubeTarget,
  ).object;

/** The name of the context in use; empty in a pod without a kubeconfig. Sends no request. @throws ExpectedError */
export const contextName = async (
  kubeTarget: ClusterTarget,
  {processes, context}: Pick<ClusterAccess, 'processes' | 'context'>,
  signal?: AbortSignal,
): Promise<string> => (context ?? (await selectedCluster(kubeTarget, processes, signal))).name;

/** The names of all contexts, in the order of the kubeconfig. @throws ExpectedError */
export const contextNames = async (
  kubeTarget: ClusterTarget,
  processes: Processes,
  signal?: AbortSignal,
): Promise<string[]> => {
  const call = allContexts(kubeTarget);
  const outcome = await processes.run(call, signal && {signal});
  return contextsIn(parsed<Kubeconfig>(call, outcome)).map(({name}) => name);
};
