/** Flags with the path of an output file or directory. */
export type PlaceFlag = '--out' | '--save' | '--schema';

/** File operations. Paths are relative to the working directory. */
export interface Files {
  /** @throws ExpectedError if the file does not exist, is not readable or is too large */
  read(path: string): Promise<Buffer>;
  readStdin(): Promise<Buffer>;
  /** Type of the path; `stream` is a pipe or a device. */
  kindOf(path: string, flag?: PlaceFlag): Promise<'file' | 'stream' | 'directory' | 'broken-link' | 'nothing'>;
  /**
   * Writes atomically. An existing file is replaced and keeps its permissions, except that only the owner can read a
   * private file. `makesDirectory` creates a missing directory for the owner only. Errors suggest another path for `flag`. @throws ExpectedError
   */
  write(path: string, text: string, options: {isPrivate: boolean; makesDirectory?: boolean; flag?: PlaceFlag}): Promise<void>;
  /** Names in a directory; directories end with a slash. Empty if the directory cannot be read. */
  list(path: string): Promise<readonly string[]>;
  /** Removes the path if it exists. @throws ExpectedError */
  remove(path: string): Promise<void>;
}

/** What describes the values of a chart, as text. */
export interface ChartFiles {
  chart: string;
  values: string;
  schema?: string;
  templates: string;
}

/** Charts on the disk: a directory or an archive. */
export interface Charts {
  /** @throws ExpectedError if no chart is found */
  read(source: string): Promise<ChartFiles>;
  /** The archive that `pull` writes to a temporary directory, which is removed with the end of the program. */
  download(pull: (directory: string) => Promise<void>): Promise<string>;
}

/** One file of an archive, as the manifest lists it. */
export interface ArchiveEntry {
  name: string;
  /** Before compression. */
  bytes: number;
  sha256: string;
}

/** An archive while it is written. It gets its final name on close; a failure removes it. */
export interface Archive {
  /**
   * Adds one file. Concurrent calls are written one after another; a source that starts slowly does not block the
   * others. @throws ExpectedError if the file cannot be written
   */
  add(name: string, source: AsyncIterable<Buffer> | Buffer): Promise<ArchiveEntry>;
  /**
   * Adds the manifest, passes the archive to `check` and renames it. If `check` returns another archive that it wrote instead, this one
   * is removed. Rethrows errors of `check`. @throws ExpectedError
   */
  close(options: {
    manifest(entries: readonly ArchiveEntry[]): string;
    check?(archive: OpenArchive): Promise<ClosedArchive | undefined>;
  }): Promise<ClosedArchive>;
  /** Removes everything written so far. Can be called twice. */
  abort(): Promise<void>;
}

export interface ClosedArchive {
  bytes: number;
  /** Sorted by name, without the manifest. */
  entries: readonly ArchiveEntry[];
}

/** An archive while it is read. Its content is untrusted. */
export interface OpenArchive {
  /** Names and uncompressed sizes from the archive, in its order. */
  entries: readonly {name: string; bytes: number}[];
  /** Content of one file, at most its stated size. Files can be read concurrently. @throws ExpectedError if it is damaged or missing */
  read(name: string): AsyncIterable<Buffer>;
  close(): void;
}

export interface Archives {
  /** @throws ExpectedError if the path is not writable */
  create(path: string): Promise<Archive>;
  /** @throws ExpectedError if the file is not an archive, damaged or unsafe */
  open(path: string): Promise<OpenArchive>;
}
