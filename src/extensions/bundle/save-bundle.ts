import {untilAborted} from '../../ground/async.ts';
import {ExitCode, ExpectedError, failed, signalCode} from '../../ground/errors.ts';
import type {Archives, Files} from '../../ground/system/system.ts';
import type {PreparedBundle} from './collect/prepare.ts';
import {type Bundle, type WriteOptions, writeBundle} from './write-bundle.ts';

export interface SaveOptions extends WriteOptions {
  /** Output file; the default name contains namespace and time. */
  out?: string | undefined;
}

export interface SaveDeps {
  archives: Pick<Archives, 'create'>;
  files: Pick<Files, 'kindOf'>;
  now(): Date;
  onProgress(done: number, all: number): void;
  /** The template of the page. */
  template(): Promise<string>;
}

export interface SaveSignals {
  /** Stops reading; the data so far is kept. */
  signal: AbortSignal;
  /** Stops at once; nothing is kept. */
  forceQuit: AbortSignal;
}

/** What was collected: in a dry run, only the list of files. */
export type Collected = {kind: 'listed'; prepared: PreparedBundle} | CollectedBundle;

export interface CollectedBundle {
  kind: 'saved';
  file: string;
  bundle: Bundle;
  /** May have stopped the collection early. */
  interrupt: AbortSignal;
  /** How to grant missing read access. */
  access?: string | undefined;
}

/** Fails early if the bundle could not be saved later; leaves no files behind. @throws ExpectedError */
export async function refuseUnwritable(
  name: string,
  {out}: SaveOptions,
  {archives, files, now}: SaveDeps,
): Promise<void> {
  const file = out ?? fileFor(name, now());
  await refuseExisting(file, files);
  await (await archives.create(file)).abort();
}

/** Writes the bundle to a new file, completely or not at all. @throws ExpectedError */
export async function saveBundle(
  prepared: PreparedBundle,
  {out, ...options}: SaveOptions,
  {archives, files, now, onProgress, template}: SaveDeps,
  {signal, forceQuit}: SaveSignals,
): Promise<{file: string; bundle: Bundle}> {
  if (forceQuit.aborted) throw bundleInterrupted(forceQuit);
  const file = out ?? fileFor(prepared.name, now());
  await refuseExisting(file, files);
  const archive = await archives.create(file);
  try {
    const createArchive = () => archives.create(file);
    const deps = {archive, createArchive, template: await template(), now, onProgress, signal};
    const bundle = await untilAborted(writeBundle(prepared, options, deps), forceQuit);
    if (bundle === undefined) throw bundleInterrupted(forceQuit);
    return {file, bundle};
  } catch (error) {
    await archive.abort();
    throw error;
  }
}

const fileFor = (name: string, now: Date): string =>
  `scalr-agent-${name}-${now.toISOString().replace(/\.\d+|[:-]/g, '')}.zip`;

/** Never replaces a file. @throws ExpectedError */
export async function refuseExisting(
  file: string,
  files: SaveDeps['files'],
  flag = '--out',
): Promise<void> {
  if ((await files.kindOf(file)) === 'nothing') return;
  throw new ExpectedError(`${file} exists.`, {
    code: 'FILE_EXISTS',
    suggestions: [`Use another file name with ${flag}`],
    options: [{add: `${flag} FILE`, when: 'Write to another file'}],
  });
}

/** Exit code after this signal. */
export const signalExitCode = ({reason}: AbortSignal): ExitCode =>
  reason === 'SIGTERM' ? ExitCode.terminated : ExitCode.interrupted;

export const bundleInterrupted = (by: AbortSignal): ExpectedError =>
  failed(signalCode(by), 'Interrupted. No bundle was written.', [
    'Run the same command again',
    'To keep a partial bundle, press Ctrl-C only once while logs are read',
  ]);
