import type {ApiReader} from '../../kubernetes/client.ts';
import {anySignal} from '../../ports/signals.ts';
import {askTools} from '../ask-tools.ts';
import type {ClusterWish, ClusterWorld} from './cluster-bundle.ts';
import type {Collected} from './save-bundle.ts';

interface World extends Omit<ClusterWorld, 'api' | 'asked' | 'over'> {
  openApi(over: AbortSignal): Promise<ApiReader>;
}

/** A bundle of the agents of a namespace. @throws ExpectedError */
export async function collectFromCluster(wish: ClusterWish, world: World): Promise<Collected> {
  const ended = new AbortController();
  const over = anySignal(AbortSignal.timeout(wish.timeoutMs), world.interrupts.asked, ended.signal);
  const opening = world.openApi(over);
  const asked = askTools(wish.place, world.processes, over);
  const answered = Promise.allSettled([asked.releases, asked.versions]);
  try {
    // The rest of the program is loaded while kubectl and helm start.
    const [api, {clusterBundle}] = await Promise.all([opening, import('./cluster-bundle.ts')]);
    return await clusterBundle(wish, {...world, api, asked, over});
  } finally {
    ended.abort();
    await answered;
    await opening.then(
      (api) => api.close(),
      () => undefined,
    );
  }
}
