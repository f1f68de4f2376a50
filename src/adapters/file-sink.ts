import {randomBytes} from 'node:crypto';
import {type FileHandle, open, rename, rm, writeFile} from 'node:fs/promises';
import {basename, dirname, join, resolve} from 'node:path';
import {Writable} from 'node:stream';
import {removeAtDeath} from './remove-at-death.ts';

/** Room on the disk for what an archive needs to come to a valid end: what is under way, the manifest and the directory. */
const RESERVE = 2 * 1024 * 1024;
/** What is written together. */
const BATCH = 256 * 1024;
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** A file that gets its name only when it is whole. Emits `full` when the disk is: from then on it lives on its reserve. */
export class FileSink extends Writable {
  readonly path: string;
  /** Of the file, so far. */
  bytes = 0;
  readonly #handle: Pick<FileHandle, 'write' | 'sync' | 'close'>;
  readonly #reserve: string;
  readonly #letGo: () => void;
  #isFull = false;

  /** `letGo` is called when there is nothing left that somebody else would have to remove. */
  constructor(path: string, handle: Pick<FileHandle, 'write' | 'sync' | 'close'>, reserve: string, letGo: () => void = () => undefined) {
    super({highWaterMark: BATCH});
    this.path = path;
    this.#handle = handle;
    this.#reserve = reserve;
    this.#letGo = letGo;
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.#put(chunk).then(() => done(), done);
  }

  override _writev(chunks: readonly {chunk: Buffer}[], done: (error?: Error) => void): void {
    this._write(Buffer.concat(chunks.map(({chunk}) => chunk)), '', done);
  }

  override _final(done: (error?: Error) => void): void {
    this.#handle.sync().then(() => done(), done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#handle.close().then(
      () => done(error),
      (failure) => done(error ?? failure),
    );
  }

  /** It is whole. */
  async rename(path: string): Promise<void> {
    await rm(this.#reserve, {force: true});
    await rename(this.path, path);
    this.#letGo();
  }

  async remove(): Promise<void> {
    if (!this.closed) {
      const closed = new Promise((resolve) => void this.once('close', resolve));
      this.destroy();
      await closed;
    }
    await Promise.all([this.path, this.#reserve].map((path) => rm(path, {force: true})));
    this.#letGo();
  }

  async #put(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      try {
        const {bytesWritten} = await this.#handle.write(chunk, at, chunk.length - at);
        at += bytesWritten;
        this.bytes += bytesWritten;
      } catch (error) {
        if (this.#isFull || !FULL.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
        this.#isFull = true;
        await rm(this.#reserve, {force: true});
        this.emit('full', error);
      }
    }
  }
}

/** Beside where it will be, so that the rename is one step; nobody else may read it. */
export async function openSink(path: string): Promise<FileSink> {
  const hidden = join(resolve(dirname(path)), `.${basename(path)}.${randomBytes(4).toString('hex')}`);
  const [partial, reserve] = [`${hidden}.partial`, `${hidden}.reserve`];
  const handle = await open(partial, 'wx', 0o600);
  const sink = new FileSink(partial, handle, reserve, removeAtDeath([partial, reserve]));
  try {
    // Zeros would take no room on a disk that packs.
    await writeFile(reserve, randomBytes(RESERVE), {flag: 'wx', mode: 0o600});
    return sink;
  } catch (error) {
    await sink.remove();
    throw error;
  }
}
