import type {ApiReader} from '../../kubernetes/client.ts';
import type {Interrupts} from '../../ports/interrupts.ts';
import type {Processes} from '../../ports/processes.ts';
import {anySignal} from '../../ports/signals.ts';
import {askTools} from '../ask-tools.ts';
import {redactionFor} from '../bundle.ts';
import type {LogItem} from '../log-items.ts';
import {type BundleWish, type Prepared, prepareBundle} from '../prepare.ts';
import {record} from '../record.ts';
import {seedsOf} from '../seeds-of.ts';
import {withRecording} from '../with-recording.ts';
import {type Collected, type SavingWish, type SavingWorld, saveBundle} from './save-bundle.ts';

interface FollowingWish extends BundleWish, SavingWish {
  timeoutMs: number;
  followingMs: number;
}

export interface FollowingWorld extends SavingWorld {
  api: ApiReader;
  processes: Processes;
  interrupts: Interrupts;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  onLog(item: LogItem): void;
}

/** Follows what happens until it is told to end, and then writes everything. @throws ExpectedError */
export async function followCluster({seeds, releases}: Prepared, wish: FollowingWish, world: FollowingWorld): Promise<Collected> {
  const {api, processes, interrupts, now, sleep, onLog} = world;
  const {namespace} = wish.place;
  const {redact: redactor} = redactionFor(seeds);
  const until = anySignal(AbortSignal.timeout(wish.followingMs), interrupts.asked);
  const recording = await record({...wish, namespace, releases}, {api, redactor, until, now, sleep, onLog});
  // Who ended the recording wants the bundle; afterwards, and of one that ended by itself, a signal means what it always means.
  const asked = interrupts.asked.aborted ? interrupts.insisted : interrupts.asked;
  const over = anySignal(AbortSignal.timeout(wish.timeoutMs), asked);
  const fresh = await prepareBundle(wish, {api, asked: askTools(wish.place, processes, over), over, now});
  // Runs bring secrets that were not there in the beginning.
  const redaction = redactionFor([...seeds, ...fresh.seeds, ...seedsOf(recording.secrets, recording.objects)], redactor);
  const seen = withRecording(fresh, recording, redaction, api);
  const reading = {api: seen.api, over, insisted: interrupts.insisted};
  return {...(await saveBundle(seen.prepared, namespace, wish, world, reading)), asked};
}
