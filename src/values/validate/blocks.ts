import {isMap, isScalar, type Pair, parseDocument, type YAMLMap} from 'yaml';
import type {TreePath} from './finding.ts';

type Node = ReturnType<typeof parseDocument>['contents'];
type Block = YAMLMap & {range: [number, number, number]};

/**
 * Moves a key with everything below it, as whole lines: comments directly above are moved too, parent keys that become empty are
 * removed (with `keepsParents` only those that the new place does not need), and missing ones are added. Undefined if the lines contain other keys too.
 */
export function moveBlock(text: string, path: TreePath, to: readonly string[], {keepsParents = false} = {}): string | undefined {
  const {lines, join} = split(text);
  const common = path.findIndex((step, index) => step !== to[index]);
  const source = linesOf(lines, path, keepsParents ? common : 0);
  if (source === undefined) return undefined;
  const block = lines.splice(source.start, source.end - source.start);
  const place = placeIn(lines, to);
  if (place === undefined) return undefined;
  const missing = to.slice(place.depth, -1);
  const indent = (depth: number): string => ' '.repeat(place.column + 2 * depth);
  const name = /^(\s*)(?:"[^"]*"|'[^']*'|[^\s:]+)(?=\s*:(?:\s|$))/;
  const [moved, ...rest] = block.slice(source.key - source.start);
  if (moved === undefined || !name.test(moved)) return undefined;
  const shift = (line: string): string => (line.trim() === '' ? line : `${indent(missing.length)}${line.slice(source.column)}`);
  // Empty parent keys remain.
  const above = block
    .slice(0, source.key - source.start)
    .filter((line) => line.trim().startsWith('#'))
    .map(shift);
  const here = shift(moved).replace(name, (_, blank: string) => `${blank}${to.at(-1)}`);
  const gap = keepsParents ? gapAt(lines, place) : [];
  lines.splice(place.line, 0, ...gap, ...missing.map((key, depth) => `${indent(depth)}${key}:`), ...above, here, ...rest.map(shift));
  return join(lines);
}

/** The lines of a text, and how to join them again with the same line ends. */
function split(text: string): {lines: string[]; join(lines: readonly string[]): string} {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const lines = text.slice(mark.length).replace(/\r\n/g, '\n').split('\n');
  const isEnded = lines.at(-1) === '';
  if (isEnded) lines.pop();
  return {lines, join: (all) => `${mark}${all.join(eol)}${isEnded ? eol : ''}`};
}

/** Removes a key with everything below it and the comments directly above. Undefined if the lines contain other keys too. */
export function removeBlock(text: string, path: TreePath): string | undefined {
  const {lines, join} = split(text);
  const source = linesOf(lines, path);
  if (source === undefined) return undefined;
  lines.splice(source.start, source.end - source.start);
  return join(lines);
}

/** Adds the lines of a key behind the last key of the deepest map on the way. Undefined if that map is not in block style. */
export function insertBlock(text: string, path: readonly string[], block: readonly string[]): string | undefined {
  const {lines, join} = split(text);
  const place = placeIn(lines, path);
  if (place === undefined) return undefined;
  const missing = path.slice(place.depth, -1);
  const indent = (depth: number): string => ' '.repeat(place.column + 2 * depth);
  const added = [
    ...gapAt(lines, place),
    ...missing.map((key, depth) => `${indent(depth)}${key}:`),
    ...block.map((line) => (line === '' ? line : `${indent(missing.length)}${line}`)),
  ];
  lines.splice(place.line, 0, ...added);
  return join(lines);
}

/** An empty line above a new section of a file whose sections are apart. */
const gapAt = (lines: readonly string[], {depth}: {depth: number}): string[] =>
  depth === 0 && lines.includes('') && lines.at(-1) !== '' ? [''] : [];

interface Lines {
  /** First line with the comments above, line of the key that moves, line behind the block. */
  start: number;
  key: number;
  end: number;
  column: number;
}

/** The lines of the key, or of the highest key above it that holds nothing else; the first `kept` keys stay. */
function linesOf(lines: readonly string[], path: TreePath, kept = 0): Lines | undefined {
  const own = pairAt(lines, path);
  if (own === undefined) return undefined;
  const key = lineOf(lines, own.pair);
  let top = own;
  for (let length = path.length - 1; length > kept && top.parent.items.length === 1; length -= 1) {
    const above = pairAt(lines, path.slice(0, length));
    if (above === undefined) return undefined;
    top = above;
  }
  const first = lineOf(lines, top.pair);
  const column = columnOf(lines, own.pair);
  const isAlone = lines[first]?.slice(0, columnOf(lines, top.pair)).trim() === '' && lines[key]?.slice(0, column).trim() === '';
  if (!isAlone) return undefined;
  const end = endOf(lines, key, column);
  // What is between an emptied key and the one that moves would be lost.
  const comment = new RegExp(`^ {${column}}#`);
  if (first !== key && lines.slice(first, key).some((line) => line.includes('#') && !comment.test(line))) return undefined;
  let start = first;
  while (first === key && start > 0 && comment.test(lines[start - 1] ?? '')) start -= 1;
  return {start, key, end, column};
}

/** The line behind everything that is indented deeper; lists may stand at the same column as their key. */
function endOf(lines: readonly string[], key: number, column: number): number {
  let end = key + 1;
  for (let line = key + 1; line < lines.length; line += 1) {
    const text = lines[line] as string;
    if (text.trim() === '') continue;
    const own = text.search(/\S/);
    if (own < column || (own === column && !/^\s*-(\s|$)/.test(text))) break;
    end = line + 1;
  }
  return end;
}

interface Found {
  pair: Pair;
  parent: Block;
}

const parse = (lines: readonly string[]): Node =>
  parseDocument(lines.join('\n'), {version: '1.1', logLevel: 'silent', uniqueKeys: false}).contents;

function pairAt(lines: readonly string[], path: TreePath): Found | undefined {
  let node: unknown = parse(lines);
  let found: Found | undefined;
  for (const step of path) {
    if (!isMap(node) || node.flow) return undefined;
    const pair: Pair | undefined = node.items.find(({key}) => isScalar(key) && key.value === step);
    if (pair === undefined) return undefined;
    found = {pair, parent: node as Block};
    node = pair.value;
  }
  return found;
}

const offsetOf = ({key}: Pair): number => (key as {range: [number, number, number]}).range[0];
const before = (lines: readonly string[], pair: Pair): string[] => lines.join('\n').slice(0, offsetOf(pair)).split('\n');
const lineOf = (lines: readonly string[], pair: Pair): number => before(lines, pair).length - 1;
const columnOf = (lines: readonly string[], pair: Pair): number => before(lines, pair).at(-1)?.length ?? 0;

/** Behind the last key of the deepest map on the way that is there. */
function placeIn(lines: readonly string[], to: readonly string[]): {line: number; column: number; depth: number} | undefined {
  for (let depth = to.length - 1; depth > 0; depth -= 1) {
    const found = pairAt(lines, to.slice(0, depth));
    if (found === undefined) continue;
    const map = found.pair.value;
    // A key whose content has just moved away.
    if (isScalar(map) && map.value === null) {
      const [line, column] = [lineOf(lines, found.pair), columnOf(lines, found.pair)];
      return lines[line]?.trimEnd().endsWith(':') ? {line: line + 1, column: column + 2, depth} : undefined;
    }
    if (!isMap(map) || map.flow || map.items.length === 0) return undefined;
    const last = map.items.at(-1) as Pair;
    const column = columnOf(lines, last);
    return {line: endOf(lines, lineOf(lines, last), column), column, depth};
  }
  const root = parse(lines);
  if (root !== null && (!isMap(root) || root.flow)) return undefined;
  return {line: lines.length, column: 0, depth: 0};
}
