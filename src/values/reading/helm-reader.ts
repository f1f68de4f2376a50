import {
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
import type {Details, SourceProblem, TreePath} from './finding.ts';

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
  kind?: Resolved['kind'];
}

/** `refusals` make Helm fail; Helm reads `problems` differently than they look. */
export interface HelmReading {
  root: Read;
  refusals: readonly SourceProblem[];
  problems: readonly SourceProblem[];
}

const NOTHING: Read = {value: null, written: ''};

/** Reads the tree as sigs.k8s.io/yaml does, which Helm uses: go-yaml 2 (a YAML 1.1 dialect), then JSON. */
export function readNode(contents: Node): HelmReading {
  const refusals: SourceProblem[] = [];
  const problems: SourceProblem[] = [];
  const anchors = new Map<string, Node>();
  /** Undefined while a node is being read: an alias to it would never end. */
  const reads = new Map<Node, {read: Read; size: number} | undefined>();
  let decoded = 1;
  let aliased = 0;
  let isBomb = false;

  const refuse = (node: Node, path: TreePath, code: string, message: string) =>
    refusals.push({offset: startOf(node), path, code, message});
  const report = (
    offset: number,
    path: TreePath,
    code: string,
    message: string,
    details: Details = {},
  ) => problems.push({offset, path, code, message, ...details});

  const invalid = (node: Node, path: TreePath, message: string): Read => {
    refuse(node, path, 'INVALID_YAML', message);
    return {value: null, written: isAlias(node) ? node.source : ''};
  };

  function read(node: unknown, path: TreePath, isKey = false): Read {
    decoded += 1;
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (!target)
        return invalid(node, path, `Unknown anchor ${node.source}, referenced by *${node.source}.`);
      const known = reads.get(target);
      if (!known) return invalid(node, path, `The value of anchor ${node.source} contains itself.`);
      decoded += known.size;
      aliased += known.size;
      if (isExcessive(aliased, decoded) && !isBomb) {
        isBomb = true;
        refuse(
          node,
          path,
          'YAML_ALIAS_LIMIT',
          'The file contains excessive aliasing, which Helm rejects.',
        );
      }
      return known.read;
    }
    if (!isMap(node) && !isSeq(node) && !isScalar(node)) return NOTHING;
    if (node.anchor !== undefined) {
      if (!/^[\w-]+$/.test(node.anchor))
        invalid(
          node,
          path,
          `Invalid anchor &${node.anchor}: only letters, digits, "_" and "-" are allowed.`,
        );
      anchors.set(node.anchor, node);
      reads.set(node, undefined);
    }
    const before = decoded;
    const result = isMap(node)
      ? map(node, path)
      : isSeq(node)
        ? list(node, path)
        : scalar(node, path, isKey);
    if (node.anchor !== undefined) reads.set(node, {read: result, size: decoded - before + 1});
    return result;
  }

  function scalar(node: Scalar, path: TreePath, isKey: boolean): Read {
    const written = textOf(node);
    const {kind, value} = resolveScalar(node);
    if (kind === undefined)
      refuse(node, path, 'INVALID_YAML', `Cannot decode "${written}" as ${shortTag(node.tag)}.`);
    else if (kind === 'float' && !Number.isFinite(value) && !isKey) {
      refuse(
        node,
        path,
        'NOT_FINITE',
        `Helm cannot read ${written}: JSON does not support this number.`,
      );
      return {value: null, written};
    }
    if (
      kind === 'int' &&
      !isKey &&
      node.type === 'PLAIN' &&
      isMisleadingOctal(written) &&
      !isMode(path)
    ) {
      const suggestion = `"${written}" or ${withoutZeros(written)}`;
      const message = `YAML reads ${written} as ${value}, because a leading 0 marks an octal number.`;
      report(startOf(node), path, 'OCTAL_NUMBER', message, {severity: 'warning', suggestion});
    }
    return {value: value as Tree, written};
  }

  function list(node: YAMLSeq, path: TreePath): Read {
    const below = new Map<number, ReadEntry>();
    node.items.forEach((item, index) => {
      below.set(index, {offset: startOf(item as Node), read: read(item, [...path, index])});
    });
    return {value: [...below.values()].map((entry) => entry.read.value), below};
  }

  function map(node: YAMLMap, path: TreePath): Read {
    const below = new Map<string, ReadEntry>();
    const own = new Set<string>();
    for (const pair of node.items) {
      if (isMergeKey(pair.key)) {
        merge(pair.key, pair.value, below, own, path);
        continue;
      }
      const {key, kind} = keyOf(pair.key, path);
      const offset = startOf((pair.key ?? pair.value ?? node) as Node);
      const entry = {offset, kind, read: read(pair.value, [...path, key ?? ''])};
      if (key === undefined) continue;
      if (own.has(key)) {
        const message = `Duplicate key ${key}: Helm silently uses the last one.`;
        report(offset, [...path, key], 'DUPLICATE_KEY', message);
      } else reportRandomChoice(below, key, entry, offset, path);
      own.add(key);
      below.set(key, entry);
    }
    return {value: valuesOf(below), below};
  }

  /** Two keys for go-yaml that are the same key in JSON. */
  function reportRandomChoice(
    below: ReadonlyMap<string, ReadEntry>,
    key: string,
    {kind}: ReadEntry,
    offset: number,
    path: TreePath,
  ): void {
    const other = below.get(key);
    if (other === undefined || other.kind === kind) return;
    const message = `Duplicate key ${key}, as ${kind} and as ${other.kind}: Helm uses either one at random.`;
    report(offset, [...path, key], 'DUPLICATE_KEY', message);
  }

  /** Against the YAML specification, a merge key overwrites keys above it; the first of several maps wins. */
  function merge(
    key: Scalar,
    value: unknown,
    below: Map<string, ReadEntry>,
    own: ReadonlySet<string>,
    path: TreePath,
  ): void {
    const merged = (isSeq(value) ? value.items : [value]).map((each) => ({
      isFit: isMap(targetOf(each)),
      read: read(each, [...path, '<<']),
    }));
    if (!merged.every(({isFit}) => isFit)) {
      invalid(key, path, 'The merge key << requires a mapping or a list of mappings.');
      return;
    }
    const incoming = new Map<string, ReadEntry>();
    for (const [name, entry] of merged
      .toReversed()
      .flatMap((each) => [...((each.read.below ?? new Map()) as Map<string, ReadEntry>)])) {
      reportRandomChoice(incoming, name, entry, startOf(key), path);
      incoming.set(name, entry);
    }
    const lost = [...incoming].find(
      ([each, {kind}]) => own.has(each) && below.get(each)?.kind === kind,
    )?.[0];
    if (lost !== undefined) {
      const suggestion = 'Move << to the top of the mapping';
      report(
        startOf(key),
        [...path, lost],
        'MERGE_OVERWRITES',
        `In Helm, the merge key << overwrites ${lost}, which is set above it.`,
        {
          suggestion,
        },
      );
    }
    for (const [name, entry] of incoming) {
      reportRandomChoice(below, name, entry, startOf(key), path);
      below.set(name, entry);
    }
  }

  const targetOf = (node: unknown): unknown => (isAlias(node) ? anchors.get(node.source) : node);

  /** JSON keys are always strings. */
  function keyOf(node: unknown, path: TreePath): {key: string | undefined; kind: Resolved['kind']} {
    const {value} = read(node, path, true);
    const target = targetOf(node);
    const {kind}: Pick<Resolved, 'kind'> = isScalar(target)
      ? resolveScalar(target)
      : {kind: isMap(target) || isSeq(target) ? undefined : 'null'};
    const written = isScalar(target) ? textOf(target) : '';
    const key =
      kind === 'int'
        ? intKey(written)
        : kind === 'float'
          ? floatKey(value as number)
          : kind === 'null'
            ? undefined
            : String(value);
    if (kind === undefined || key === undefined) {
      const what =
        kind === 'null'
          ? 'null'
          : kind === 'int'
            ? 'an integer this large'
            : isMap(target)
              ? 'a mapping'
              : 'a list';
      refuse(node as Node, path, 'INVALID_KEY', `A key cannot be ${what}.`);
      return {key: undefined, kind};
    }
    if (isScalar(target) && target.type === 'PLAIN' && kind !== 'string' && key !== written) {
      const suggestion = `"${written}"`;
      report(
        startOf(node as Node),
        [...path, key],
        'RENAMED_KEY',
        `YAML reads the key ${written} as ${key}.`,
        {suggestion},
      );
    }
    return {key, kind};
  }

  return {root: read(contents, []), refusals, problems};
}

const startOf = (node: Node | null | undefined): number => node?.range?.[0] ?? 0;
const valuesOf = (below: ReadonlyMap<string, ReadEntry>): Values =>
  Object.fromEntries([...below].map(([key, {read}]) => [key, read.value]));
/** File modes are octal on purpose. */
const isMode = (path: TreePath): boolean => /^(defaultMode|mode)$/.test(String(path.at(-1)));

/** go-yaml allows 99 % of a small file to come from aliases, and 10 % of a large one. */
function isExcessive(aliased: number, decoded: number): boolean {
  const allowed = Math.min(0.99, Math.max(0.1, 0.99 - (0.89 * (decoded - 400_000)) / 3_600_000));
  return aliased > 100 && decoded > 1000 && aliased / decoded > allowed;
}

const isMergeKey = (node: unknown): node is Scalar =>
  isScalar(node) && textOf(node) === '<<' && (isPlain(node) || node.tag === `${TAGS}merge`);

export const textOf = (node: Scalar): string => node.source ?? '';

export const TAGS = 'tag:yaml.org,2002:';
export const shortTag = (tag: string | undefined): string => (tag ?? '').replace(TAGS, '!!');

export const isPlain = (node: Scalar): boolean => node.tag === undefined && node.type === 'PLAIN';

export interface Resolved {
  kind: 'string' | 'null' | 'boolean' | 'int' | 'float' | undefined;
  value: string | number | boolean | null;
}

/** The type of a scalar by its tag, quotes and text; kind is undefined if tag and text disagree. */
export function resolveScalar(node: Scalar): Resolved {
  const text = textOf(node);
  const tag = shortTag(node.tag);
  if (isPlain(node)) return resolvePlain(text);
  if (tag === '!!binary')
    return {
      kind: isBase64(text) ? 'string' : undefined,
      value: Buffer.from(text, 'base64').toString(),
    };
  const desired = {'!!null': 'null', '!!bool': 'boolean', '!!int': 'int', '!!float': 'float'}[tag];
  if (tag === '!!timestamp')
    return {kind: /^\d{4}-\d\d?-\d\d?([Tt ].*)?$/.test(text) ? 'string' : undefined, value: text};
  if (desired === undefined) return {kind: 'string', value: text};
  const resolved = resolvePlain(text);
  if (resolved.kind === 'int' && desired === 'float') return {...resolved, kind: 'float'};
  return resolved.kind === desired ? resolved : {kind: undefined, value: null};
}

/** Go's decoder skips line breaks. */
const isBase64 = (text: string): boolean =>
  /^([\w+/]{4})*([\w+/]{3}=|[\w+/]{2}==)?$/.test(text.replaceAll(/[\r\n]/g, '')) &&
  !text.includes('_');

const WORDS: ReadonlyMap<string, Resolved> = new Map(
  (
    [
      ['y Y yes Yes YES true True TRUE on On ON', {kind: 'boolean', value: true}],
      ['n N no No NO false False FALSE off Off OFF', {kind: 'boolean', value: false}],
      ['~ null Null NULL', {kind: 'null', value: null}],
      ['.nan .NaN .NAN', {kind: 'float', value: Number.NaN}],
      ['.inf .Inf .INF +.inf +.Inf +.INF', {kind: 'float', value: Number.POSITIVE_INFINITY}],
      ['-.inf -.Inf -.INF', {kind: 'float', value: Number.NEGATIVE_INFINITY}],
    ] satisfies [string, Resolved][]
  ).flatMap(([words, resolved]) => words.split(' ').map((word) => [word, resolved])),
);

/** As go-yaml 2 does: a leading 0 is octal, _ is allowed between digits, no base 60, dates are strings. */
function resolvePlain(text: string): Resolved {
  if (text === '') return {kind: 'null', value: null};
  const word = WORDS.get(text);
  if (word) return word;
  if (!/^[-+.\d]/.test(text)) return {kind: 'string', value: text};
  const int = intOf(text);
  if (int !== undefined) return {kind: 'int', value: Number(int)};
  const digits = text.startsWith('.')
    ? text.replaceAll(/(?<=\d)_(?=\d)/g, '')
    : text.replaceAll('_', '');
  const float = /^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/.test(digits)
    ? Number(digits)
    : Number.NaN;
  return Number.isFinite(float) ? {kind: 'float', value: float} : {kind: 'string', value: text};
}

/** Go reads 64 bits, signed or unsigned. */
function intOf(text: string): bigint | undefined {
  const [, sign = '', digits] =
    /^([-+]?)(0[xX][\da-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9]\d*)$/.exec(
      /^[-+\d]/.test(text) ? text.replaceAll('_', '') : '',
    ) ?? [];
  if (digits === undefined) return undefined;
  const int = BigInt(sign === '-' ? -1 : 1) * BigInt(digits.replace(/^0[oO]?(?=[0-7])/, '0o'));
  return int >= -(2n ** 63n) && int < 2n ** (sign === '' ? 64n : 63n) ? int : undefined;
}

/** The decimal number that a misleading octal looks like. */
export const withoutZeros = (text: string): string =>
  text.replaceAll('_', '').replace(/^([-+]?)0+(?=\d)/, '$1');

export const isMisleadingOctal = (text: string): boolean =>
  /^[-+]?0[0-7_]+$/.test(text) && intOf(text) !== BigInt(withoutZeros(text).replace('+', ''));

/** Go has no map key for an integer above 63 bits. */
export function intKey(text: string): string | undefined {
  const int = intOf(text);
  return int !== undefined && int < 2n ** 63n ? String(int) : undefined;
}

/** A float as a map key: Go prints the shortest digits that give the same 32 bits. */
export function floatKey(value: number): string {
  const single = Math.fround(value);
  if (Number.isNaN(single)) return '.nan';
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf';
  const precision =
    [1, 2, 3, 4, 5, 6, 7, 8, 9].find(
      (digits) => Math.fround(Number(single.toPrecision(digits))) === single,
    ) ?? 9;
  return withGoExponent(single.toExponential(precision - 1));
}

/** From this number on, a template prints 1e+06 instead of 1000000. */
export const FIRST_EXPONENT = 1_000_000;

/** A number as templates print it. */
export const printedNumber = (value: number): string =>
  Object.is(value, -0) ? '-0' : withGoExponent(value.toExponential());

/** Go prints an exponent of two digits below 0.0001 and from a million on. */
function withGoExponent(number: string): string {
  const [digits, exponent = '0'] = number.split('e');
  const isShort = Number(exponent) >= -4 && Number(exponent) < 6;
  return isShort
    ? String(Number(number))
    : `${digits}e${exponent.replace(/^([-+])(\d)$/, '$10$2')}`;
}
