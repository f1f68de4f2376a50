import type {ApiReader} from '../../kubernetes/client.ts';
import type {AskedTools} from '../ask-tools.ts';
import {type BundleWish, prepareBundle} from '../prepare.ts';
import {refuseEmpty} from '../refuse-empty.ts';
import {refuseUnknown} from '../refuse-unknown.ts';
import {isOfReleases} from '../scope.ts';
import {type FollowingWorld, followCluster} from './follow-cluster.ts';
import {interrupted} from './interrupted.ts';
import {type Collected, refuseUnwritable, type SavingWish, saveBundle} from './save-bundle.ts';

export interface ClusterWish extends BundleWish, SavingWish {
  timeoutMs: number;
  isDryRun: boolean;
  /** How long it is followed what happens; without it the bundle is of what is there. */
  followingMs?: number | undefined;
}

export interface ClusterWorld extends FollowingWorld {
  api: ApiReader;
  asked: AskedTools;
  over: AbortSignal;
}

/** Of what is there, or of what happens from now on. @throws ExpectedError */
export async function clusterBundle(wish: ClusterWish, world: ClusterWorld): Promise<Collected> {
  const {followingMs, place} = wish;
  const {interrupts, api, over} = world;
  const {asked, insisted} = interrupts;
  if (followingMs !== undefined && !wish.isDryRun) await refuseUnwritable(place.namespace, wish, world);
  const prepared = await prepareBundle(wish, world);
  if (asked.aborted && !prepared.scope.objects.some(isOfReleases)) throw interrupted(asked);
  refuseEmpty(prepared, wish);
  // What is followed may begin later.
  if (followingMs === undefined) refuseUnknown(prepared, wish);
  if (wish.isDryRun) return {wanted: prepared};
  if (followingMs !== undefined) return followCluster(prepared, {...wish, followingMs}, world);
  return {...(await saveBundle(prepared, place.namespace, wish, world, {api, over, insisted})), asked};
}
