import type {ClusterApi} from '../../ports/cluster-api.ts';
import {firstOf} from '../../ports/first-of.ts';
import type {Interrupts} from '../../ports/interrupts.ts';
import type {Processes} from '../../ports/processes.ts';
import {type BundleWish, prepareBundle} from '../prepare.ts';
import {refuseEmpty} from '../refuse-empty.ts';
import {isOfReleases} from '../scope.ts';
import {type FollowingWorld, followCluster} from './follow-cluster.ts';
import {interrupted} from './interrupted.ts';
import {type Collected, type SavingWish, saveBundle} from './save-bundle.ts';

export interface ClusterWish extends BundleWish, SavingWish {
  timeoutMs: number;
  isDryRun: boolean;
  /** How long it is followed what happens; without it the bundle is of what is there. */
  followingMs?: number | undefined;
}

interface World extends Omit<FollowingWorld, 'api'> {
  openApi(over: AbortSignal): Promise<ClusterApi>;
  processes: Processes;
  interrupts: Interrupts;
}

/** A bundle of the agents of a namespace. @throws ExpectedError */
export async function collectFromCluster(wish: ClusterWish, world: World): Promise<Collected> {
  const {processes, interrupts, now} = world;
  const {asked, insisted} = interrupts;
  const {namespace} = wish.place;
  const over = firstOf(AbortSignal.timeout(wish.timeoutMs), asked);
  const api = await world.openApi(over);
  try {
    const prepared = await prepareBundle(wish, {api, processes, over, now});
    if (asked.aborted && !prepared.scope.objects.some(isOfReleases)) throw interrupted(asked);
    refuseEmpty(prepared, namespace);
    if (wish.isDryRun) return {wanted: prepared};
    if (wish.followingMs !== undefined) return await followCluster(prepared, {...wish, followingMs: wish.followingMs}, {...world, api});
    return {...(await saveBundle(prepared, namespace, wish, world, {api, over, insisted})), asked};
  } finally {
    await api.close();
  }
}
