import {ExitCode, ExpectedError} from '../../errors.ts';
import type {ApiReader} from '../../kubernetes/client.ts';
import type {Archives} from '../../ports/archive.ts';
import type {Files} from '../../ports/files.ts';
import {type Bundle, writeBundle} from '../bundle.ts';
import type {Prepared} from '../prepare.ts';
import {interrupted} from './interrupted.ts';

/** What every door to a bundle is told. */
export interface SavingWish {
  /** The file; one with the name and the time in it unless told otherwise. */
  out?: string | undefined;
  /** What all logs may have together. */
  maxBytes: number;
}

export interface SavingWorld {
  archives: Pick<Archives, 'create'>;
  files: Pick<Files, 'kindOf'>;
  now(): Date;
  onProgress(done: number, all: number): void;
}

/** How the logs are read, and until when. */
interface Reading {
  api: Pick<ApiReader, 'stream'>;
  /** What has come until then is kept. */
  over: AbortSignal;
  /** Nothing is kept. */
  insisted: AbortSignal;
}

export interface Saved {
  file: string;
  bundle: Bundle;
}

/** Only what would be in it, with --dry-run; or the bundle, and the signal that may have ended it early. */
export type Collected = {wanted: Prepared} | (Saved & {asked: AbortSignal});

/** What could not be saved is not worth following for long: nothing is left of the try. @throws ExpectedError */
export async function refuseUnwritable(name: string, {out}: SavingWish, {archives, files, now}: SavingWorld): Promise<void> {
  const file = out ?? fileFor(name, now());
  await refuseTaken(file, files);
  await (await archives.create(file)).abort();
}

/** Writes what was prepared into a file that was not there before; whole, or not at all. @throws ExpectedError */
export async function saveBundle(
  prepared: Prepared,
  name: string,
  {out, maxBytes}: SavingWish,
  {archives, files, now, onProgress}: SavingWorld,
  {api, over, insisted}: Reading,
): Promise<Saved> {
  if (insisted.aborted) throw interrupted(insisted);
  const file = out ?? fileFor(name, now());
  await refuseTaken(file, files);
  const archive = await archives.create(file);
  try {
    const writing = writeBundle(prepared, name, maxBytes, {archive, now, onProgress, api, over});
    return {file, bundle: await Promise.race([writing, rejectedBy(insisted)])};
  } catch (error) {
    await archive.abort();
    throw error;
  }
}

const fileFor = (name: string, now: Date): string => `scalr-agent-${name}-${now.toISOString().replace(/\.\d+|[:-]/g, '')}.zip`;

/** Who asks twice does not want the bundle any more. */
const rejectedBy = (insisted: AbortSignal): Promise<never> =>
  new Promise((_, reject) => insisted.addEventListener('abort', () => reject(interrupted(insisted)), {once: true}));

async function refuseTaken(file: string, files: SavingWorld['files']): Promise<void> {
  if ((await files.kindOf(file)) === 'nothing') return;
  throw new ExpectedError(`${file} exists.`, {
    code: 'FILE_EXISTS',
    exit: ExitCode.usage,
    suggestions: ['Name another file with --out'],
  });
}
