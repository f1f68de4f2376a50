import {isMap, type Tree, type Values} from '../../ground/tree.ts';

/** Map keys and list indexes from the top of a file down. */
export type TreePath = readonly (string | number)[];

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
  /** error: Helm, Kubernetes or the agent fails, or the value silently does something else. */
  severity: 'error' | 'warning';
  code: string;
  /** Dotted, list items as [0]; empty for the whole file. */
  path: string;
  message: string;
  /** What to write instead. */
  suggestion?: string;
  fix?: Fix;
}

/** The optional parts of a finding; an undefined one is left out. */
export interface Details {
  severity?: ValuesFinding['severity'] | undefined;
  suggestion?: string | undefined;
  fix?: Fix | undefined;
}

/** A problem found while reading a file, at an offset of its text. */
export interface SourceProblem extends Details {
  offset: number;
  path?: TreePath;
  code: string;
  message: string;
}

/** `a.b[0].c` */
export const dotted = (path: TreePath): string =>
  path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`), '');

/** True if the dotted path is the other one or below it. */
export const isWithin = (path: string, above: string): boolean =>
  path === above || (above !== '' && (path.startsWith(`${above}.`) || path.startsWith(`${above}[`)));

/** A finding with the position of its path; severity error by default. What the message asks to be meant is its suggestion. */
export function findingAt(
  {locate}: Pick<ValuesSource, 'locate'>,
  path: TreePath,
  code: string,
  text: string,
  {severity = 'error', suggestion, fix}: Details = {},
): ValuesFinding {
  const [, message = text, meant] = /^(.*) Did you mean (.*)\?$/s.exec(text) ?? [];
  return {severity, code, path: dotted(path), ...locate(path), message, ...given({suggestion: suggestion ?? meant, fix})};
}

const given = ({suggestion, fix}: Details) => ({...(suggestion === undefined ? {} : {suggestion}), ...(fix === undefined ? {} : {fix})});

/** The value at a path through maps and lists. */
export const valueAt = (tree: Tree | undefined, path: TreePath): Tree | undefined =>
  path.reduce<Tree | undefined>(
    (node, key) => ((isMap(node) || Array.isArray(node)) && Object.hasOwn(node, key) ? (node as Values)[key] : undefined),
    tree,
  );
