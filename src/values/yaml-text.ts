import {
  CST,
  type Document,
  isScalar,
  isMap as isYamlMap,
  type Pair,
  parseDocument,
  Scalar,
  stringify,
  type YAMLMap,
} from 'yaml';
import {
  copyOf,
  getAt,
  isMap,
  type Path,
  sameTree,
  setAt,
  startsWith,
  type Tree,
  type Values,
  withoutLeaves,
} from '../ground/tree.ts';
import type {Fix} from './reading/finding.ts';
import {isEmptyNode, readSource, SYNTAX} from './reading/source.ts';
import {type TreePath, valueAt} from './reading/tree-path.ts';

/** Replaces what is between two offsets of a text. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** The text with all edits, which must not overlap. */
export const applyEdits = (text: string, edits: readonly Edit[]): string =>
  edits
    .toSorted((one, other) => other.start - one.start)
    .reduce(
      (edited, {start, end, text: inserted}) =>
        edited.slice(0, start) + inserted + edited.slice(end),
      text,
    );

/** Writes another value into a scalar of a text, and keeps the comment behind it. Undefined if there is no scalar. */
export function scalarEdit(
  text: string,
  node: unknown,
  value: string | number | boolean,
): Edit | undefined {
  if (!isScalar(node) || !node.range) return undefined;
  const [start, end] = node.range;
  const style = {type: styleOf(value, node.type), indent: 0, implicitKey: true, inFlow: true};
  const comment = /^[|>][-+\d]*([^\n]*\n)/.exec(text.slice(start, end))?.[1] ?? '';
  const gap = start === end && text[start - 1] === ':' ? ' ' : '';
  return {
    start,
    end,
    text: `${gap}${CST.createScalarToken(String(value), style).source}${comment}`,
  };
}

/** A text keeps its quotes; without any it gets them where YAML 1.1 would read something else. */
function styleOf(value: string | number | boolean, style: Scalar['type']): Scalar.Type {
  if (typeof value !== 'string') return Scalar.PLAIN;
  const isPrintable = !/\p{Cc}/u.test(value);
  if (style === Scalar.QUOTE_SINGLE && isPrintable) return Scalar.QUOTE_SINGLE;
  const isPlain =
    isPrintable && stringify(value, {version: '1.1', lineWidth: 0}).trimEnd() === value;
  return style === Scalar.PLAIN && isPlain ? Scalar.PLAIN : Scalar.QUOTE_DOUBLE;
}

export const pairAt = (document: Document.Parsed, path: TreePath): Pair | undefined =>
  pairIn(document.getIn(path.slice(0, -1), true), path.at(-1));

const pairIn = (map: unknown, name: string | number | undefined): Pair | undefined =>
  isYamlMap(map) ? map.items.find(({key}) => isScalar(key) && key.value === name) : undefined;

/** A key in block style: where it is, what it holds, and how many keys its map has. */
interface Key {
  line: number;
  column: number;
  value: unknown;
  siblings: number;
}

/** Whole lines: the first one with the comments above, the one of the key, the one behind the block. */
interface Block {
  start: number;
  key: number;
  end: number;
  column: number;
}

/** A values file that is parsed once. Every edit gives another one, with all other bytes as they were, or undefined where it is not possible. */
export class YamlText {
  readonly text: string;
  readonly document: Document.Parsed;
  /** With their ends; a byte order mark is a line of its own. */
  readonly #lines: readonly string[];
  readonly #lineEnd: string;
  readonly #isEnded: boolean;

  /** The lines end as those of `origin` do. */
  constructor(text: string, origin?: YamlText) {
    this.#lineEnd = origin ? origin.#lineEnd : text.includes('\r\n') ? '\r\n' : '\n';
    this.#isEnded = origin ? origin.#isEnded : ENDED.test(text);
    this.#lines = (text.match(LINES) ?? []).map((line) =>
      ENDED.test(line) ? line : `${line}${this.#lineEnd}`,
    );
    this.text = origin && !this.#isEnded ? text.replace(/\r?\n$/, '') : text;
    this.document = parseDocument(text, SYNTAX);
  }

  #values?: Values | undefined;

  /** What Helm reads; undefined if it rejects the text. */
  get values(): Values | undefined {
    this.#values ??= readSource(this.text).source?.values;
    return this.#values;
  }

  /** Undefined if Helm would read more changes than this one, for example with a shared anchor. */
  fixed(fix: Fix): YamlText | undefined {
    const {path, value, name, to} = fix;
    const expected = this.values && valuesAfter(this.values, fix);
    if (expected === undefined) return undefined;
    const isChanged = value !== undefined && value !== valueAt(this.values, path);
    const edits = [
      isChanged ? scalarEdit(this.text, this.document.getIn(path, true), value) : undefined,
      name === undefined
        ? undefined
        : scalarEdit(this.text, pairAt(this.document, path)?.key, name),
    ].filter((each) => each !== undefined);
    const edited =
      to === undefined ? new YamlText(applyEdits(this.text, edits)) : this.moved(path, to);
    return edited && sameTree(edited.values, expected) ? edited : undefined;
  }

  /**
   * Moves a key with everything below it: comments directly above are moved too, parent keys that become empty are removed (with
   * `keepsParents` only those that the new place does not need), and missing ones are added. Undefined if its lines contain other keys too.
   */
  moved(path: TreePath, to: Path, {keepsParents = false} = {}): YamlText | undefined {
    const block = this.#block(
      path,
      keepsParents ? path.findIndex((step, index) => step !== to[index]) : 0,
    );
    if (block === undefined) return undefined;
    const [key = '', ...below] = this.#lines.slice(block.key, block.end);
    if (!NAME.test(key)) return undefined;
    const comments = this.#lines
      .slice(block.start, block.key)
      .filter((line) => line.trim().startsWith('#'));
    const lines = [
      ...comments,
      key.replace(NAME, (_, blank: string) => `${blank}${to.at(-1)}`),
      ...below,
    ];
    const shifted = lines.map((line) => (line.trim() === '' ? line : line.slice(block.column)));
    return this.#without(block).inserted(to, shifted, {isApart: keepsParents});
  }

  /** Removes a key with everything below it, the comments directly above, and parent keys that become empty. Undefined if its lines contain other keys too. */
  removed(path: TreePath): YamlText | undefined {
    const block = this.#block(path);
    return block && this.#without(block);
  }

  /** Adds the lines of a key behind the last key of the deepest map on the way. Undefined if that map is not in block style. */
  inserted(path: Path, block: readonly string[], {isApart = true} = {}): YamlText | undefined {
    const place = this.#placeFor(path);
    if (place === undefined) return undefined;
    const missing = path.slice(place.depth, -1);
    const indent = (line: string, depth: number): string =>
      line.trim() === '' ? line : `${' '.repeat(place.column + 2 * depth)}${line}`;
    // An empty line above a new section of a file whose sections are apart.
    const isGap =
      isApart &&
      place.depth === 0 &&
      this.#lines.some(isEmptyLine) &&
      !isEmptyLine(this.#lines.at(-1) ?? '');
    const lines = [
      ...(isGap ? [''] : []),
      ...missing.map((key, depth) => indent(`${key}:`, depth)),
      ...block.map((line) => indent(line, missing.length)),
    ];
    return this.#spliced(place.line, 0, lines);
  }

  #without({start, end}: Block): YamlText {
    return this.#spliced(start, end - start, []);
  }

  #spliced(start: number, count: number, added: readonly string[]): YamlText {
    const lines = added.map((line) => (line.endsWith('\n') ? line : `${line}${this.#lineEnd}`));
    return new YamlText(this.#lines.toSpliced(start, count, ...lines).join(''), this);
  }

  #keyOf({key, value}: Pair, {items}: YAMLMap): Key {
    const [offset] = (key as Scalar).range as [number, number, number];
    const before = this.text.slice(0, offset + 1).match(LINES) as string[];
    return {
      line: before.length - 1,
      column: (before.at(-1) as string).length - 1,
      value,
      siblings: items.length,
    };
  }

  /** The keys of a path, as far as they are in block style. */
  #keysOf(path: TreePath): Key[] {
    const keys: Key[] = [];
    let node: unknown = this.document.contents;
    for (const step of path) {
      const pair = pairIn(node, step);
      if (!pair || !isYamlMap(node) || node.flow) break;
      keys.push(this.#keyOf(pair, node));
      node = pair.value;
    }
    return keys;
  }

  /** The lines of the key, or of the highest key above it that holds nothing else; the first `kept` keys stay. */
  #block(path: TreePath, kept = 0): Block | undefined {
    const keys = this.#keysOf(path);
    let highest = path.length - 1;
    while (highest > kept && keys[highest]?.siblings === 1) highest -= 1;
    const own = keys[path.length - 1];
    const top = keys[highest];
    if (!own || !top) return undefined;
    const isAlone = [own, top].every(
      ({line, column}) => this.#lines[line]?.slice(0, column).trim() === '',
    );
    const comment = new RegExp(`^ {${own.column}}#`);
    // What is between an emptied key and the one that moves would be lost.
    const isLost = this.#lines
      .slice(top.line, own.line)
      .some((line) => line.includes('#') && !comment.test(line));
    if (!isAlone || isLost) return undefined;
    let start = top.line;
    while (top === own && comment.test(this.#lines[start - 1] ?? '')) start -= 1;
    return {start, key: own.line, end: this.#endOf(own), column: own.column};
  }

  /** The line behind everything that is indented deeper; lists may stand at the same column as their key. */
  #endOf({line, column}: Key): number {
    const below = new RegExp(`^\\s*$|^\\s{${column}}(?:\\s|-\\s)`);
    const next = this.#lines.findIndex((text, index) => index > line && !below.test(text));
    return (
      line +
      1 +
      this.#lines
        .slice(line, next < 0 ? undefined : next)
        .findLastIndex((text) => text.trim() !== '')
    );
  }

  /** Behind the last key of the deepest map on the way that is there. */
  #placeFor(path: Path): {line: number; column: number; depth: number} | undefined {
    const above = this.#keysOf(path.slice(0, -1));
    const depth = above.length;
    const parent = above.at(-1);
    const map = parent ? parent.value : this.document.contents;
    const block = isYamlMap(map) && !map.flow ? map : undefined;
    if (parent === undefined)
      return block || map === null ? {line: this.#lines.length, column: 0, depth} : undefined;
    // A key whose content has just moved away.
    if (isEmptyNode(map) && this.#lines[parent.line]?.trimEnd().endsWith(':'))
      return {line: parent.line + 1, column: parent.column + 2, depth};
    const last = block?.items.at(-1);
    const key = block && last && this.#keyOf(last, block);
    return key && {line: this.#endOf(key), column: key.column, depth};
  }
}

const LINES = /^\uFEFF|[^\n]*\n|[^\n]+/g;
const ENDED = /(?:\n|^\uFEFF?)$/;
const NAME = /^(\s*)(?:"[^"]*"|'[^']*'|[^\s:]+)(?=\s*:(?:\s|$))/;

const isEmptyLine = (line: string): boolean => /^\r?\n?$/.test(line);

/** Undefined if the path does not exist, or the new name or place is in use. */
function valuesAfter(values: Values, {path, value, name, to}: Fix): Values | undefined {
  const old = valueAt(values, path);
  if (old === undefined) return undefined;
  if (to !== undefined) return valuesAfterMove(values, path.map(String), to);
  const after = copyOf(values);
  const parent = valueAt(after, path.slice(0, -1)) as Values;
  const key = path.at(-1) as string;
  if (name !== undefined) {
    if (!isMap(parent) || Object.hasOwn(parent, name)) return undefined;
    delete parent[key];
  }
  setAt(parent, [name ?? key], value ?? old);
  return after;
}

/** Without the keys above the old place that held nothing else. */
function valuesAfterMove(values: Values, path: Path, to: Path): Values | undefined {
  const after = copyOf(withoutLeaves(values, (leaf) => startsWith(leaf, path)));
  const isBlocked = to
    .slice(1)
    .some((_, index) => !isMap(getAt(after, to.slice(0, index + 1)) ?? {}));
  if (isBlocked || getAt(values, to) !== undefined) return undefined;
  setAt(after, to, getAt(values, path) as Tree);
  return after;
}
