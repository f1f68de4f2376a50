import {type Document, isAlias, isMap, isNode, isPair, isScalar, isSeq, LineCounter, type Node, parseAllDocuments} from 'yaml';
import type {Values} from '../../charts/tree.ts';
import type {Finding, Place, TreePath} from './finding.ts';

/** A values file: what Helm reads from it, and where each key stands. */
export interface Source {
  values: Values;
  /** Where the key at the path stands, or the deepest key above it. */
  locate(path: TreePath): Place | undefined;
  /** The text of a scalar as it was written, without quotes being resolved. */
  written(path: TreePath): string | undefined;
}

/** Reads a file as Helm does (YAML 1.1, one mapping). `values` is absent where Helm would read none. */
export function readSource(text: string): {source?: Source; findings: Finding[]} {
  const lines = new LineCounter();
  // A byte order mark is no part of the content; Helm's reader drops it as well.
  const documents = parseAllDocuments(text.replace(/^\uFEFF/, ''), {version: '1.1', lineCounter: lines, logLevel: 'error'});
  if (!Array.isArray(documents) || documents.length === 0)
    return {
      findings: [fileFinding('EMPTY_FILE', 'warning', 'The file is empty: the release gets the defaults of the chart.')],
      source: sourceOf(undefined, lines),
    };
  const [document, second] = documents as Document.Parsed[];
  const findings = document?.errors.map((problem) => syntax(problem.message, problem.linePos?.[0])) ?? [];
  if (second)
    findings.push({
      ...fileFinding('SEVERAL_DOCUMENTS', 'error', 'The file holds several YAML documents, and Helm reads one.'),
      ...positionOf(second.range[0], lines),
    });
  if (findings.length > 0 || document === undefined) return {findings};
  const {contents} = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    return {
      source: sourceOf(undefined, lines),
      findings: [fileFinding('EMPTY_FILE', 'warning', 'The file is empty: the release gets the defaults of the chart.')],
    };
  }
  if (!isMap(contents)) return {findings: [fileFinding('NO_MAPPING', 'error', 'The file is no mapping of keys to values.')]};
  try {
    return {source: sourceOf(document, lines), findings};
  } catch (error) {
    // An alias without its anchor, or one that grows without end.
    return {findings: [fileFinding('INVALID_YAML', 'error', `${(error as Error).message}.`)]};
  }
}

const fileFinding = (code: string, severity: Finding['severity'], message: string): Finding => ({
  severity,
  code,
  path: '',
  line: 1,
  column: 1,
  message,
});

function syntax(message: string, position: {line: number; col: number} | undefined): Finding {
  const [first = message] = message.split('\n');
  const text = first.replace(/ at line \d+, column \d+:?$/, '');
  const isTwice = /unique/.test(text);
  return {
    severity: 'error',
    code: isTwice ? 'DUPLICATE_KEY' : 'INVALID_YAML',
    path: '',
    ...(position ? {line: position.line, column: position.col} : {}),
    message: isTwice ? 'The key stands twice in this mapping; Helm refuses the file.' : `${text}.`,
  };
}

function positionOf(offset: number, lines: LineCounter): {line: number; column: number} {
  const {line, col} = lines.linePos(offset);
  return {line, column: col};
}

function sourceOf(document: Document.Parsed | undefined, lines: LineCounter): Source {
  const nodeAt = (path: TreePath): {node: Node; at: Node} | undefined => {
    let node: unknown = document?.contents;
    let at: Node | undefined;
    for (const step of path) {
      const resolved: unknown = isAlias(node) && document ? node.resolve(document) : node;
      if (isMap(resolved)) {
        const pair = resolved.items.find((each) => isPair(each) && isScalar(each.key) && String(each.key.value) === String(step));
        if (!pair) return undefined;
        at = pair.key as Node;
        node = pair.value;
      } else if (isSeq(resolved)) {
        node = resolved.items[Number(step)];
        at = isNode(node) ? node : at;
      } else return undefined;
    }
    return at && isNode(node) ? {node, at} : undefined;
  };
  return {
    values: (document?.toJS() ?? {}) as Values,
    locate(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const offset = nodeAt(path.slice(0, length))?.at.range?.[0];
        if (offset !== undefined) return positionOf(offset, lines);
      }
      return undefined;
    },
    written(path) {
      const node = nodeAt(path)?.node;
      return isScalar(node) ? node.source : undefined;
    },
  };
}
