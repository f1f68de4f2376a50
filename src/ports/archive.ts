/** What lies in an archive, as its manifest says it. */
export interface Entry {
  name: string;
  /** As they were before they were packed. */
  bytes: number;
  sha256: string;
  /** It ends before its source did: the disk was full, the source failed or the archive was closed. */
  isCut?: true;
}

/** The entry that names all others. */
export const MANIFEST = 'manifest.json';

/** Something small that is said at the end whatever happened before. */
export interface Last {
  name: string;
  text: string;
}

/** An archive that is being written; nobody sees it by its name before it is closed. */
export interface Archive {
  /**
   * Several may add at once: each is packed as it comes and written as a whole, so that a slow source holds up nobody; one that is too large
   * for that has the archive to itself from then on. Of a source that fails the entry keeps what came, and its error is thrown.
   * @throws ExpectedError when the disk is full; what was written so far can still be closed
   */
  add(name: string, source: AsyncIterable<Buffer> | Buffer): Promise<Entry>;
  /**
   * Cuts what is still being added, writes the `last` words and the manifest, also when the disk is full, lets `check` read all of it
   * back and gives it its name. What `check` throws is thrown, and the archive is removed. @throws ExpectedError
   */
  close(options: {
    last?: readonly Last[];
    manifest(entries: readonly Entry[]): string;
    check?(archive: OpenArchive): Promise<void>;
  }): Promise<ClosedArchive>;
  /** Nothing is left of it; also after it failed. */
  abort(): Promise<void>;
}

export interface ClosedArchive {
  bytes: number;
  /** By name, without the manifest. */
  entries: readonly Entry[];
}

/** An archive that is being read; perhaps somebody else made it. */
export interface OpenArchive {
  /** In the order of the archive's directory, with the sizes that it claims. Who reads them by where they lie goes through the file once. */
  entries: readonly {name: string; at: number; bytes: number; packedBytes: number}[];
  /** Several may be read at once. Larger than was claimed it does not get. @throws ExpectedError when it is damaged, or there is none of that name */
  read(name: string): AsyncIterable<Buffer>;
  close(): void;
}

export interface Archives {
  /** @throws ExpectedError when nothing can be written there */
  create(path: string): Promise<Archive>;
  /** @throws ExpectedError when it is none, is damaged, or nobody with good intentions would have made it */
  open(path: string): Promise<OpenArchive>;
}
