import type {KubernetesObject} from '../cluster/objects.ts';
import {REQUIRED_MS} from '../cluster/read-facts.ts';
import {interrupted} from '../errors.ts';
import {errorLine} from '../kubernetes/api-error.ts';
import {getObject, resourceOfKind} from '../kubernetes/queries.ts';
import type {Removal, RemovedObject} from '../plan/removal.ts';
import {withTimeout} from '../signals.ts';
import type {PollDeps} from './watch-release.ts';

/** An object that should be gone. */
export interface LeftObject {
  object: RemovedObject;
  why: string;
  /** Nothing speaks against its end but that it takes longer. */
  isLate: boolean;
}

const EVERY_MS = 1000;

/** Asks the API server until everything has gone, cannot go, or time is over. Returns what each removal left. @throws ExpectedError when interrupted */
export async function verifyRemovals(
  removals: readonly Removal[],
  endsAt: number,
  {kubernetes, interrupts, now, sleep}: PollDeps,
): Promise<ReadonlyMap<Removal, readonly LeftObject[]>> {
  const {asked} = interrupts;
  let open = removals.flatMap((removal) => removal.objects.map((object) => ({removal, object})));
  const left = new Map<Removal, LeftObject[]>();
  for (;;) {
    const found = await Promise.all(
      open.map(async (each) => ({...each, state: await withTimeout(REQUIRED_MS, asked, (over) => stateOf(each.object, kubernetes, over))})),
    );
    if (asked.aborted) throw interrupted('What was deleted is not verified.', asked);
    const isOver = now().getTime() >= endsAt;
    for (const {removal, object, state} of found) {
      if (state === undefined || (state.isLate && !isOver)) continue;
      left.set(removal, [...(left.get(removal) ?? []), {object, ...state}]);
    }
    open = found.filter(({state}) => state?.isLate);
    if (open.length === 0 || isOver) return left;
    await sleep(EVERY_MS, asked);
  }
}

interface Live extends KubernetesObject {
  metadata: KubernetesObject['metadata'] & {finalizers?: readonly string[]};
  spec?: {persistentVolumeReclaimPolicy?: string; claimRef?: {namespace?: string; name?: string}};
  status?: {phase?: string; message?: string; conditions?: readonly {type: string; status: string; message?: string}[]};
}

/** Undefined once it is gone. */
async function stateOf(
  {kind, name, namespace, groupVersion}: RemovedObject,
  kubernetes: PollDeps['kubernetes'],
  over: AbortSignal,
): Promise<Pick<LeftObject, 'why' | 'isLate'> | undefined> {
  const where = {groupVersion, ...(namespace === undefined ? {} : {namespace})};
  const {object, trouble} = await getObject<Live>(kubernetes, resourceOfKind(kind), name, {over, idleMs: REQUIRED_MS, ...where});
  if (trouble) return {why: `cannot verify that it is gone: ${errorLine(trouble)}`, isLate: trouble.kind !== 'forbidden'};
  if (object === undefined) return undefined;
  if (object.metadata.deletionTimestamp !== undefined) return {why: endingText(object), isLate: true};
  if (kind === 'PersistentVolume') return stateOfVolume(object);
  if (object.metadata.annotations?.['helm.sh/resource-policy'] === 'keep')
    return {why: 'the annotation helm.sh/resource-policy told Helm to keep it', isLate: false};
  return {why: 'it still exists: it was not deleted, or something created it again', isLate: false};
}

/** Deleted by Kubernetes, after its claim. */
function stateOfVolume({spec, status}: Live): Pick<LeftObject, 'why' | 'isLate'> {
  if (status?.phase === 'Failed')
    return {why: `its data remains: the storage did not delete it (${status.message ?? 'without a reason'})`, isLate: false};
  if (spec?.persistentVolumeReclaimPolicy === 'Retain')
    return {why: 'its reclaim policy is Retain, so its data remains; deleting the volume does not delete the disk', isLate: false};
  if (status?.phase === 'Bound')
    return {why: `it is still bound to claim ${spec?.claimRef?.namespace}/${spec?.claimRef?.name}`, isLate: true};
  return {why: 'its data remains: its storage driver has not deleted it', isLate: true};
}

function endingText({metadata: {finalizers = []}, status}: Live): string {
  const conditions = status?.conditions?.filter(({type, status: is}) => type.endsWith('Remaining') && is === 'True') ?? [];
  const reasons = conditions.flatMap(({message}) => message ?? []);
  if (reasons.length > 0) return `its deletion has not ended: ${reasons.join(' ')}`;
  if (finalizers.includes('kubernetes.io/pvc-protection')) return 'its deletion has not ended: a pod still uses it';
  return `its deletion has not ended${finalizers.length === 0 ? '' : `, finalizers hold it: ${finalizers.join(', ')}`}`;
}
