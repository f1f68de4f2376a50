import {LineCounter} from 'yaml';
import {
  decryptCommand,
  type Encryption,
  encryptionOf,
  refuseEncrypted,
} from '../../ground/encryption.ts';
import {failed} from '../../ground/errors.ts';
import type {KeyFinding} from '../../ground/finding.ts';
import {isMap, setAt, type Tree, type Values} from '../../ground/tree.ts';
import {quote} from '../../settings/settings.ts';
import {findingAt, type SourceProblem, type ValuesSource} from './finding.ts';
import {type Read, type ReadEntry, readNode} from './helm-reader.ts';
import {type TreePath, valueAt} from './tree-path.ts';
import {findIncompatibility, placeholderAt, TOO_DEEP} from './yaml-incompatibilities.ts';
import {isEmptyNode, type Locate, normalized, parseYaml, positionsOf} from './yaml-syntax.ts';

export type ValuesReading = {source?: ValuesSource; findings: KeyFinding[]};

/** Reads a file as Helm does. `source` is absent if Helm rejects the file, or Helm 3 and Helm 4 read it differently. */
export function readSource(text: string): ValuesReading {
  try {
    return readText(normalized(text));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return {findings: [findingOf(TOO_DEEP, () => ({line: 1, column: 1}))]};
  }
}

function readText(text: string): ValuesReading {
  const lines = new LineCounter();
  const locate = positionsOf(lines);
  const refused = (problem: SourceProblem): ValuesReading => ({
    findings: [findingOf(problem, locate)],
  });
  const [document, ...others] = parseYaml(text, lines);
  const encryption = encryptionOf(text);
  if (encryption) return refused(encrypted(encryption, text));
  const empty: ValuesReading = {
    source: sourceOfRead(undefined, locate),
    findings: [findingOf(EMPTY, locate)],
  };
  const incompatibility = findIncompatibility(text, document);
  if (incompatibility) return refused(incompatibility);
  const later = others.find(({contents, errors}) => errors.length > 0 || !isEmptyNode(contents));
  if (later) return refused({...SEVERAL, offset: later.range[0]});
  if (!document?.contents) return empty;
  const {root, refusals, problems} = readNode(document.contents);
  const source = sourceOfRead(root, locate);
  if (refusals.length > 0) {
    const findings = refusals.map((each) => {
      const placeholder = placeholderAt(text, each.offset);
      return findingOf({...each, ...placeholder}, locate, source);
    });
    return {findings};
  }
  if (root.value === null) return empty;
  return isMap(root.value)
    ? {source, findings: problems.map((each) => findingOf(each, locate, source))}
    : refused(NO_MAPPING);
}

const encrypted = (encryption: Encryption, text: string): SourceProblem => ({
  offset: Math.max(0, text.search(encryption.pattern)),
  code: 'ENCRYPTED_FILE',
  message: `The file is encrypted with ${encryption.name}, so nothing in it was checked.`,
  suggestion: `Check the decrypted values: ${decryptCommand(encryption)} | scalr-agent validate -`,
});

const EMPTY: SourceProblem = {
  offset: 0,
  verdict: 'warning',
  code: 'EMPTY_FILE',
  message: 'The file is empty, so the release uses the chart defaults.',
};
export const NO_MAPPING = {
  offset: 0,
  code: 'NO_MAPPING',
  message: 'The file must contain a mapping of keys to values.',
};
const SEVERAL = {
  code: 'SEVERAL_DOCUMENTS',
  message:
    'The file contains several YAML documents. Helm 3 reads only the first; Helm 4 merges those after ---.',
};

export const findingOf = (
  {offset, path = [], ...mistake}: SourceProblem,
  locate: Locate,
  source?: ValuesSource,
): KeyFinding => findingAt({...source, locate: () => locate(offset)}, path, mistake);

/** What Helm reads from a node and its positions. */
export function sourceOfRead(root: Read | undefined, locate: Locate): ValuesSource {
  const entriesOf = (path: TreePath): ReadEntry[] => {
    const entries: ReadEntry[] = [];
    let below = root?.below;
    for (const step of path) {
      const entry = below?.get(String(step)) ?? below?.get(Number(step));
      if (!entry) break;
      entries.push(entry);
      below = entry.read.below;
    }
    return entries;
  };
  return {
    values: (root?.value ?? {}) as Values,
    locate(path) {
      const offset = entriesOf(path).at(-1)?.offset;
      return offset === undefined ? undefined : locate(offset);
    },
    written(path) {
      const entries = entriesOf(path);
      return entries.length === path.length ? entries.at(-1)?.read.written : undefined;
    },
  };
}

export interface Layer {
  file: string;
  source: ValuesSource;
}

/**
 * Merges files as Helm does, the last one winning: maps merge, everything else replaces. A null stays, because it
 * deletes the chart default too, and not only the value of an earlier file.
 */
export function mergeSources(sources: readonly Layer[]): ValuesSource {
  const layers = sources.toReversed();
  return {
    values: sources.reduce<Values>((merged, {source}) => merge(merged, source.values), {}),
    locate(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const above = path.slice(0, length);
        const writer = writerOf(layers, above);
        const position = writer?.source.locate(above);
        if (writer && position) return {...position, file: writer.file};
      }
      return undefined;
    },
    written: (path) => writerOf(layers, path)?.source.written(path),
    isOverride: (path) =>
      sources.some(({source}) => (valueAt(source.values, path) ?? null) !== null),
  };
}

function merge(base: Values, override: Values): Values {
  const merged = {...base};
  for (const [key, value] of Object.entries(override)) {
    const below = Object.hasOwn(merged, key) ? merged[key] : undefined;
    setAt(merged, [key], isMap(value) && isMap(below) ? merge(below, value) : value);
  }
  return merged;
}

/** The last file that has the path, unless a later one replaces something above it. */
function writerOf(layers: readonly Layer[], path: TreePath): Layer | undefined {
  // Where all steps up to the missing one are maps, earlier files count too.
  const writer = layers.find(({source}) => {
    const {exists, deepest} = lookUp(source.values, path);
    return exists || !isMap(deepest);
  });
  return writer && lookUp(writer.source.values, path).exists ? writer : undefined;
}

function lookUp(values: Values, path: TreePath): {exists: boolean; deepest: Tree} {
  let deepest: Tree = values;
  for (const key of path) {
    if (!(isMap(deepest) || Array.isArray(deepest)) || !Object.hasOwn(deepest, key))
      return {exists: false, deepest};
    deepest = (deepest as Values)[key] as Tree;
  }
  return {exists: path.length > 0, deepest};
}

/** The values of several files as Helm reads and merges them, the last one winning. @throws ExpectedError */
export function readLayers(
  files: readonly {file: string; text: string; read?: ValuesReading}[],
): Values {
  return mergeSources(
    files.map(({file, text, read}) => {
      refuseEncrypted(
        file,
        text,
        (decrypt) => `Use the decrypted content in its place: <(${decrypt})`,
      );
      const {source, findings} = read ?? readSource(text);
      if (source) return {file, source};
      const [first] = findings;
      throw failed(
        'UNREADABLE_FILE',
        `${file === '-' ? 'Standard input' : file}, line ${first?.subject.line ?? 1}: ${first?.message}`,
        [`List all findings: scalr-agent validate ${quote(file)}`],
      );
    }),
  ).values;
}
