import {cniOf, type NetworkPolicies, networkPoliciesOf} from '../../cluster/facts/cni.ts';
import {type Fact, known, unknown} from '../../cluster/facts/fact.ts';
import {platformOf} from '../../cluster/facts/platform.ts';
import type {ConfigMapObject, NodeObject, PodOwner, Readings} from '../../cluster/facts/readings.ts';
import type {Claim, KubernetesObject, Pod} from '../../cluster/objects.ts';
import type {ApiReader} from '../../kubernetes/client.ts';
import {listAll} from '../../kubernetes/queries.ts';
import type {ApiError} from '../../ports/log-stream.ts';
import {skewOf} from '../findings/clock-skew.ts';
import {jsonText} from '../json.ts';
import type {TextFile} from './object-files.ts';
import type {Gap} from './read-namespace.ts';

/** Nodes that run the pods, volumes behind their claims and the version of the server; they lie in no namespace. */
export async function readSurroundings(
  objects: readonly KubernetesObject[],
  {api, over, now}: {api: Pick<ApiReader, 'get'>; over: AbortSignal; now(): Date},
): Promise<{objects: KubernetesObject[]; version: unknown; gaps: Gap[]; skewMs: number}> {
  const nodes = new Set(objects.flatMap((object) => (object.kind === 'Pod' ? ((object as Pod).spec?.nodeName ?? []) : [])));
  const volumes = new Set(
    objects.flatMap((object) => (object.kind === 'PersistentVolumeClaim' ? ((object as Claim).spec?.volumeName ?? []) : [])),
  );
  const gaps: Gap[] = [];
  const read = async (kind: string, path: string): Promise<KubernetesObject[]> => {
    const {trouble, ...answer} = await api.get(path, {over});
    // A namespaced account sees neither, and loses little by it.
    if (trouble) gaps.push({what: path, trouble, isMinor: trouble.kind === 'forbidden'});
    return trouble || !('body' in answer) ? [] : [{...withoutImages(answer.body as KubernetesObject), kind}];
  };
  const [version, ...found] = await Promise.all([
    api.get('/version', {over}).then((answer) => ({...answer, skewMs: skewOf(answer, now())})),
    ...[...nodes].map((name) => read('Node', `/api/v1/nodes/${encodeURIComponent(name)}`)),
    ...[...volumes].map((name) => read('PersistentVolume', `/api/v1/persistentvolumes/${encodeURIComponent(name)}`)),
  ]);
  return {objects: found.flat(), version: version.trouble ? undefined : version.body, gaps, skewMs: version.skewMs};
}

/** Hundreds of lines about images of everybody. */
function withoutImages(object: KubernetesObject & {status?: Readonly<Record<string, unknown>>}): KubernetesObject {
  const {images: _, ...status} = object.status ?? {};
  return object.status === undefined ? object : ({...object, status} as KubernetesObject);
}

/** What enforces the network policies of releases, as far as it shows. */
export interface Enforcement {
  policies: NetworkPolicies;
  file: TextFile;
  gaps: readonly Gap[];
}

export const NETWORK = 'network.json';

/** Asked for only where a release has a policy: what runs the network is not in its namespace. */
export async function readEnforcement(
  objects: readonly KubernetesObject[],
  nodes: readonly NodeObject[],
  serverVersion: string | undefined,
  api: Pick<ApiReader, 'get'>,
  over: AbortSignal,
): Promise<Enforcement | undefined> {
  if (!objects.some(({kind}) => kind === 'NetworkPolicy')) return undefined;
  const isK3s = nodes.some(({metadata}) => metadata.annotations?.['k3s.io/node-args'] !== undefined);
  const [sets, cilium, all] = await Promise.all([
    listAll(api, '/apis/apps/v1/daemonsets', {over}),
    api.get('/api/v1/namespaces/kube-system/configmaps/cilium-config', {over}),
    // Only its servers know, and pods of agents need not be on one.
    isK3s ? listAll(api, '/api/v1/nodes', {over}) : undefined,
  ]);
  const readings: Pick<Readings, 'daemonSets' | 'nodes' | 'ciliumConfig'> = {
    daemonSets: sets.trouble ? failed(sets.trouble) : known(sets.items as PodOwner[], 'daemonsets.apps'),
    nodes: known(all?.items.length ? (all.items as NodeObject[]) : nodes, 'nodes'),
    ciliumConfig: cilium.trouble ? failed(cilium.trouble) : known(cilium.body as ConfigMapObject, 'configmaps/cilium-config'),
  };
  const server = serverVersion === undefined ? unknown('failed', 'it was not read') : known(serverVersion, '/version');
  const {distribution} = platformOf({...readings, serverVersion: server, resources: unknown('undetermined', 'not asked for')});
  const cni = cniOf(readings, distribution);
  const policies = networkPoliciesOf(cni, readings);
  const gaps = sets.trouble
    ? [
        {
          what: 'DaemonSets of the cluster (whether something enforces network policies)',
          trouble: sets.trouble,
          isMinor: sets.trouble.kind === 'forbidden',
        },
      ]
    : [];
  return {policies, file: {name: NETWORK, text: jsonText({cni, networkPolicies: policies})}, gaps};
}

const failed = ({kind, message}: ApiError): Fact<never> =>
  unknown(kind === 'forbidden' ? 'forbidden' : kind === 'stalled' ? 'timed-out' : 'failed', message);
