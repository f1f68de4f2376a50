const NONE: Buffer = Buffer.alloc(0);

/** One source, read piece by piece, that can be left at any moment: also while it says nothing. */
export class Reading {
  /** It was left before its end, or failed. */
  isCut = false;
  error: unknown;
  /** Nothing more will come, whichever way it ended. */
  isOver = false;
  /** Of a piece that found not enough room. */
  #left = NONE;
  readonly #iterator: AsyncIterator<Buffer>;
  #leave: () => void = () => undefined;

  constructor(source: AsyncIterable<Buffer>) {
    this.#iterator = source[Symbol.asyncIterator]();
  }

  /** Undefined at the end, whichever that is. */
  async next(): Promise<Buffer | undefined> {
    if (this.isOver) return undefined;
    try {
      // A race with one long promise would keep a trace of every piece.
      const result = await new Promise<IteratorResult<Buffer> | undefined>((resolve, reject) => {
        this.#leave = () => resolve(undefined);
        this.#iterator.next().then(resolve, reject);
      });
      if (result !== undefined && !result.done) return result.value;
    } catch (error) {
      this.isCut = true;
      this.error = error;
    }
    this.isOver = true;
    return undefined;
  }

  /** The pieces until there are so many bytes of them, or no more. */
  async upTo(bytes: number): Promise<Buffer[]> {
    const pieces: Buffer[] = [];
    for (let size = 0; size < bytes; ) {
      const piece = await this.next();
      if (piece === undefined) break;
      pieces.push(piece);
      size += piece.length;
    }
    return pieces;
  }

  /** As many of the next bytes as find room, where they lie until the room is used again; less only at the end. */
  async into(room: Buffer): Promise<Buffer> {
    let filled = 0;
    while (filled < room.length) {
      if (this.#left.length === 0) this.#left = (await this.next()) ?? NONE;
      if (this.#left.length === 0 && this.isOver) break;
      const copied = this.#left.copy(room, filled);
      this.#left = this.#left.subarray(copied);
      filled += copied;
    }
    return room.subarray(0, filled);
  }

  cut(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.isCut = true;
    this.#leave();
    // One that hangs hears of it when it wakes up.
    this.#iterator.return?.()?.catch(() => undefined);
  }
}
