/** Flags with the path of an output file or directory. */
export type PlaceFlag = '--out' | '--save';

/** File operations. Paths are relative to the working directory. */
export interface Files {
  /** @throws ExpectedError if the file does not exist, is not readable or is too large */
  read(path: string): Promise<Buffer>;
  /** All of standard input. */
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

/** The three files of a chart that describe its values, as text. */
interface ChartFiles {
  chart: string;
  values: string;
  schema?: string;
}

/** Charts on the disk: a directory or an archive. */
export interface Charts {
  /** @throws ExpectedError if no chart is found */
  read(source: string): Promise<ChartFiles>;
}
