import type {Path, Tree} from '../../charts/tree.ts';

/** Keys and list indexes from the top of a file downwards. */
export type TreePath = readonly (string | number)[];

/** Where something stands; line and column are 1-based. `file` is there when several files make one tree. */
export interface Place {
  file?: string;
  line: number;
  column: number;
}

/** The one right answer, where there is exactly one: the value at `path` becomes `value`, and moves to `to`. */
export interface Fix {
  path: TreePath;
  value?: Tree;
  to?: Path;
}

/** Something wrong with a values file. Place is absent where the finding is about something missing. */
export interface Finding extends Partial<Place> {
  /** error: Helm, Kubernetes or the agent would fail, or the value would silently not do what it says. */
  severity: 'error' | 'warning';
  code: string;
  /** Dotted, list items as [0]; empty for the whole file. */
  path: string;
  message: string;
  /** What to write instead. */
  suggestion?: string;
  fix?: Fix;
}

/** `a.b[0].c` */
export const dotted = (path: TreePath): string =>
  path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`), '');
