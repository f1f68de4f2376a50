import {callText} from '../../ground/call-arguments.ts';
import {type ClusterTarget, kubectlCommand} from '../../ground/command-line.ts';
import {removeFinalizers} from './deletions.ts';
import {refOf} from './object-refs.ts';
import type {Condition, KubernetesObject} from './objects.ts';

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
  finalizers.some(isForeign);

const isForeign = (finalizer: string): boolean =>
  !/^(?:[\w-]+\.)*(?:kubernetes|k8s)\.io\/|^[^./]+$/.test(finalizer);

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
  const held = heldContent(object);
  if (held !== undefined) {
    const list = kubectlCommand(kubeTarget, 'get', held.kinds, '--namespace', metadata.name);
    return `Start the program that removes ${held.finalizers} from what is in it. If it no longer exists, remove the finalizer from each object. List them: ${list}`;
  }
  if (kind !== 'Pod' || spec?.nodeName === undefined) return undefined;
  const where = ['--namespace', metadata.namespace ?? kubeTarget.namespace];
  return `If node ${spec.nodeName} no longer exists, or is switched off: ${kubectlCommand(kubeTarget, 'delete', 'pod', metadata.name, '--force', ...where)}`;
}

/** `unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: stale GroupVersion discovery: …` as APIService v1beta1.metrics.k8s.io */
function deadService(object: EndingObject): string | undefined {
  const failure = messageOf(object, 'NamespaceDeletionDiscoveryFailure');
  const [, group, version] = /APIs: ([\w.-]+)\/(\w+): /.exec(failure) ?? [];
  return group === undefined ? undefined : `${version}.${group}`;
}

/** `Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances`, and `Some resources are remaining: configmaps. has 1 resource instances` */
function heldContent(object: EndingObject): {finalizers: string; kinds: string} | undefined {
  const finalizers = namesIn(messageOf(object, 'NamespaceFinalizersRemaining')).filter(isForeign);
  const kinds = namesIn(messageOf(object, 'NamespaceContentRemaining'));
  return finalizers.length > 0 && kinds.length > 0
    ? {finalizers: finalizers.join(', '), kinds: kinds.join()}
    : undefined;
}

const namesIn = (message: string): string[] =>
  [...message.matchAll(/(\S+?)\.? (?:in|has) \d+ resource/g)].flatMap(([, name]) => name ?? []);

const messageOf = ({status}: EndingObject, condition: string): string =>
  status?.conditions?.find(({type, status: is}) => type === condition && is === 'True')?.message ??
  '';
