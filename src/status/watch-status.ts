import type {PollDeps} from '../apply/poll-deps.ts';
import {EVERY_MS} from '../apply/watch-release.ts';
import type {Values} from '../charts/tree.ts';
import {ExpectedError} from '../errors.ts';
import type {ReleaseName} from '../ports/helm.ts';
import {isPassing} from '../ports/tool-failure.ts';
import {within} from '../ports/within.ts';
import {readStatus} from './read-status.ts';
import type {Status} from './status.ts';

interface WatchStatusDeps extends PollDeps {
  /** For every single look. */
  timeoutMs: number;
  onStatus(status: Status): void;
  /** Nobody answers at the moment. */
  onTrouble(trouble: ExpectedError): void;
}

/** Looks again and again until somebody interrupts it. @throws ExpectedError when there is nothing to look at, or no more */
export async function watchStatus(name: ReleaseName, wanted: Values | undefined, world: WatchStatusDeps): Promise<void> {
  const {asked} = world.interrupts;
  let isSeen = false;
  while (!asked.aborted) {
    try {
      const status = await within(world.timeoutMs, asked, (over) => readStatus(name, {wanted, over}, world));
      if (asked.aborted) return;
      world.onStatus(status);
      isSeen = true;
    } catch (error) {
      if (asked.aborted) return;
      if (!(error instanceof ExpectedError && isSeen && isPassing(error))) throw error;
      world.onTrouble(error);
    }
    await world.sleep(EVERY_MS, asked);
  }
}
