import {type Fact, known, type ReadError, unknown} from '../../ground/fact.ts';
import {jsonText} from '../../ground/json.ts';
import type {ApiReader} from '../../kubernetes/client.ts';
import type {Claim, KubernetesObject, Pod} from '../../kubernetes/objects.ts';
import {listAll} from '../../kubernetes/resources.ts';
import {platformOf} from '../../platform/platform.ts';
import {cniOf, type NetworkPolicies, networkPoliciesOf} from '../../platform/policies.ts';
import type {ConfigMapObject, NodeObject, PlatformReadings, PodOwner} from '../../platform/readings.ts';
import {skewOf} from './clock-skew.ts';
import type {TextFile} from './object-files.ts';
import type {Gap} from './read-namespace.ts';

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
    daemonSets: sets.error ? failed(sets.error) : known(sets.items as PodOwner[], 'daemonsets.apps'),
    nodes: known(all?.items.length ? (all.items as NodeObject[]) : nodes, 'nodes'),
    ciliumConfig: cilium.error ? failed(cilium.error) : known(cilium.body as ConfigMapObject, 'configmaps/cilium-config'),
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

const failed = ({kind, message}: ReadError): Fact<never> =>
  unknown(kind === 'forbidden' ? 'forbidden' : kind === 'stalled' ? 'timed-out' : 'failed', message);
