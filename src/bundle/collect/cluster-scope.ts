import type {Finding} from '../../diagnose/finding.ts';
import {type Fact, known, type ReadError, unknown} from '../../ground/fact.ts';
import {jsonText} from '../../ground/tree.ts';
import type {ApiReader, ApiResult} from '../../kubernetes/client.ts';
import type {Claim, KubernetesObject, Pod} from '../../kubernetes/objects.ts';
import {listAll} from '../../kubernetes/resources.ts';
import {platformOf} from '../../platform/platform.ts';
import {cniOf, type NetworkPolicies, networkPoliciesOf} from '../../platform/policies.ts';
import type {ConfigMapObject, NodeObject, PlatformReadings, PodOwner} from '../../platform/readings.ts';
import type {Since} from './log-items.ts';
import type {Gap, TextFile} from './read-namespace.ts';

/** Cluster-scoped data: nodes of the pods, volumes of their claims, and the server version. */
export async function readClusterScope(
  objects: readonly KubernetesObject[],
  {api, signal, now}: {api: Pick<ApiReader, 'get'>; signal: AbortSignal; now(): Date},
): Promise<{objects: KubernetesObject[]; version: unknown; gaps: Gap[]; skewMs: number}> {
  const nodes = new Set(objects.flatMap((object) => (object.kind === 'Pod' ? ((object as Pod).spec?.nodeName ?? []) : [])));
  const volumes = new Set(
    objects.flatMap((object) => (object.kind === 'PersistentVolumeClaim' ? ((object as Claim).spec?.volumeName ?? []) : [])),
  );
  const gaps: Gap[] = [];
  const read = async (kind: string, path: string): Promise<KubernetesObject[]> => {
    const {error, ...answer} = await api.get(path, {signal});
    // A namespaced account cannot read them, and they are optional.
    if (error) gaps.push({what: path, error, isMinor: error.kind === 'forbidden'});
    return error || !('body' in answer) ? [] : [{...withoutImages(answer.body as KubernetesObject), kind}];
  };
  const [version, ...found] = await Promise.all([
    api.get('/version', {signal}).then((answer) => ({...answer, skewMs: skewOf(answer, now())})),
    ...[...nodes].map((name) => read('Node', `/api/v1/nodes/${encodeURIComponent(name)}`)),
    ...[...volumes].map((name) => read('PersistentVolume', `/api/v1/persistentvolumes/${encodeURIComponent(name)}`)),
  ]);
  return {objects: found.flat(), version: version.error ? undefined : version.body, gaps, skewMs: version.skewMs};
}

/** Removes the image list of the node, which has hundreds of lines. */
function withoutImages(object: KubernetesObject & {status?: Readonly<Record<string, unknown>>}): KubernetesObject {
  const {images: _, ...status} = object.status ?? {};
  return object.status === undefined ? object : ({...object, status} as KubernetesObject);
}

/** Detected enforcement of the network policies of releases. */
export interface Enforcement {
  policies: NetworkPolicies;
  file: TextFile;
  gaps: readonly Gap[];
}

export const NETWORK = 'network.json';

/** Only read if a release has a policy, because the network plugin is in another namespace. */
export async function readEnforcement(
  objects: readonly KubernetesObject[],
  nodes: readonly NodeObject[],
  serverVersion: string | undefined,
  api: Pick<ApiReader, 'get'>,
  signal: AbortSignal,
): Promise<Enforcement | undefined> {
  if (!objects.some(({kind}) => kind === 'NetworkPolicy')) return undefined;
  const isK3s = nodes.some(({metadata}) => metadata.annotations?.['k3s.io/node-args'] !== undefined);
  const [sets, cilium, all] = await Promise.all([
    listAll(api, '/apis/apps/v1/daemonsets', {signal}),
    api.get('/api/v1/namespaces/kube-system/configmaps/cilium-config', {signal}),
    // Only the k3s servers show it, and agents may run on other nodes.
    isK3s ? listAll(api, '/api/v1/nodes', {signal}) : undefined,
  ]);
  const readings: Pick<PlatformReadings, 'daemonSets' | 'nodes' | 'ciliumConfig'> = {
    daemonSets: sets.error ? unanswered(sets.error) : known(sets.items as PodOwner[], 'daemonsets.apps'),
    nodes: known(all?.items.length ? (all.items as NodeObject[]) : nodes, 'nodes'),
    ciliumConfig: cilium.error ? unanswered(cilium.error) : known(cilium.body as ConfigMapObject, 'configmaps/cilium-config'),
  };
  const server = serverVersion === undefined ? unknown('failed', 'not read') : known(serverVersion, '/version');
  const {distribution} = platformOf({...readings, serverVersion: server, resources: unknown('undetermined', 'not requested')});
  const cni = cniOf(readings, distribution);
  const policies = networkPoliciesOf(cni, readings);
  const gaps = sets.error
    ? [
        {
          what: 'DaemonSets of the cluster (to detect whether network policies are enforced)',
          error: sets.error,
          isMinor: sets.error.kind === 'forbidden',
        },
      ]
    : [];
  return {policies, file: {name: NETWORK, text: jsonText({cni, networkPolicies: policies})}, gaps};
}

const unanswered = ({kind, message}: ReadError): Fact<never> =>
  unknown(kind === 'forbidden' ? 'forbidden' : kind === 'stalled' ? 'timed-out' : 'failed', message);

/** Smaller differences are caused by response times and whole seconds in HTTP dates. */
const MIN_SKEW_MS = 60_000;

/** How far the clock of the server is ahead; zero if it is unknown or small. */
export function skewOf(answer: ApiResult, now: Date): number {
  if (answer.error || answer.date === undefined) return 0;
  const skew = answer.date.getTime() - now.getTime();
  return Math.abs(skew) < MIN_SKEW_MS ? 0 : skew;
}

/** Findings about clock skew, and about a start time in the future. Pure. */
export function skewFindings(skewMs: number, since: Since, now: Date): Finding[] {
  const theirs = new Date(now.getTime() + skewMs);
  const found: Finding[] = [];
  if (skewMs !== 0)
    found.push({
      severity: 'warning',
      code: 'CLOCK_SKEW',
      object: 'clock of this machine',
      message: `${spanText(Math.abs(skewMs))} ${skewMs > 0 ? 'behind' : 'ahead of'} the clock of the cluster. All times in this bundle are cluster time, except its creation time`,
      remedy: 'Set the clock, for example with timedatectl set-ntp true. --since-time is compared with cluster time, like logs and events',
    });
  if (since !== undefined && 'time' in since && Date.parse(since.time) > theirs.getTime())
    found.push({
      severity: 'error',
      code: 'SINCE_IN_FUTURE',
      object: '--since-time',
      message: `${since.time} is later than the current time of the cluster (${theirs.toISOString()}), so no log matches`,
      remedy: 'Collect again with --since, which is relative to the clock of the cluster',
    });
  return found;
}

function spanText(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
