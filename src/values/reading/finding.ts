import {hideCredentials} from '../../ground/credentials.ts';
import {maskSecrets} from '../../ground/errors.ts';
import {keySoundsSecret, mayBeObject, variableSoundsSecret} from '../../ground/secret.ts';
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
  path.reduce<string>(
    (text, key) =>
      typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`,
    '',
  );

/** True if the dotted path is the other one or below it. */
export const isWithin = (path: string, above: string): boolean =>
  path === above ||
  (above !== '' && (path.startsWith(`${above}.`) || path.startsWith(`${above}[`)));

/** A finding with the position of its path, without secrets; severity error by default. What the message asks to be meant is its suggestion. */
export function findingAt(
  {locate, ...tree}: Pick<ValuesSource, 'locate'> & Partial<ValuesSource>,
  path: TreePath,
  code: string,
  text: string,
  {severity = 'error', suggestion, fix}: Details = {},
): ValuesFinding {
  const [, message = text, meant] = /^(.*) Did you mean (.*)\?$/s.exec(text) ?? [];
  const secrets = secretsAround(path, tree);
  const next = suggestion ?? meant;
  return {
    severity,
    code,
    path: hideCredentials(dotted(path)),
    ...locate(path),
    message: hide(message, secrets),
    ...(next === undefined ? {} : {suggestion: hide(next, secrets)}),
    ...(fix === undefined ? {} : {fix}),
  };
}

/** The value at a path through maps and lists. */
export const valueAt = (tree: Tree | undefined, path: TreePath): Tree | undefined =>
  path.reduce<Tree | undefined>(
    (node, key) =>
      (isMap(node) || Array.isArray(node)) && Object.hasOwn(node, key)
        ? (node as Values)[key]
        : undefined,
    tree,
  );

const HIDDEN = '[hidden]';

/** Every spelling that a message may use for the secrets at a path and below it. */
interface Secrets {
  texts: Set<string>;
  numbers: Set<number>;
}

/** A string that is only a placeholder is not a secret. */
const isPlaceholder = (text: string): boolean => /^(<[^<>]+>|\{\{[^{}]*\}\})$/.test(text);

/** Logs and reports of pipelines are kept, so findings do not contain the values of keys that sound secret. */
function secretsAround(path: TreePath, {values = {}, written}: Partial<ValuesSource>): Secrets {
  const secrets: Secrets = {texts: new Set(), numbers: new Set()};
  const collect = (tree: Tree, path: TreePath, isSecret: boolean): void => {
    const isScalar = typeof tree !== 'object' || tree === null;
    const isHidden = isSecret || (typeof tree === 'string' && isSecretPair(tree));
    if (isHidden && !(typeof tree === 'string' && isPlaceholder(tree))) {
      const spelled = isScalar ? (written?.(path) ?? String(tree)) : '';
      for (const text of [
        spelled,
        JSON.stringify(tree),
        ...(isScalar ? [String(tree), JSON.stringify(spelled).slice(1, -1)] : []),
      ])
        if (text !== '' && text !== '""' && text !== 'null') secrets.texts.add(text);
      if (typeof tree === 'number')
        for (const number of [tree, Number(spelled.replaceAll('_', ''))])
          secrets.numbers.add(number);
    }
    if (isScalar) return;
    for (const [key, below] of Object.entries(tree)) {
      const step = Array.isArray(tree) ? Number(key) : key;
      collect(below, [...path, step], isSecret || isSecretAt(tree, step, below));
    }
  };
  // The last key may be missing.
  let [tree, depth, isSecret]: [Tree, number, boolean] = [values, 0, false];
  for (const step of path) {
    if (!hasKey(tree, step)) break;
    const below = (tree as Values)[step] as Tree;
    isSecret ||= isSecretAt(tree, step, below);
    [tree, depth] = [below, depth + 1];
  }
  collect(tree, path.slice(0, depth), isSecret);
  return secrets;
}

const hasKey = (tree: Tree, key: string | number): boolean =>
  typeof tree === 'object' && tree !== null && Object.hasOwn(tree, key);

function isSecretAt(tree: Tree, key: string | number, below: Tree): boolean {
  if (typeof key === 'number') return false;
  const name = key === 'value' && isMap(tree) ? tree['name'] : undefined;
  return (
    (keySoundsSecret(key) && !(isMap(below) && mayBeObject(key))) ||
    (typeof name === 'string' && variableSoundsSecret(name))
  );
}

/** A key and its value that became one text for lack of a space or a colon. */
function isSecretPair(text: string): boolean {
  const [, key] = /^\s*([\w./-]+)\s*[:=\s]/.exec(text) ?? [];
  return key !== undefined && keySoundsSecret(key);
}

function hide(text: string, {texts, numbers}: Secrets): string {
  const longestFirst = [...texts].toSorted((one, other) => other.length - one.length);
  const pattern = longestFirst
    .map((each) => each.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('|');
  const hidden =
    texts.size === 0
      ? text
      : text.replaceAll(new RegExp(`(?<!\\w)(?:${pattern})(?!\\w)`, 'g'), HIDDEN);
  // A message may also hold a number as a template would print it.
  const isSecret = (word: string): boolean => numbers.has(Number(word.replaceAll('_', '')));
  return maskSecrets(
    hidden.replaceAll(/[-+]?\.?\d[\w+-]*(?:\.[\w+-]+)*/g, (word) =>
      isSecret(word) ? HIDDEN : word,
    ),
  );
}

/** A key whose value continues in indented lines. */
interface OpenKey {
  column: number;
  /** What is hidden of the lines below; `text` hides them only where they are no mapping. */
  hides: 'all' | 'text' | 'nothing';
  /** A `name` beside it names a secret variable, so its `value` is a secret. */
  isOfSecret: boolean;
}

/**
 * The lines of a values file without the values of keys that sound secret, because logs of pipelines are kept. Works by
 * line, because the file may be invalid YAML.
 */
export function linesWithoutSecrets(text: string): string[] {
  const open: OpenKey[] = [];
  return text.split(/\r\n?|\n|\u0085/).map((line) => {
    const [lead = '', dashes = ''] = /^\s*((?:- +|-$)*)/.exec(line) ?? [];
    const body = line.slice(lead.length);
    if (body === '' && dashes === '') return line;
    // A list item may start in the column of its key.
    const start = lead.length - dashes.length + (dashes === '' ? 0 : 0.5);
    const isComment = body.startsWith('#');
    const closed = isComment
      ? []
      : open.splice(open.findLastIndex(({column}) => column < start) + 1);
    const above = open.at(-1);
    const isKey = IS_KEY.test(body);
    if (
      above &&
      above.column < start &&
      (above.hides === 'all' || (above.hides === 'text' && !isKey))
    )
      return `${lead}${HIDDEN}`;
    // Neither key nor item: the rest of a value with the wrong indentation.
    if (
      dashes === '' &&
      !isKey &&
      !/^[\]}]/.test(body) &&
      closed.some(({hides}) => hides === 'all')
    ) {
      open.push({column: lead.length, hides: 'all', isOfSecret: false});
      return `${lead}${HIDDEN}`;
    }
    let isOfSecret =
      dashes === '' && closed.some((each) => each.column === lead.length && each.isOfSecret);
    const names = [...body.matchAll(/(?<![\w.-])name["']?\s*:\s*["']?([\w.-]+)/g)];
    isOfSecret ||= names.some(([, name = '']) => variableSoundsSecret(name));
    const {shown, hides} = hideInLine(body, isOfSecret);
    if (!isComment) open.push({column: lead.length, hides, isOfSecret});
    return maskSecrets(lead + shown);
  });
}

const IS_KEY = /^["']?[\w./-]+["']?\s*:(?:\s|$)/;
const OPENS_BLOCK = /^(?:[|>][-+\d]*)?\s*(?:#.*)?$/;
/** Empty values and placeholders are no secrets. */
const HARMLESS =
  /^(["']?)(?:|<[^<>"']+>|\{\{[^{}"']*\}\})\1\s*(?:#.*)?$|^(?:~|null|\[\]|\{\})\s*(?:#.*)?$/;

function hideInLine(body: string, isOfSecret: boolean): {shown: string; hides: OpenKey['hides']} {
  for (const {0: key, 1: name = '', index} of body.matchAll(
    /(?<![\w./-])([\w./-]+)["']?(?:\s*[:=]\s*|\s+)/g,
  )) {
    // Without a colon only the first word can be a key.
    if (
      (!/[:=]/.test(key) && index > 1) ||
      !(keySoundsSecret(name) || (isOfSecret && name === 'value'))
    )
      continue;
    const rest = body.slice(index + key.length);
    if (mayBeObject(name) && /^\{(?!\{)/.test(rest)) continue;
    if (OPENS_BLOCK.test(rest))
      return {shown: body, hides: mayBeObject(name) && !/^[|>]/.test(rest) ? 'text' : 'all'};
    return HARMLESS.test(rest)
      ? {shown: body, hides: 'nothing'}
      : {shown: `${body.slice(0, index + key.length)}${HIDDEN}`, hides: 'all'};
  }
  return {shown: body, hides: 'nothing'};
}
