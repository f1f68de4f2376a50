import {hideCredentials} from '../../ground/credentials.ts';
import type {Edit, KeyFinding, KeySubject, Verdict} from '../../ground/finding.ts';
import type {Values} from '../../ground/tree.ts';
import {hideSecrets} from './hide-secrets.ts';
import {dotted, type TreePath} from './tree-path.ts';

/** Line and column are 1-based. `file` is set where several files are merged into one tree. */
export type SourcePosition = Omit<KeySubject, 'path' | 'line' | 'column'> &
  Required<Pick<KeySubject, 'line' | 'column'>>;

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

/** Tells findings apart whose positions and texts can differ. */
export const codeAndKey = ({code, subject}: KeyFinding): string => `${code} ${subject.path}`;

/** What is wrong, without its position. An error by default; undefined parts are left out. */
export interface Mistake {
  code: string;
  message: string;
  verdict?: Verdict | undefined;
  /** What to write instead. */
  suggestion?: string | undefined;
  /** The only correct change. */
  fix?: Edit | undefined;
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
  {verdict = 'error', code, message, suggestion, fix}: Mistake,
): KeyFinding {
  const hidden = (text: string): string => hideSecrets(text, path, source);
  return {
    code,
    verdict,
    subject: {path: hideCredentials(dotted(path)), ...source.locate(path)},
    message: hidden(message),
    remedies: suggestion === undefined ? [] : [{text: hidden(suggestion), edit: fix}],
  };
}
