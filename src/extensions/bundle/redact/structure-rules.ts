import {matchAt} from '../../../ground/token-shapes.ts';
import {isCode, isErrorText, isHarmless, isObjectName, isProse, looksStrong} from './harmless.ts';
import {isDescription, keyKind} from './key-names.ts';
import {type Budget, type Extent, NOTHING, type RedactionRule} from './rule.ts';
import {openingBefore, type Scalar, scalarsOf, slashesBefore} from './structure.ts';

/** Not in the middle of a longer key; an escape before it is a line break. */
const beginsKey = (text: string, at: number): boolean =>
  !/[\w.-]/.test(text.charAt(at - 1)) || /\\[nrt]$/.test(text.slice(at - 2, at));

const IS_KEY = /\\*["']?[ \t]*(?:[:=]|=>)[ \t]*/y;
const QUOTE_NEXT = /[^\n"]{0,40}?(\\*)"/y;

/** Every scalar of the object around a key, and the string nesting depth there; undefined if it is not a key. */
function objectAround(
  text: string,
  {start, end}: Extent,
  budget: Budget,
): {scalars: Scalar[]; open: number} | undefined {
  if (matchAt(IS_KEY, text, end) === undefined) return undefined;
  const isQuoted = text.charAt(start - 1) === '"';
  const depth = isQuoted
    ? slashesBefore(text, start - 1)
    : (matchAt(QUOTE_NEXT, text, end)?.[1]?.length ?? 0);
  const at = isQuoted ? start - 1 - depth : start;
  const open = openingBefore(text, at, depth, budget) ?? fragmentBefore(text, at);
  return open === undefined ? undefined : {scalars: scalarsOf(text, open, budget), open};
}

/** Lines of JSON before a place, of an object whose bracket is missing. */
const FRAGMENT = /(?:^|\n)((?:[ \t]*"[\w@./-]{1,64}"[ \t]*:[^\n{}[\]]{0,300}\n?){0,8}[ \t]*)$/;
const LONGEST_FRAGMENT = 1200;

function fragmentBefore(text: string, at: number): number | undefined {
  if (text.charAt(at) !== '"') return undefined;
  const before = FRAGMENT.exec(text.slice(Math.max(0, at - LONGEST_FRAGMENT), at))?.[1];
  return before === undefined ? undefined : at - before.length;
}

const hidden = (found: readonly Entry[]): readonly Extent[] =>
  found.filter(({value}) => !isHarmless(value));
/** A value with its place. */
interface Entry extends Extent {
  value: string;
}

const isBelow = ({path}: Scalar, parent: readonly string[]): boolean =>
  parent.every((key, index) => path[index] === key);
const lastPart = (text: string): string => /[^/.:]*$/.exec(text)?.[0] ?? text;
const isSecretName = (name: string): boolean =>
  keyKind(name.replace(/\W+$/, '')) === 'secret' || /^secret$|^word$/.test(keyKind(lastPart(name)));

/** What a mark of Terraform is about: a field of the same object. */
const MARKED: Readonly<Record<string, string>> = {
  sensitive_values: 'values',
  before_sensitive: 'before',
  after_sensitive: 'after',
  sensitive_attributes: 'attributes',
  sensitive: 'value',
};

/** Values that Terraform marks as sensitive but prints: plan and state in JSON, outputs, variables. */
export const marked: RedactionRule = {
  name: 'output',
  anchors: [
    'sensitive_values',
    'before_sensitive',
    'after_sensitive',
    'sensitive_attributes',
    'sensitive',
  ],
  find(text, anchor, {budget}) {
    const mark = text.slice(anchor.start, anchor.end);
    const about = MARKED[mark];
    const isKey = text.charAt(anchor.start - 1) === '"';
    if (
      about === undefined ||
      !isKey ||
      MARKS_NOTHING.test(text.slice(anchor.end, anchor.end + 24))
    )
      return NOTHING;
    const {scalars = []} = objectAround(text, anchor, budget) ?? {};
    const marks = scalars.filter(({path}) => path[0] === mark);
    const paths = mark === 'sensitive_attributes' ? attributePaths(marks) : markedPaths(marks);
    return hidden(
      scalars.filter((scalar) => paths.some((path) => isBelow(scalar, [about, ...path]))),
    );
  },
};

const MARKS_NOTHING = /^\\*"[ \t]*:[ \t]*(?:false|\{\s*\}|\[\s*\])/;

/** In a state, a mark is the path to a value: a list of steps, each with a type and a value. */
function attributePaths(marks: readonly Scalar[]): string[][] {
  const items = new Set(marks.map(({path}) => path[1]));
  return [...items].map((item) =>
    marks.filter(({path}) => path[1] === item && path.at(-1) === 'value').map(({value}) => value),
  );
}

/** In a plan, a mark stands where the value stands. */
const markedPaths = (marks: readonly Scalar[]): string[][] =>
  marks.filter(({value}) => value === 'true').map(({path}) => path.slice(1));

const IS_MARKED = new Set(['sensitive', 'masked', 'secret', 'is_secret', 'secure', 'hidden']);
const NAME_KEYS =
  /^(?:@?id|self|href|\w*(?:ur[il]|name|label|slug|macro|field|title|key|path|variable|header|parameter|property|option|secretid))$/i;
const VALUE_KEY = /^(?:\w*(?:value|val|content)|secretstring|payload|default|traversal|key)$/i;

/** An object with the name of a secret and its value, in any order: variables, parameters, outputs, diagnostics. */
export const named: RedactionRule = {
  name: 'variable',
  anchors: [
    'value',
    'val"',
    'val\\',
    'content"',
    'content\\',
    'secretstring',
    'payload',
    'default',
    'traversal',
    'key',
  ],
  onlyOutside: true,
  find(text, anchor, {budget}) {
    const word = keyAt(text, anchor);
    const key = text.slice(word.start, word.end);
    if (!VALUE_KEY.test(key) || /[.-]/.test(text.charAt(word.start - 1))) return NOTHING;
    const around = objectAround(text, word, budget);
    if (around === undefined) return NOTHING;
    const {scalars, open} = around;
    const own = scalars.filter(({path}) => path.length === 1);
    if (key === 'traversal') return valueOfTraversal(own);
    const place = text.slice(Math.max(0, open - 512), open);
    const isSecret =
      key === 'key' ? OF_TYPE.test(place) : own.some(isSecretMark) || isSecretPlace(place);
    return isSecret ? hidden(scalars.filter(({path: [field = '']}) => field === key)) : NOTHING;
  },
};

/** A diagnostic of Terraform: the path of a variable, and in its statement `is "…"` the value. */
function valueOfTraversal(own: readonly Scalar[]): readonly Extent[] {
  const traversal = own.find(({path}) => path[0] === 'traversal')?.value ?? '';
  const statement = own.find(({path}) => path[0] === 'statement');
  const [, before = '', value = ''] = /^(is \\*")(.*?)\\*"$/.exec(statement?.value ?? '') ?? [];
  const start = (statement?.start ?? 0) + before.length;
  const isSecret = isSecretName(traversal) && value !== '' && !isHarmless(value);
  return isSecret ? [{start, end: start + value.length}] : NOTHING;
}

/** A field that tells that the value of its object is secret: its name, its mark or its type. */
const isSecretMark = ({path: [field = ''], value}: Scalar): boolean =>
  (NAME_KEYS.test(field) && (isSecretName(value) || OF_SECRET.test(value))) ||
  (IS_MARKED.has(field.toLowerCase()) && value === 'true') ||
  value === 'SecureString' ||
  (field === 'type' && value === 'password');

/** The type of an object in its attributes: `"type": "api_keys", "attributes": {`, and keys of cfssl. */
const OF_TYPE =
  /"type\\*": ?\\*"\w*(?:key|token|secret)s?\\*",[^{}]{0,200}$|"auth_keys\\*": ?\{[^}]{0,300}$/;
/** The path of a secret in an API, with its version. */
const OF_SECRET =
  /(?:^|\/)(?:secrets|credentials)\/[\w.-]{1,128}(?:\/(?:versions\/)?\w{0,64})?(?:\?|$)/;
/** Before the answer of a vault, or what is written to it. */
const VAULT = /(?:\.vault\.azure\.net|(?:PUT|POST) \S*)\/secrets\/[^{]{0,400}$/;

/** The key of an object is the name of a secret, or it is the answer of a vault. */
function isSecretPlace(before: string): boolean {
  const [key = ''] =
    /[\w.-]{1,128}(?=\\*["']?[ \t]*[:=]?[ \t\r\n]*$)/.exec(before.slice(-160)) ?? [];
  return isSecretName(key) || VAULT.test(before);
}

/** Types of resources, and which of their attributes are secret. */
const RESOURCES: readonly (readonly [type: RegExp, secret: RegExp])[] = [
  [
    /random_(?:string|password|id|uuid|bytes)$/,
    /^(?:id|result|hex|dec|b64_?\w*|base64|bcrypt_hash)$/,
  ],
  [/kubernetes_secret(?:_v\d)?(?:_data)?$/, /^(?:data|binary_data)(?:_wo)?$/],
  [
    /(?:ssm_parameter|_secret(?:_version)?|_secret_v\d|_variable|_secrets?_\w+|_generic_secret)$/,
    /^(?:value|insecure_value|secret_string|secret_data|plaintext_value|encrypted_value|data_json|content_base64)(?:_wo)?$/,
  ],
];
/** The id of a resource, in a message and in an event of `-json`. */
const IDENTIFIED =
  /[\w.[\]"\\-]{0,200}: [^\n[]{0,80}\[id=([^\]\s]{1,512})\]|\\*"[^\n{}]{0,400}\}[^\n{}]{0,200}?"id_value\\*": ?\\*"([^"\\]{1,512})/dy;
/** Where its attributes open: in a block of a plan, or in a field of JSON. */
const ATTRIBUTES =
  /^\\*"(?:[ \t]+\\*"[\w-]{1,64}\\*"){0,2}[ \t]*\{|\\*"(?:attributes|values|before|after)\\*"[ \t]*:[ \t\r\n]*\{/;

/** Attributes of resources that are secret by their type: in plans, in states, and in the ids of random values. */
export const resources: RedactionRule = {
  name: 'resource',
  anchors: ['random_', 'kubernetes_secret', 'ssm_parameter', '_secret', '_variable'],
  onlyOutside: true,
  find(text, anchor, {budget}) {
    const {start, end} = wordAround(text, anchor);
    const type = text.slice(start, end);
    const secret = RESOURCES.find(([expression]) => expression.test(type))?.[1];
    if (secret === undefined) return NOTHING;
    const id = type.startsWith('random_') ? idAfter(text, end) : undefined;
    if (id !== undefined) return isHarmless(text.slice(id.start, id.end)) ? NOTHING : [id];
    if (text.charAt(start - 1) !== '"' || budget.isSpent) return NOTHING;
    const attributes = ATTRIBUTES.exec(text.slice(end, end + 1500));
    budget.spend(attributes === null ? 1500 : attributes.index);
    if (attributes === null) return NOTHING;
    const open = end + attributes.index + attributes[0].length - 1;
    return hidden(scalarsOf(text, open, budget).filter(({path}) => secret.test(path[0] ?? '')));
  },
};

/** The key that an anchor is part of; an escape before it is a line break. */
function keyAt(text: string, anchor: Extent): Extent {
  const {start, end} = wordAround(text, {start: anchor.start, end: anchor.start});
  const isEscaped = start < anchor.start && /\\[nrt]$/.test(text.slice(start - 1, start + 1));
  return {start: isEscaped ? start + 1 : start, end};
}

function wordAround(text: string, {start, end}: Extent): Extent {
  let first = start;
  let last = end;
  while (start - first < 64 && /\w/.test(text.charAt(first - 1))) first -= 1;
  while (last - end < 64 && /\w/.test(text.charAt(last))) last += 1;
  return {start: first, end: last};
}

function idAfter(text: string, at: number): Extent | undefined {
  const [, message, event] = matchAt(IDENTIFIED, text, at)?.indices ?? [];
  const [start, end] = message ?? event ?? [];
  return start === undefined || end === undefined ? undefined : {start, end};
}

const MAP_OPENS = /\\*["']?[ \t]*:[ \t]*\{/y;
const BLOCK_OPENS = /:[ \t]*(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)/y;
/** A line of a block: its indentation and its text. */
const BLOCK_LINE =
  /([ \t]*)((?:(?!(?:\\{1,8}r)?\\{1,8}n)[^\n\r]){0,4096})(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n|$)?/y;

interface Line extends KeyedEntry {
  isItem: boolean;
}

/** Values of the lines below a key, which are indented more or are items of a list. */
function linesBelow(text: string, at: number, column: number, budget: Budget): Line[] {
  const found: Line[] = [];
  const most = budget.isSpent ? 3 : 500;
  for (let from = at; found.length < most; ) {
    const line = matchAt(BLOCK_LINE, text, from);
    if (line === undefined) break;
    const [all, indent = '', content = ''] = line;
    const isItem = indent.length === column && /^- /.test(content);
    if (all === '' || (content.trim() !== '' && indent.length <= column && !isItem)) break;
    const [head = '', key = ''] =
      /^(?:- +)*(?:\\*["']?([\w.@/-]{1,128})\\*["']?:(?:[ \t]+|$))?(?:[|>][-+]?$)?\\*["']?/.exec(
        content,
      ) ?? [];
    const value = content.slice(head.length).replace(/\\*["'][,}\]]{0,4}$|[ \t,]+$/, '');
    const start = from + indent.length + head.length;
    if (value !== '' && !value.startsWith('#'))
      found.push({key, start, end: start + value.length, value, isItem: content.startsWith('- ')});
    from += all.length;
    budget.spend(2 * all.length);
  }
  return found;
}

/** Every value below `data:` and `stringData:` of a printed Secret. */
export const printedSecret: RedactionRule = {
  name: 'secret object',
  anchors: ['data', 'stringdata'],
  find(text, anchor, {budget}) {
    const {start, end} = anchor;
    if (!beginsKey(text, start)) return NOTHING;
    if (text.charAt(start - 1) === '"' && matchAt(MAP_OPENS, text, end) !== undefined) {
      const {scalars = []} = objectAround(text, anchor, budget) ?? {};
      return valuesOfSecret(scalars, text.slice(start, end));
    }
    const opens = matchAt(BLOCK_OPENS, text, end);
    if (opens === undefined || budget.isSpent) return NOTHING;
    budget.spend(8192);
    const [before = ''] = documentsIn(text.slice(Math.max(0, start - 4096), start)).slice(-1);
    const indent = /(?:^|\n|\\n|")([ \t]*)$/.exec(before)?.[1];
    if (indent === undefined) return NOTHING;
    const lines = linesBelow(text, end + opens[0].length, indent.length, budget);
    const past = lines.at(-1)?.end ?? end;
    const [after = ''] = documentsIn(text.slice(past, past + 4096));
    const kind = new RegExp(`(?:^|\\n|\\\\n|")${indent}kind: Secret(?:\\s|\\\\|"|$)`);
    return kind.test(before) || kind.test(after) ? hidden(lines) : NOTHING;
  },
};

/** Documents of YAML, also in a string. */
const documentsIn = (text: string): string[] => text.split(/^---|\\n---/m);

function valuesOfSecret(scalars: readonly Scalar[], field: string): readonly Extent[] {
  const isSecret = scalars.some(
    ({path, value}) => path.length === 1 && path[0] === 'kind' && value === 'Secret',
  );
  return isSecret
    ? hidden(scalars.filter(({path}) => path[0] === field && path.length === 2))
    : NOTHING;
}

/** A value with its key; items of a list have an empty one. */
interface KeyedEntry extends Entry {
  key: string;
}

/** What is secret in a list or a map below a secret key. */
export function secretsBelow(found: readonly KeyedEntry[], key: string): readonly Extent[] {
  const isPassword = /pass|pwd/i.test(key);
  const isSecret = (value: string): boolean =>
    isPassword ? !isErrorText(value) : isSecretItem(value);
  return found.filter(
    ({key: own, value}) =>
      !isHarmless(value) && !isCode(value) && !isDescription(own) && isSecret(value),
  );
}

const isSecretItem = (value: string): boolean =>
  !/^\w+:\/\//.test(value) &&
  (looksStrong(value) ||
    /^[0-9a-f]{20,}$/i.test(value) ||
    (!isProse(value) && !isObjectName(value) && /\d/.test(value) && value.length > 5));

/** An opening bracket, also of a literal of Go: `[]string{`, `map[string]string{`, `&Config{`. */
const BRACKET =
  /(?:[a-z]\w{0,20}\([ \t\r\n]{0,40})?(?:[&*a-zA-Z][&*\w.]{0,40}(?=[[{])(?:\[\w{0,20}\][\w.*]{0,40}(?=\{))?|\[\][\w.*]{1,40}(?=\{))?[[{]/y;
const LINE_ENDS = /[ \t]{0,16}(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)/y;

/** The list or map that opens at a position, or the lines below it; `column` is the indentation of the key. */
export function collectionAt(
  text: string,
  at: number,
  column: () => number | undefined,
  budget: Budget,
): readonly KeyedEntry[] {
  if (text.startsWith('[redacted', at)) return [];
  const bracket = matchAt(BRACKET, text, at)?.[0];
  if (bracket !== undefined) {
    const scalars = scalarsOf(text, at + bracket.length - 1, budget);
    return scalars.map((scalar) => ({...scalar, key: keyOf(scalar)}));
  }
  const opens = matchAt(LINE_ENDS, text, at)?.[0];
  const own = opens === undefined ? undefined : column();
  if (opens === undefined || own === undefined) return [];
  const lines = linesBelow(text, at + opens.length, own, budget);
  return lines.length === 1 ? lines : lines.filter(({key, isItem}) => key !== '' || isItem);
}

function keyOf({path}: Scalar): string {
  return path.findLast((key) => !/^\d+$/.test(key)) ?? '';
}
