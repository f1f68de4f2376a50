import type {PollDeps} from '../cluster/helm/poll.ts';
import type {RequestOptions} from '../cluster/kubernetes/client.ts';
import {removeFinalizers} from '../cluster/kubernetes/deletions.ts';
import {collectionPath, groupVersionOf, pluralOfKind} from '../cluster/kubernetes/kinds.ts';
import {kindAndName, refOf} from '../cluster/kubernetes/object-refs.ts';
import type {Condition, KubernetesObject} from '../cluster/kubernetes/objects.ts';
import {getObject, listAll, REQUIRED_MS} from '../cluster/kubernetes/resources.ts';
import type {KubectlCall} from '../ground/call.ts';
import {callText} from '../ground/call-arguments.ts';
import {type ClusterTarget, kubectlCommand} from '../ground/command-line.ts';
import type {RemovedObject, Step} from './step.ts';

/** An object that should go, with what can hold it. */
export interface EndingObject extends KubernetesObject {
  metadata: KubernetesObject['metadata'] & {
    finalizers?: readonly string[];
  };
  spec?: {
    nodeName?: string;
    persistentVolumeReclaimPolicy?: string;
    claimRef?: {namespace?: string; name?: string};
  };
  status?: {phase?: string; message?: string; conditions?: readonly Condition[]};
}

export const isEnding = ({metadata}: KubernetesObject): boolean =>
  metadata.deletionTimestamp !== undefined;

/** Kubernetes removes its own finalizers when nothing uses the object any more. */
export const isHeld = ({metadata: {finalizers = []}}: EndingObject): boolean =>
  finalizers.some((each) => !/^(?:[\w-]+\.)*(?:kubernetes|k8s)\.io\/|^[^./]+$/.test(each));

/** Why it still exists. */
export function endingText(object: EndingObject): string {
  const {metadata, spec, status} = object;
  const {finalizers = [], deletionTimestamp = ''} = metadata;
  const conditions = status?.conditions?.filter(
    ({type, status: is}) => HOLDS.test(type) && is === 'True',
  );
  const reasons = (conditions ?? []).flatMap(({message}) => message ?? []);
  if (reasons.length > 0) return `its deletion is not complete: ${reasons.join(' ')}`;
  if (finalizers.includes('kubernetes.io/pvc-protection'))
    return 'its deletion is not complete: a pod still uses it';
  if (finalizers.length > 0)
    return `its deletion is not complete, pending finalizers: ${finalizers.join(', ')}`;
  if (spec?.nodeName !== undefined)
    return `node ${spec.nodeName} has not stopped it yet (due ${deletionTimestamp})`;
  return 'its deletion is not complete';
}

/** Conditions of a namespace: content or finalizers that remain, and API services that do not answer. */
const HOLDS = /Remaining$|^NamespaceDeletion\w*Failure$/;

/** What lets the deletion end; undefined if waiting does. */
export function howToEnd(object: EndingObject, kubeTarget: ClusterTarget): string | undefined {
  const service = deadService(object);
  if (service !== undefined)
    return `Repair the API service ${service}, or delete it if its program no longer exists: ${kubectlCommand(kubeTarget, 'delete', 'apiservice', service)}`;
  if (isHeld(object))
    // Without what removes the finalizer, its work may be left undone: a disk, a DNS record.
    return `Start the program that removes the finalizer. If it no longer exists: ${callText(removeFinalizers(kubeTarget, refOf(object)))}`;
  const {metadata, spec, kind} = object;
  if (kind !== 'Pod' || spec?.nodeName === undefined) return undefined;
  const where = ['--namespace', metadata.namespace ?? kubeTarget.namespace];
  return `If node ${spec.nodeName} no longer exists, or is switched off: ${kubectlCommand(kubeTarget, 'delete', 'pod', metadata.name, '--force', ...where)}`;
}

/** `unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: stale GroupVersion discovery: …` as APIService v1beta1.metrics.k8s.io */
function deadService({status}: EndingObject): string | undefined {
  const failure = status?.conditions?.find(
    ({type, status: is}) => type === 'NamespaceDeletionDiscoveryFailure' && is === 'True',
  );
  const [, group, version] = /APIs: ([\w.-]+)\/(\w+): /.exec(failure?.message ?? '') ?? [];
  return group === undefined ? undefined : `${version}.${group}`;
}

/** What a step waits for: objects that are being deleted. */
export interface HeldObject {
  text: string;
  how: string | undefined;
}

export const canBeHeld = ({call}: Pick<Step, 'call'>): boolean =>
  call.tool === 'kubectl' && (call.waitsFor === 'delete' || call.verb === 'delete');

/** The objects that hold up a step that deletes, or waits until something is gone; none if they cannot be read. */
export async function heldObjects(
  {call, deletes = []}: Pick<Step, 'call' | 'deletes'>,
  kubernetes: PollDeps['kubernetes'],
  signal: AbortSignal,
): Promise<HeldObject[]> {
  if (call.tool !== 'kubectl') return [];
  const options = {signal, idleMs: REQUIRED_MS};
  const found =
    call.waitsFor === 'delete'
      ? await listPods(call, kubernetes, options)
      : await Promise.all(deletes.map((each) => readEnding(each, kubernetes, options)));
  return found
    .filter((each): each is EndingObject => each !== undefined && isEnding(each))
    .map((each) => ({
      text: `${kindAndName(each)}: ${endingText(each)}`,
      how: howToEnd(each, call.kubeTarget),
    }));
}

/** What `kubectl wait` waits for. */
async function listPods(
  {selector = '', kubeTarget}: KubectlCall,
  kubernetes: PollDeps['kubernetes'],
  options: RequestOptions,
): Promise<readonly EndingObject[]> {
  const query = `?labelSelector=${encodeURIComponent(selector)}`;
  const path = `${collectionPath('pods', kubeTarget.namespace)}${query}`;
  return (await listAll(kubernetes, path, options)).items as readonly EndingObject[];
}

/** Undefined if it is gone, or cannot be read. */
const readEnding = async (
  {kind, name, namespace, groupVersion = groupVersionOf(kind)}: RemovedObject,
  kubernetes: PollDeps['kubernetes'],
  options: RequestOptions,
): Promise<EndingObject | undefined> => {
  const where = {groupVersion, ...(namespace === undefined ? {} : {namespace})};
  const read = {...options, ...where};
  return (await getObject<EndingObject>(kubernetes, pluralOfKind(kind), name, read)).object;
};
