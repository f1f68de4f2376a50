import type {ClusterAccess} from '../../cluster/helm/releases.ts';
import {servedResources, serverVersion} from '../../cluster/kubernetes/discovery.ts';
import type {Kubeconfig} from '../../cluster/kubernetes/kubeconfig.ts';
import {currentContext} from '../../cluster/kubernetes/kubectl.ts';
import {jsonOf} from '../../cluster/kubernetes/object-facts.ts';
import type {KubernetesObject} from '../../cluster/kubernetes/objects.ts';
import {reviewPermissions} from '../../cluster/kubernetes/permissions.ts';
import {failingClient, REQUEST_MS} from '../../cluster/kubernetes/resources.ts';
import {cachedAccess, type RetryOptions} from '../../cluster/kubernetes/with-retries.ts';
import {nodeProvisioner} from '../../cluster/platform/autoscalers.ts';
import {clusterFactsOf} from '../../cluster/platform/cluster-facts.ts';
import {readCluster} from '../../cluster/platform/readings.ts';
import {
  type DesiredRelease,
  RENDERED_BY,
  type RenderedChart,
  renderManifest,
} from '../../cluster/release/desired-release.ts';
import {clusterOfPod, contextOf, type InstallFacts} from '../../cluster/release/read-release.ts';
import type {ClusterTarget} from '../../ground/command-line.ts';
import {type Fact, isKnown, known, knownValue, mapped} from '../../ground/fact.ts';
import type {Processes, Registries} from '../../ground/system/system.ts';
import {isMap} from '../../ground/tree.ts';
import {token, tokenFile} from '../../settings/agent.ts';
import {cacheClaim} from '../../settings/cache.ts';
import type {Get} from '../../settings/define.ts';
import type {GeneratedValues} from '../../values/generate.ts';
import {effectiveGet, effectiveValues} from '../../values/reading/read-values.ts';
import {neededPermissions} from './checks/permissions.ts';
import type {ClusterReading} from './cluster-reading.ts';
import type {PreflightContext, ReviewedPermission} from './facts/context.ts';
import {referencedAccounts, referencedClaims, requiredSecrets} from './facts/referenced-objects.ts';
import {readAdmission} from './read-admission.ts';
import {
  readDefinitionUsers,
  readLiveState,
  readPodsOnNodes,
  readReferenced,
} from './read-live-state.ts';
import {readMirror} from './read-mirror.ts';
import {readTools} from './read-tools.ts';

export interface ReadingDeps extends ClusterAccess, RetryOptions {
  registries: Registries;
  now(): Date;
  /** Time limit of the version request, so that time is left to render the chart (default: `signal`). */
  versionSignal?: AbortSignal;
}

/** Data that an install has already read. */
export interface AlreadyRead {
  manifest?: readonly KubernetesObject[];
  context?: InstallFacts['context'];
}

/** Reads all data for the checks. Read-only, never fails, and ends at the timeout with partial data. */
export async function readPreflightContext(
  generated: GeneratedValues,
  desired: DesiredRelease,
  deps: ReadingDeps,
  already: AlreadyRead = {},
): Promise<PreflightContext> {
  const {target, settings, effective, values} = generated;
  const {name} = desired;
  const {kubeTarget} = name;
  const get = effectiveGet(settings, effective);
  const access = cachedAccess(deps, deps);
  const options = {signal: deps.signal, idleMs: REQUEST_MS};
  const reading = {...access, name, options};
  const version = serverVersion(access.kubernetes, {
    ...options,
    signal: deps.versionSignal ?? deps.signal,
  });
  const rendering: Promise<RenderedChart> =
    already.manifest === undefined
      ? version.then((found) => renderManifest(desired, found.version, get, access.processes))
      : Promise.resolve({manifest: known(already.manifest, RENDERED_BY)});
  const [rendered, readings, tools, context, state, mirror] = await Promise.all([
    rendering,
    readCluster(kubeTarget, access),
    readTools(kubeTarget, access.processes),
    readContext(kubeTarget, access.processes, already.context ?? access.context),
    readState(desired, get, {rendering, version}, reading),
    readMirror(generated, deps),
  ]);
  const {permissions, live, ...referenced} = state;
  const seen = {facts: clusterFactsOf(readings), readings, now: deps.now()};
  const [users, podsOnNodes] = await Promise.all([
    readDefinitionUsers(readings, target, reading),
    readNodeLoad(seen, reading),
  ]);
  return {
    name,
    target,
    get,
    values: effectiveValues(values, target),
    ...rendered,
    ...seen,
    context,
    tools,
    permissions: mapped(permissions, (all) => withoutCreation(all, readings.namespaceObject)),
    ...referenced,
    live: {...live, ...users, podsOnNodes},
    ...(mirror && {mirror}),
    token: (settings.get(token) ?? settings.get(tokenFile))?.reveal(),
  };
}

/** Pods of others matter where no node is added for those of the release. */
async function readNodeLoad(
  seen: Pick<PreflightContext, 'facts' | 'readings' | 'now'>,
  reading: ClusterReading,
): Promise<PreflightContext['live']['podsOnNodes']> {
  const {nodes} = seen.readings;
  if (!isKnown(nodes)) return nodes;
  const provisioner = knownValue(nodeProvisioner(seen));
  return provisioner === undefined ? readPodsOnNodes(reading) : known([], provisioner);
}

/** What is read once the objects of the chart and the server are known. */
interface Started {
  rendering: Promise<RenderedChart>;
  version: ReturnType<typeof serverVersion>;
}

/** Permissions for the objects of the release, and what exists of them. */
async function readState(
  desired: DesiredRelease,
  get: Get,
  started: Started,
  reading: ClusterReading,
) {
  const [{manifest}, {error}] = await Promise.all([started.rendering, started.version]);
  // A server that did not report its version will not answer the later requests either.
  const isSilent = error !== undefined && error.kind !== 'forbidden';
  const kubernetes = isSilent ? failingClient(error) : reading.kubernetes;
  const answering = {...reading, kubernetes};
  const objects = knownValue(manifest) ?? [];
  const secrets = requiredSecrets(desired.secrets, get, objects);
  const claims = new Set(referencedClaims(objects));
  const ownClaim = get(cacheClaim);
  if (ownClaim !== undefined) claims.add(ownClaim);
  const [referenced, permissions, live] = await Promise.all([
    readReferenced({secrets, claims, accounts: referencedAccounts(objects)}, answering),
    readPermissions(objects, answering),
    readLiveState(objects, answering),
  ]);
  const created = {manifest, desired, get, live, secrets: referenced.secrets};
  return {...referenced, permissions, live, admission: await readAdmission(created, answering)};
}

async function readContext(
  kubeTarget: ClusterTarget,
  processes: Processes,
  context?: InstallFacts['context'],
): Promise<PreflightContext['context']> {
  const source = 'kubectl config view';
  if (context) return known(context, source);
  const outcome = await processes.run(currentContext(kubeTarget));
  const ofPod = clusterOfPod(outcome);
  if (ofPod !== undefined) return known(ofPod, source);
  return mapped(jsonOf<Kubeconfig>(outcome, source, isMap), contextOf);
}

async function readPermissions(
  objects: readonly KubernetesObject[],
  {name: {kubeTarget}, kubernetes, options}: ClusterReading,
): Promise<PreflightContext['permissions']> {
  const {served} = await servedResources(kubernetes, options);
  const needed = neededPermissions(kubeTarget.namespace, objects, [...served.keys()]);
  return reviewPermissions(needed, kubernetes, options.signal);
}

/** An existing namespace need not be created; one that cannot be read may exist. */
function withoutCreation(
  permissions: readonly ReviewedPermission[],
  namespace: Fact<KubernetesObject | undefined>,
): readonly ReviewedPermission[] {
  const createsNamespace = ({verb, resource}: ReviewedPermission): boolean =>
    verb === 'create' && resource === 'namespaces';
  if (!isKnown(namespace))
    return permissions.map((each) => (createsNamespace(each) ? {...each, isOptional: true} : each));
  if (namespace.value === undefined) return permissions;
  return permissions.filter((each) => !createsNamespace(each));
}
