import {hideCredentials} from '../../ground/credentials.ts';
import type {Values} from '../../ground/tree.ts';
import {hideSecrets} from './hide-secrets.ts';
import {dotted, type TreePath} from './tree-path.ts';

/** Line and column are 1-based. `file` is set where several files are merged into one tree. */
export interface SourcePosition {
  file?: string;
  line: number;
  column: number;
}

/** A values file, or several merged ones: what Helm reads from it and where it is written. */
export interface ValuesSource {
  values: Values;
  /** The position of the key at the path, or of the deepest key above it. */
  locate(path: TreePath): SourcePosition | undefined;
  /** The text of a scalar as written, without its quotes. */
  written(path: TreePath): string | undefined;
  /** True if the value replaces one of an earlier file, which null does on purpose. */
  isOverride?(path: TreePath): boolean;
}

/** A source checked against one chart version, with what several checks need computed once. */
export interface ValidationContext extends ValuesSource {
  /** The values over the chart defaults, as the templates see them. */
  effective: Values;
  /** The settings these values stand for, by id. */
  settings: ReadonlyMap<string, unknown>;
}

/** The only correct fix: the scalar at `path` becomes `value`, its key is renamed to `name`, or both move `to` another place. */
export interface Fix {
  path: TreePath;
  value?: string | number | boolean;
  name?: string;
  to?: readonly string[];
}

/** Something wrong with a values file. The position is absent if something is missing. */
export interface ValuesFinding extends Partial<SourcePosition> {
  /** error: Helm, Kubernetes or the agent fails, or the value silently does something else. unknown: not checked. */
  severity: 'error' | 'warning' | 'unknown';
  code: string;
  /** Dotted, list items as [0]; empty for the whole file. */
  path: string;
  message: string;
  /** What to write instead. */
  suggestion?: string;
  fix?: Fix;
}

/** What is wrong, without its position. An error by default; undefined parts are left out. */
export interface Mistake {
  code: string;
  message: string;
  severity?: ValuesFinding['severity'] | undefined;
  suggestion?: string | undefined;
  fix?: Fix | undefined;
}

/** A mistake found while reading a file, at an offset of its text. */
export interface SourceProblem extends Mistake {
  offset: number;
  path?: TreePath;
}

/** A finding with the position of its path, without secrets. */
export function findingAt(
  source: Pick<ValuesSource, 'locate'> & Partial<ValuesSource>,
  path: TreePath,
  {severity = 'error', code, message, suggestion, fix}: Mistake,
): ValuesFinding {
  const hidden = (text: string): string => hideSecrets(text, path, source);
  return {
    severity,
    code,
    path: hideCredentials(dotted(path)),
    ...source.locate(path),
    message: hidden(message),
    ...(suggestion === undefined ? {} : {suggestion: hidden(suggestion)}),
    ...(fix === undefined ? {} : {fix}),
  };
}
