import type {PollDeps} from '../cluster/helm/poll.ts';
import type {RequestOptions} from '../cluster/kubernetes/client.ts';
import {
  type EndingObject,
  endingText,
  howToEnd,
  isEnding,
} from '../cluster/kubernetes/ending-objects.ts';
import {collectionPath, groupVersionOf, pluralOfKind} from '../cluster/kubernetes/kinds.ts';
import {kindAndName} from '../cluster/kubernetes/object-refs.ts';
import {getObject, listAll, REQUIRED_MS} from '../cluster/kubernetes/resources.ts';
import type {KubectlCall} from '../ground/call.ts';
import type {RemovedObject, Step} from './step.ts';

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
