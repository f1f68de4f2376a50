import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type {Tree, Values} from '../../ground/tree.ts';
import type {SourceProblem} from './finding.ts';
import {floatKey, intKey, isMisleadingOctal, withoutZeros} from './go-numbers.ts';
import {
  type GoScalar,
  isPlain,
  resolveScalar,
  type ScalarKind,
  shortTag,
  TAGS,
  textOf,
} from './go-scalars.ts';
import type {TreePath} from './tree-path.ts';

/** What Helm reads from a YAML node, and where the entries below it are written. */
export interface Read {
  value: Tree;
  /** The text of a scalar; absent for maps and lists. */
  written?: string;
  below?: ReadonlyMap<string | number, ReadEntry>;
}

/** `offset` is that of the key, or of the list item. */
export interface ReadEntry {
  offset: number;
  read: Read;
  /** The type of its key: go-yaml distinguishes 1 and "1", JSON does not. */
  kind?: ScalarKind | undefined;
}

type ReadEntries = Map<string, ReadEntry>;

/** `refusals` make Helm fail; Helm reads `problems` differently than they look. */
interface HelmReading {
  root: Read;
  refusals: readonly SourceProblem[];
  problems: readonly SourceProblem[];
}

/** Reads the tree as sigs.k8s.io/yaml does, which Helm uses: go-yaml 2 (a YAML 1.1 dialect), then JSON. */
export function readNode(contents: Node): HelmReading {
  const reader = new HelmYamlReader();
  const root = reader.read(contents, []);
  return {root, refusals: reader.refusals, problems: reader.problems};
}

const NOTHING: Read = {value: null, written: ''};

/** A node with an anchor. Without `read` while it is being read: an alias to it would never end. */
interface Anchored {
  node: Node;
  read?: {read: Read; size: number};
}

class HelmYamlReader {
  readonly refusals: SourceProblem[] = [];
  readonly problems: SourceProblem[] = [];
  readonly #anchors = new Map<string, Anchored>();
  /** Nodes that were read, and how many of them through aliases. */
  #decoded = 1;
  #aliased = 0;

  read(node: unknown, path: TreePath, isKey = false): Read {
    this.#decoded += 1;
    if (isAlias(node)) return this.#readAlias(node, path);
    if (!isMap(node) && !isSeq(node) && !isScalar(node)) return NOTHING;
    const {anchor} = node;
    if (anchor === undefined) return this.#readContent(node, path, isKey);
    if (!/^[\w-]+$/.test(anchor)) {
      const message = `Invalid anchor &${anchor}: only letters, digits, "_" and "-" are allowed.`;
      this.#refuse(node, path, message);
    }
    const anchored: Anchored = {node};
    this.#anchors.set(anchor, anchored);
    const before = this.#decoded;
    const read = this.#readContent(node, path, isKey);
    anchored.read = {read, size: this.#decoded - before + 1};
    return read;
  }

  #readContent(node: YAMLMap | YAMLSeq | Scalar, path: TreePath, isKey: boolean): Read {
    if (isMap(node)) return this.#readMap(node, path);
    return isSeq(node) ? this.#readList(node, path) : this.#readScalar(node, path, isKey);
  }

  #readAlias(node: Alias, path: TreePath): Read {
    const {source} = node;
    const anchored = this.#anchors.get(source);
    if (anchored?.read === undefined) {
      const message = anchored
        ? `The value of anchor ${source} contains itself.`
        : `Unknown anchor ${source}, referenced by *${source}. Define &${source} above this line, or quote the text: "*${source}".`;
      this.#refuse(node, path, message);
      return {value: null, written: source};
    }
    const {read, size} = anchored.read;
    this.#decoded += size;
    this.#aliased += size;
    const isKnown = this.refusals.some(({code}) => code === 'YAML_ALIAS_LIMIT');
    if (isExcessive(this.#aliased, this.#decoded) && !isKnown) {
      const message = 'The file contains excessive aliasing, which Helm rejects.';
      this.#refuse(node, path, message, 'YAML_ALIAS_LIMIT');
    }
    return read;
  }

  #readScalar(node: Scalar, path: TreePath, isKey: boolean): Read {
    const written = textOf(node);
    const {kind, value} = resolveScalar(node);
    if (kind === undefined)
      this.#refuse(node, path, `Cannot decode "${written}" as ${shortTag(node.tag)}.`);
    if (kind === 'float' && !Number.isFinite(value) && !isKey) {
      const message = `Helm cannot read ${written}: JSON does not support this number.`;
      this.#refuse(node, path, message, 'NOT_FINITE');
      return {value: null, written};
    }
    const isOctal = kind === 'int' && node.type === 'PLAIN' && isMisleadingOctal(written);
    if (isOctal && !isKey && !isMode(path))
      this.problems.push({
        offset: startOf(node),
        path,
        code: 'OCTAL_NUMBER',
        message: `YAML reads ${written} as ${value}, because a leading 0 marks an octal number.`,
        verdict: 'warning',
        suggestion: `"${written}" or ${withoutZeros(written)}`,
      });
    return {value: value as Tree, written};
  }

  #readList(node: YAMLSeq, path: TreePath): Read {
    const below = new Map<number, ReadEntry>();
    for (const [index, item] of node.items.entries())
      below.set(index, {offset: startOf(item), read: this.read(item, [...path, index])});
    return {value: [...below.values()].map(({read}) => read.value), below};
  }

  #readMap(node: YAMLMap, path: TreePath): Read {
    const below: ReadEntries = new Map();
    const own = new Set<string>();
    for (const pair of node.items) {
      if (isMergeKey(pair.key)) {
        const incoming = this.#readMerged(pair.key, pair.value, path);
        this.#reportOverwritten(pair.key, {incoming, below, own}, path);
        this.#addMerged(pair.key, incoming, below, path);
        continue;
      }
      const {key, kind} = this.#readKey(pair.key, path);
      const offset = startOf(pair.key ?? pair.value ?? node);
      const entry = {offset, kind, read: this.read(pair.value, [...path, key ?? ''])};
      if (key === undefined) continue;
      if (own.has(key)) {
        const message = `Duplicate key ${key}: Helm silently uses the last one.`;
        this.problems.push({offset, path: [...path, key], code: 'DUPLICATE_KEY', message});
      } else this.#reportRandomChoice(below.get(key), entry, [...path, key]);
      own.add(key);
      below.set(key, entry);
    }
    const values = [...below].map(([key, {read}]) => [key, read.value]);
    return {value: Object.fromEntries(values) as Values, below};
  }

  /** Two keys for go-yaml that are the same key in JSON. */
  #reportRandomChoice(other: ReadEntry | undefined, {kind, offset}: ReadEntry, path: TreePath) {
    if (other === undefined || other.kind === kind) return;
    const message = `Duplicate key ${path.at(-1)}, as ${kind} and as ${other.kind}: Helm uses either one at random.`;
    this.problems.push({offset, path, code: 'DUPLICATE_KEY', message});
  }

  /** The entries of the maps of a merge key; the first of several maps wins. */
  #readMerged(key: Scalar, value: unknown, path: TreePath): ReadEntries {
    const nodes = isSeq(value) ? value.items : [value];
    const maps = nodes.map((each) => ({
      isMap: isMap(this.#targetOf(each)),
      read: this.read(each, [...path, '<<']),
    }));
    const incoming: ReadEntries = new Map();
    if (maps.some((each) => !each.isMap)) {
      this.#refuse(key, path, 'The merge key << requires a mapping or a list of mappings.');
      return incoming;
    }
    for (const {read} of maps.toReversed())
      this.#addMerged(key, read.below as ReadEntries, incoming, path);
    return incoming;
  }

  #addMerged(key: Scalar, incoming: ReadEntries, below: ReadEntries, path: TreePath): void {
    for (const [name, entry] of incoming) {
      const placed = {...entry, offset: startOf(key)};
      this.#reportRandomChoice(below.get(name), placed, [...path, name]);
      below.set(name, entry);
    }
  }

  /** Against the YAML specification, a merge key overwrites keys above it. */
  #reportOverwritten(
    key: Scalar,
    {incoming, below, own}: {incoming: ReadEntries; below: ReadEntries; own: ReadonlySet<string>},
    path: TreePath,
  ): void {
    const lost = [...incoming].find(
      ([name, {kind}]) => own.has(name) && below.get(name)?.kind === kind,
    );
    if (lost === undefined) return;
    const [name] = lost;
    this.problems.push({
      offset: startOf(key),
      path: [...path, name],
      code: 'MERGE_OVERWRITES',
      message: `In Helm, the merge key << overwrites ${name}, which is set above it.`,
      suggestion: 'Move << to the top of the mapping',
    });
  }

  /** JSON keys are always strings. */
  #readKey(node: unknown, path: TreePath): {key: string | undefined; kind: GoScalar['kind']} {
    const {value} = this.read(node, path, true);
    const target = this.#targetOf(node);
    const kind = kindOfKey(target);
    const written = isScalar(target) ? textOf(target) : '';
    const key = keyText(kind, value, written);
    if (key === undefined) {
      const message = `A key cannot be ${whatKey(kind, target)}.`;
      this.#refuse(node, path, message, 'INVALID_KEY');
      return {key, kind};
    }
    if (isScalar(target) && target.type === 'PLAIN' && kind !== 'string' && key !== written)
      this.problems.push({
        offset: startOf(node),
        path: [...path, key],
        code: 'RENAMED_KEY',
        message: `YAML reads the key ${written} as ${key}.`,
        suggestion: `"${written}"`,
      });
    return {key, kind};
  }

  #targetOf(node: unknown): unknown {
    return isAlias(node) ? this.#anchors.get(node.source)?.node : node;
  }

  #refuse(node: unknown, path: TreePath, message: string, code = 'INVALID_YAML'): void {
    this.refusals.push({offset: startOf(node), path, code, message});
  }
}

const startOf = (node: unknown): number => (node as Node | null | undefined)?.range?.[0] ?? 0;

/** File modes are octal on purpose. */
const isMode = (path: TreePath): boolean => /^(defaultMode|mode)$/.test(String(path.at(-1)));

/** go-yaml allows 99 % of a small file to come from aliases, and 10 % of a large one. */
function isExcessive(aliased: number, decoded: number): boolean {
  const allowed = Math.min(0.99, Math.max(0.1, 0.99 - (0.89 * (decoded - 400_000)) / 3_600_000));
  return aliased > 100 && decoded > 1000 && aliased / decoded > allowed;
}

const isMergeKey = (node: unknown): node is Scalar =>
  isScalar(node) && textOf(node) === '<<' && (isPlain(node) || node.tag === `${TAGS}merge`);

/** Undefined for maps and lists, and for scalars that their tag does not fit. */
function kindOfKey(target: unknown): GoScalar['kind'] {
  if (isScalar(target)) return resolveScalar(target).kind;
  return isMap(target) || isSeq(target) ? undefined : 'null';
}

/** A key as JSON spells it; undefined for what Go does not accept as a key. */
function keyText(kind: GoScalar['kind'], value: Tree, written: string): string | undefined {
  if (kind === undefined || kind === 'null') return undefined;
  if (kind === 'int') return intKey(written);
  return kind === 'float' ? floatKey(value as number) : String(value);
}

function whatKey(kind: GoScalar['kind'], target: unknown): string {
  if (kind === 'null') return 'null';
  if (kind === 'int') return 'an integer this large';
  return isMap(target) ? 'a mapping' : 'a list';
}
