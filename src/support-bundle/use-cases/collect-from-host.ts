import {setTimeout as wait} from 'node:timers/promises';
import type {Interrupts} from '../../ports/interrupts.ts';
import {anySignal} from '../../ports/signals.ts';
import {prepareDocker} from '../sources/docker.ts';
import {prepareJournal} from '../sources/journal.ts';
import type {HostPrepared, HostWish, HostWorld} from '../sources/source.ts';
import {interrupted} from './interrupted.ts';
import {type Collected, type SavingWish, type SavingWorld, saveBundle} from './save-bundle.ts';

/** A signal to a group of processes reaches all of them in less. */
const SIGNAL_MS = 100;

export interface FromHostWish extends SavingWish, Pick<HostWish, 'since'> {
  /** A container of docker; without it the service of systemd. */
  container?: string | undefined;
  timeoutMs: number;
  isDryRun: boolean;
}

interface World extends SavingWorld, Omit<HostWorld, 'over'> {
  files: SavingWorld['files'] & HostWorld['files'];
  interrupts: Interrupts;
}

/** A bundle of an agent on this machine, outside of Kubernetes. @throws ExpectedError */
export async function collectFromHost(wish: FromHostWish, world: World): Promise<Collected> {
  const {asked, insisted} = world.interrupts;
  const over = anySignal(AbortSignal.timeout(wish.timeoutMs), asked);
  const prepared = await prepare(wish, {...world, over}).catch(async (error: unknown) => {
    // Ctrl-C ends the tools too, and they may be heard of first. What was ended early failed for no other reason.
    await wait(SIGNAL_MS);
    throw asked.aborted ? interrupted(asked) : error;
  });
  // As long as no log was read there is nothing to keep.
  if (asked.aborted) throw interrupted(asked);
  if (wish.isDryRun) return {wanted: prepared};
  const {name, api} = prepared;
  return {...(await saveBundle(prepared, name, wish, world, {api, over, insisted})), asked};
}

function prepare({container, since}: FromHostWish, world: HostWorld & SavingWorld): Promise<HostPrepared> {
  const wish = {since, now: world.now()};
  return container === undefined ? prepareJournal(wish, world) : prepareDocker(container, wish, world);
}
