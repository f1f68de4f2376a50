import {setTimeout as wait} from 'node:timers/promises';
import type {Interrupts} from '../ports/interrupts.ts';
import {anySignal} from '../signals.ts';
import {type Collected, interrupted, type SaveDeps, type SaveOptions, saveBundle} from './archive/save-bundle.ts';
import {prepareDocker} from './collect/docker.ts';
import type {HostDeps, HostOptions, HostPrepared} from './collect/host.ts';
import {prepareJournal} from './collect/journal.ts';

/** A signal to a process group reaches all of its processes within this time. */
const SIGNAL_MS = 100;

export interface FromHostOptions extends SaveOptions, Pick<HostOptions, 'since'> {
  /** A container of Docker; the systemd service when undefined. */
  container?: string | undefined;
  timeoutMs: number;
  isDryRun: boolean;
}

interface Deps extends SaveDeps, Omit<HostDeps, 'over'> {
  files: SaveDeps['files'] & HostDeps['files'];
  interrupts: Interrupts;
}

/** A bundle of an agent on this machine, outside of Kubernetes. @throws ExpectedError */
export async function collectFromHost(options: FromHostOptions, deps: Deps): Promise<Collected> {
  const {asked, insisted} = deps.interrupts;
  const over = anySignal(AbortSignal.timeout(options.timeoutMs), asked);
  const prepared = await prepare(options, {...deps, over}).catch(async (error: unknown) => {
    // Ctrl-C ends docker and journalctl too, and their end may be noticed first.
    await wait(SIGNAL_MS);
    throw asked.aborted ? interrupted(asked) : error;
  });
  // Before any log was read there is nothing to keep.
  if (asked.aborted) throw interrupted(asked);
  if (options.isDryRun) return {wanted: prepared};
  const {name, api} = prepared;
  return {...(await saveBundle(prepared, name, options, deps, {api, over, insisted})), asked};
}

function prepare({container, since}: FromHostOptions, deps: HostDeps & SaveDeps): Promise<HostPrepared> {
  const options = {since, now: deps.now()};
  return container === undefined ? prepareJournal(options, deps) : prepareDocker(container, options, deps);
}
