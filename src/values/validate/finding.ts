/** Something wrong with a values file. Line and column are 1-based and absent where the finding is about something missing. */
export interface Finding {
  /** error: Helm, Kubernetes or the agent would fail, or the value would silently not do what it says. */
  severity: 'error' | 'warning';
  code: string;
  /** Dotted, list items as [0]; empty for the whole file. */
  path: string;
  line?: number;
  column?: number;
  message: string;
  /** What to write instead. */
  suggestion?: string;
}
