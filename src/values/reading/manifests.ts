import {type Document, LineCounter, type Node} from 'yaml';
import type {KeyFinding} from '../../ground/finding.ts';
import {isMap, type Tree, type Values} from '../../ground/tree.ts';
import type {SourcePosition, SourceProblem} from './finding.ts';
import {type Read, readNode} from './helm-reader.ts';
import {findingOf, NO_MAPPING, sourceOfRead, type ValuesReading} from './source.ts';
import {type TreePath, valueAt} from './tree-path.ts';
import {syntaxProblem, TOO_DEEP} from './yaml-incompatibilities.ts';
import {isEmptyNode, type Locate, normalized, parseYaml, positionsOf} from './yaml-syntax.ts';

/** One YAML document of a file of another tool, read whole: an anchor in any part of it counts everywhere. */
export interface Manifest {
  tree: Tree;
  /** The tree, if it is a map. */
  values: Values;
  /** Where the key at a path is written. */
  locate(path: TreePath): SourcePosition;
  /** The map at a path as values of Helm, at its lines in the file. */
  valuesAt(path: TreePath): ValuesReading;
  /** The syntax, to edit the text. */
  node(path: TreePath): unknown;
}

/** The documents of a file; a file that no tool can read has a finding instead. */
export function readManifests(text: string): {manifests: Manifest[]; problem?: KeyFinding} {
  try {
    return readAll(normalized(text));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return {manifests: [], problem: findingOf(TOO_DEEP, () => ({line: 1, column: 1}))};
  }
}

function readAll(text: string): ReturnType<typeof readManifests> {
  const lines = new LineCounter();
  const documents = parseYaml(text, lines);
  const locate = positionsOf(lines);
  const manifests: Manifest[] = [];
  for (const document of documents) {
    const broken = syntaxProblem(text, document);
    if (broken) return {manifests: [], problem: findingOf(broken, locate)};
    if (isEmptyNode(document.contents)) continue;
    const reading = readNode(document.contents as Node);
    const [refusal] = reading.refusals;
    if (refusal) return {manifests: [], problem: findingOf(refusal, locate)};
    manifests.push(...itemsOf(manifestOf(document, {...reading, locate})));
  }
  return {manifests};
}

/** The objects of a List as kubectl prints it, or the object itself. */
function itemsOf(manifest: Manifest): Manifest[] {
  const {kind, items} = manifest.values;
  if (kind !== 'List' || !Array.isArray(items)) return [manifest];
  return items.flatMap((item, index) =>
    isMap(item) ? itemsOf(manifestBelow(manifest, ['items', index], item)) : [],
  );
}

/** A map inside of a document as a document of its own. */
const manifestBelow = (
  {locate, valuesAt, node}: Manifest,
  above: TreePath,
  values: Values,
): Manifest => ({
  tree: values,
  values,
  locate: (path) => locate([...above, ...path]),
  valuesAt: (path) => valuesAt([...above, ...path]),
  node: (path) => node([...above, ...path]),
});

interface DocumentReading {
  root: Read;
  problems: readonly SourceProblem[];
  locate: Locate;
}

function manifestOf(
  document: Document.Parsed,
  {root, problems, locate}: DocumentReading,
): Manifest {
  const whole = sourceOfRead(root, locate);
  const start = document.contents?.range?.[0] ?? 0;
  const positionOf = (path: TreePath): SourcePosition => whole.locate(path) ?? locate(start);
  return {
    tree: root.value,
    values: isMap(root.value) ? root.value : {},
    locate: positionOf,
    valuesAt(path) {
      const below = readAt(root, path);
      if (below === undefined || !isMap(below.value))
        return {findings: [findingOf(NO_MAPPING, () => positionOf(path))]};
      const source = sourceOfRead(below, locate);
      const own = problems.filter((each) => isBelow(each.path ?? [], path));
      const findings = own.map((each) =>
        findingOf({...each, path: (each.path ?? []).slice(path.length)}, locate, source),
      );
      return {source, findings};
    },
    node: (path) => document.getIn(path, true),
  };
}

const readAt = (root: Read, path: TreePath): Read | undefined =>
  path.reduce<Read | undefined>((read, key) => read?.below?.get(key)?.read, root);

const isBelow = (path: TreePath, above: TreePath): boolean =>
  above.every((key, index) => path[index] === key);

/** Values that no text holds, such as parameters. */
export const valuesWithout = (values: Values): ValuesReading => ({
  source: {
    values,
    locate: () => undefined,
    written(path) {
      const found = valueAt(values, path);
      return found === undefined || typeof found === 'object' ? undefined : String(found);
    },
  },
  findings: [],
});

/** An object of Kubernetes. */
export const isObject = ({values: {apiVersion, kind}}: Manifest): boolean =>
  typeof kind === 'string' && (typeof apiVersion === 'string' || KINDS.has(kind));

/** Kinds that some tools write without a version. */
const KINDS = new Set([
  'Kustomization',
  'HelmRelease',
  'HelmChart',
  'Application',
  'ApplicationSet',
]);
