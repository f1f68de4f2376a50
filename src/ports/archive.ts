/** One file of an archive, as the manifest lists it. */
export interface Entry {
  name: string;
  /** Before compression. */
  bytes: number;
  sha256: string;
}

/** An archive that is being written. It gets its name when it is closed, and nothing is left of it when that fails. */
export interface Archive {
  /**
   * Adds one file. Several may be added at once: they are written one after another, and a source that is slow to begin does not hold up
   * the others. @throws ExpectedError when the file cannot be written
   */
  add(name: string, source: AsyncIterable<Buffer> | Buffer): Promise<Entry>;
  /** Adds the manifest, lets `check` read the archive back and gives it its name. What `check` throws is thrown. @throws ExpectedError */
  close(options: {manifest(entries: readonly Entry[]): string; check?(archive: OpenArchive): Promise<void>}): Promise<ClosedArchive>;
  /** Removes everything written so far. May be called twice. */
  abort(): Promise<void>;
}

export interface ClosedArchive {
  /** Size of the archive. */
  bytes: number;
  /** Sorted by name, without the manifest. */
  entries: readonly Entry[];
}

/** An archive that is being read; it may come from a stranger. */
export interface OpenArchive {
  /** Names and uncompressed sizes as the archive states them, in its own order. */
  entries: readonly {name: string; bytes: number}[];
  /** Content of one file, never more than its stated size. Several may be read at once. @throws ExpectedError when it is damaged or missing */
  read(name: string): AsyncIterable<Buffer>;
  close(): void;
}

export interface Archives {
  /** @throws ExpectedError when nothing can be written there */
  create(path: string): Promise<Archive>;
  /** @throws ExpectedError when the file is no archive, damaged or unsafe */
  open(path: string): Promise<OpenArchive>;
}
