/** Flags that name where something is written. */
export type PlaceFlag = '--out' | '--save';

/** The disk, as far as the program touches it. Paths are relative to the working directory. */
export interface Files {
  /** @throws ExpectedError when there is no such file, it may not be read or is too large to be meant */
  read(path: string): Promise<Buffer>;
  /** Everything that arrives on standard input. */
  readStdin(): Promise<Buffer>;
  /** What lies at the path: a regular file, something to write into (a pipe, a device), or nothing. */
  kindOf(path: string, flag?: PlaceFlag): Promise<'file' | 'stream' | 'directory' | 'broken-link' | 'nothing'>;
  /**
   * Writes all or nothing; an existing file is replaced and keeps its permissions, except that nobody but the owner may
   * read a private one. The directory is made where that is wanted, for its owner alone. `flag` is what the operator names another place with. @throws ExpectedError
   */
  write(path: string, text: string, options: {isPrivate: boolean; makesDirectory?: boolean; flag?: PlaceFlag}): Promise<void>;
  /** Nothing is left at the path; what is not there need not be removed. @throws ExpectedError */
  remove(path: string): Promise<void>;
}
