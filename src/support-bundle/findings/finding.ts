/** Something that support would look at first. */
export interface Finding {
  severity: 'error' | 'warning';
  code: string;
  /** What it is about: pod/name, release/name. */
  object: string;
  message: string;
  /** The file of the bundle where it can be seen. */
  evidence?: string;
  /** Of that file, 1-based. */
  line?: number;
  remedy: string;
}
