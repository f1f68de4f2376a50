import {setTimeout as wait} from 'node:timers/promises';
import {anySignal} from '../ground/signals.ts';
import type {Interrupts} from '../ports/processes.ts';
import {type HostBundleOptions, type HostDeps, type HostPrepared, prepareDocker} from './collect/docker.ts';
import {prepareJournal} from './collect/journal.ts';
import {bundleInterrupted, type Collected, type SaveDeps, type SaveOptions, saveBundle} from './write-bundle.ts';

/** Within this time, a signal reaches all processes of the group. */
const SIGNAL_MS = 100;

export interface FromHostOptions extends SaveOptions, Pick<HostBundleOptions, 'since'> {
  /** Docker container; if undefined, the systemd service. */
  container?: string | undefined;
  timeoutMs: number;
  isDryRun: boolean;
}

interface Deps extends SaveDeps, Omit<HostDeps, 'signal'> {
  files: SaveDeps['files'] & HostDeps['files'];
  interrupts: Interrupts;
}

/** Collects a bundle of an agent on this machine, without Kubernetes. @throws ExpectedError */
export async function collectFromHost(options: FromHostOptions, deps: Deps): Promise<Collected> {
  const {interrupt, forceQuit} = deps.interrupts;
  const signal = anySignal(AbortSignal.timeout(options.timeoutMs), interrupt);
  const prepared = await prepare(options, {...deps, signal}).catch(async (error: unknown) => {
    // Ctrl-C also stops docker and journalctl, which may be noticed first.
    await wait(SIGNAL_MS);
    throw interrupt.aborted ? bundleInterrupted(interrupt) : error;
  });
  // Before a log was read, there is nothing to keep.
  if (interrupt.aborted) throw bundleInterrupted(interrupt);
  if (options.isDryRun) return {wanted: prepared};
  const {name, api} = prepared;
  return {...(await saveBundle(prepared, name, options, deps, {api, signal, forceQuit})), interrupt};
}

function prepare({container, since}: FromHostOptions, deps: HostDeps & SaveDeps): Promise<HostPrepared> {
  const options = {since, now: deps.now()};
  return container === undefined ? prepareJournal(options, deps) : prepareDocker(container, options, deps);
}
