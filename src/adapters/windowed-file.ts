import {type FileHandle, open} from 'node:fs/promises';

/** What is read lies side by side, in parts that are far smaller: each would cost two changes of the thread. */
const WINDOW = 256 * 1024;
const PIECE = 64 * 1024;

/** A file that is read from many places, several at once. */
export class WindowedFile {
  readonly size: number;
  readonly #handle: FileHandle;
  #window: Buffer = Buffer.alloc(0);
  #from = 0;
  #loading: Promise<void> = Promise.resolve();

  static async open(path: string): Promise<WindowedFile> {
    const handle = await open(path);
    try {
      return new WindowedFile(handle, (await handle.stat()).size);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  private constructor(handle: FileHandle, size: number) {
    this.#handle = handle;
    this.size = size;
  }

  /** At most a window; less where the file ends. */
  async read(from: number, bytes: number): Promise<Buffer> {
    if (!this.#holds(from, bytes)) {
      const load = (): Promise<void> | undefined => (this.#holds(from, bytes) ? undefined : this.#load(from));
      // One that failed has told those who waited for it.
      this.#loading = this.#loading.catch(() => undefined).then(load);
      await this.#loading;
    }
    const at = from - this.#from;
    return this.#window.subarray(at, at + bytes);
  }

  /** Of what is large; not by way of the window. */
  async *pieces(from: number, bytes: number): AsyncGenerator<Buffer> {
    const end = from + bytes;
    for (let at = from; at < end; at += PIECE) yield await this.#readAt(at, Math.min(PIECE, end - at));
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  #holds(from: number, bytes: number): boolean {
    return from >= this.#from && from + bytes <= this.#from + this.#window.length;
  }

  async #load(from: number): Promise<void> {
    this.#window = await this.#readAt(from, WINDOW);
    this.#from = from;
  }

  async #readAt(position: number, bytes: number): Promise<Buffer> {
    const {buffer, bytesRead} = await this.#handle.read(Buffer.allocUnsafe(bytes), 0, bytes, position);
    return buffer.subarray(0, bytesRead);
  }
}
