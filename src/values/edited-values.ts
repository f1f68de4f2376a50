import {
  type Document,
  isMap,
  isScalar,
  type Pair,
  parseDocument,
  type Scalar,
  type ToStringOptions,
  visit,
  YAMLMap,
} from 'yaml';
import {isMap as isTreeMap, type Path, type Tree, type Values} from '../ground/tree.ts';
import {toYaml} from './document.ts';
import type {TreePath} from './reading/tree-path.ts';
import {isEmptyNode, normalized, SYNTAX} from './reading/yaml-syntax.ts';
import {styleOf} from './text-edits.ts';

/** A key with its comments and its value. */
export type KeyPair = Pair<Scalar, unknown>;

export const pairIn = (map: unknown, key: string | number | undefined): KeyPair | undefined =>
  isMap<Scalar>(map)
    ? map.items.find((pair) => isScalar(pair.key) && pair.key.value === key)
    : undefined;

/**
 * A values file as the tree of its syntax, which keeps comments, quotes, anchors and the order of keys. Its text has the indentation and the
 * line ends of the file; blanks before comments and several empty lines become one.
 */
export class EditedValues {
  readonly #document: Document.Parsed;
  readonly #original: string;
  readonly #text: string;

  constructor(text: string) {
    this.#original = text;
    this.#text = normalized(text);
    this.#document = parseDocument(this.#text, SYNTAX);
    visit(this.#document, {
      Map: (_, map) => {
        // In the syntax tree, a comment above the first key belongs to the map.
        moveComment(map, map.items[0]?.key);
      },
    });
    this.#separateHead();
  }

  /** What an empty line separates from the first key is about the file. */
  #separateHead(): void {
    const document = this.#document;
    const first = isMap<Scalar>(document.contents) ? document.contents.items[0]?.key : undefined;
    const paragraphs = first?.commentBefore?.split('\n\n') ?? [];
    const own = paragraphs.pop();
    if (first === undefined || paragraphs.length === 0) return;
    first.commentBefore = own as string;
    document.commentBefore = [document.commentBefore, ...paragraphs]
      .filter((each) => each)
      .join('\n\n');
  }

  /** Removes paragraphs of the comment about the file. */
  removeHead(isGone: (paragraph: string) => boolean): void {
    const document = this.#document;
    const paragraphs = document.commentBefore?.split('\n\n') ?? [];
    document.commentBefore = paragraphs.filter((each) => !isGone(each)).join('\n\n') || null;
  }

  /** Removes a key from its map. */
  take(path: TreePath): KeyPair | undefined {
    const map = this.#mapAt(path.slice(0, -1));
    const pair = pairIn(map, path.at(-1));
    if (map && pair) map.items.splice(map.items.indexOf(pair), 1);
    return pair;
  }

  /** Removes the maps above a key that have become empty, and returns their comments. */
  prune(path: TreePath, isKept: (above: TreePath) => boolean = () => false): string {
    const above = path.slice(0, -1);
    if (above.length === 0 || this.#mapAt(above)?.items.length !== 0 || isKept(above)) return '';
    const {key, value} = this.take(above) as KeyPair;
    const comments = [key.commentBefore, (value as YAMLMap).comment];
    return joined(this.prune(above, isKept), ...comments);
  }

  /** Puts a key at a path where nothing is yet. `comment` goes to the highest key that is added. False if it is not possible. */
  put(path: Path, pair: KeyPair, comment = ''): boolean {
    this.#document.contents ??= new YAMLMap() as YAMLMap.Parsed;
    let map: unknown = this.#document.contents;
    let highest: Scalar | undefined;
    for (const key of path.slice(0, -1)) {
      const known = pairIn(map, key);
      const below = known ?? this.#add(map, keyPair(key, new YAMLMap()));
      if (below === undefined) return false;
      if (isEmptyNode(below.value)) below.value = new YAMLMap();
      if (known === undefined) highest ??= below.key;
      map = below.value;
    }
    const name = path.at(-1) as string;
    if (pairIn(map, name) !== undefined) return false;
    setText(pair.key, name);
    const isAdded = this.#add(map, pair) !== undefined;
    const first = highest ?? pair.key;
    first.commentBefore = joined(comment, first.commentBefore);
    return isAdded;
  }

  /** Adds a comment above a key. */
  addComment(path: Path, comment: string): void {
    const key = pairIn(this.#mapAt(path.slice(0, -1)), path.at(-1))?.key;
    if (key && comment !== '') key.commentBefore = joined(key.commentBefore, comment);
  }

  /** Undefined if there is no map to add to. */
  #add(map: unknown, pair: KeyPair): KeyPair | undefined {
    if (!isMap(map)) return undefined;
    pair.key.spaceBefore = this.#isApart(map) && map.items.length > 0;
    map.items.push(pair);
    return pair;
  }

  /** The sections of a file that has empty lines are apart. */
  #isApart(map: YAMLMap): boolean {
    return map === this.#document.contents && /\n\n/.test(this.#text.trim());
  }

  /** Writes a value, and keeps the comment behind a scalar. */
  set(path: Path, value: Tree): void {
    const name = path.at(-1) as string;
    const fresh = parseDocument(toYaml({[name]: value}), SYNTAX).contents;
    const pair = pairIn(fresh, name) as KeyPair;
    const old = pairIn(this.#mapAt(path.slice(0, -1)), name);
    if (old === undefined) {
      this.put(path, pair);
      return;
    }
    if (isScalar(old.value) && isScalar(pair.value)) pair.value.comment = old.value.comment ?? null;
    old.value = pair.value;
  }

  /** Sorts the keys of all maps as they are in the values. */
  sort(order: Values, map: unknown = this.#document.contents): void {
    if (!isMap<Scalar>(map)) return;
    const names = Object.keys(order);
    const rank = ({key}: {key: Scalar}): number => names.indexOf(String(key.value));
    map.items.sort((one, other) => rank(one) - rank(other));
    for (const [index, {key, value}] of map.items.entries()) {
      if (map === this.#document.contents) key.spaceBefore = this.#isApart(map) && index > 0;
      const below = order[String(key.value)];
      if (isTreeMap(below)) this.sort(below, value);
    }
  }

  /** Undefined if the tree is no YAML, such as with an alias before its anchor. */
  print(): string | undefined {
    try {
      return this.#withEnds(this.#document.toString(layoutOf(this.#text)));
    } catch {
      return undefined;
    }
  }

  /** With the byte order mark and the line ends of the file. */
  #withEnds(printed: string): string {
    const original = this.#original;
    const mark = original.startsWith('\uFEFF') ? '\uFEFF' : '';
    const ended = original.endsWith('\n') ? printed : printed.trimEnd();
    return mark + (original.includes('\r\n') ? ended.replaceAll('\n', '\r\n') : ended);
  }

  #mapAt(path: TreePath): YAMLMap<Scalar> | undefined {
    const node = this.#document.getIn(path, true);
    return isMap<Scalar>(node) ? node : undefined;
  }
}

const layoutOf = (text: string): ToStringOptions => ({
  lineWidth: 0,
  indent: /^( +)[^\s#-]/m.exec(text)?.[1]?.length ?? 2,
  indentSeq: !/^( *)[^\s#-].*:[ \t]*\n\1- /m.test(text),
  flowCollectionPadding: /\{ /.test(text),
});

const keyPair = (key: string, value: YAMLMap): KeyPair => {
  const fresh = parseDocument(toYaml({[key]: {}}), SYNTAX).contents;
  const pair = pairIn(fresh, key) as KeyPair;
  pair.value = value;
  return pair;
};

/** All comments of a key whose value is no map. */
export const commentsOf = ({key, value}: KeyPair): string =>
  joined(key.commentBefore, isScalar(value) ? value.comment : '');

/** Comments below each other. */
const joined = (...comments: readonly (string | null | undefined)[]): string =>
  comments.filter((each) => each).join('\n');

function moveComment(from: {commentBefore?: string | null | undefined}, to: unknown): void {
  if (!from.commentBefore || !isScalar(to)) return;
  to.commentBefore = joined(from.commentBefore, to.commentBefore);
  from.commentBefore = null;
}

function setText(scalar: Scalar, text: string): void {
  scalar.value = text;
  scalar.type = styleOf(text, scalar.type);
}
