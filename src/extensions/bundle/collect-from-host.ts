import {setTimeout as wait} from 'node:timers/promises';
import {anySignal} from '../../ground/async.ts';
import type {Interrupts} from '../../ground/system/system.ts';
import {type HostBundleOptions, type HostDeps, prepareDocker} from './collect/docker.ts';
import {prepareJournal} from './collect/journal.ts';
import {
  bundleInterrupted,
  type Collected,
  type SaveDeps,
  type SaveOptions,
  saveBundle,
} from './save-bundle.ts';

/** Within this time, a signal reaches all processes of the group. */
const SIGNAL_MS = 100;

export interface FromHostOptions extends SaveOptions, Pick<HostBundleOptions, 'since'> {
  /** Docker container; if undefined, the systemd service. */
  container?: string | undefined;
  timeoutMs: number;
  isDryRun: boolean;
}

interface FromHostDeps extends SaveDeps, Omit<HostDeps, 'signal'> {
  files: SaveDeps['files'] & HostDeps['files'];
  interrupts: Interrupts;
}

/** Collects a bundle of an agent on this machine, without Kubernetes. @throws ExpectedError */
export async function collectFromHost(
  options: FromHostOptions,
  deps: FromHostDeps,
): Promise<Collected> {
  const {interrupt, forceQuit} = deps.interrupts;
  const signal = anySignal(AbortSignal.timeout(options.timeoutMs), interrupt);
  const {container} = options;
  const reading = {since: options.since, now: deps.now()};
  const reader = {...deps, signal};
  const preparing =
    container === undefined
      ? prepareJournal(reading, reader)
      : prepareDocker(container, reading, reader);
  const prepared = await preparing.catch(async (error: unknown) => {
    // Ctrl-C also stops docker and journalctl, which may be noticed first.
    await wait(SIGNAL_MS);
    throw interrupt.aborted ? bundleInterrupted(interrupt) : error;
  });
  // Before a log was read, there is nothing to keep.
  if (interrupt.aborted) throw bundleInterrupted(interrupt);
  if (options.isDryRun) return {kind: 'listed', prepared};
  const saved = await saveBundle(prepared, options, deps, {signal, forceQuit});
  return {kind: 'saved', ...saved, interrupt};
}
