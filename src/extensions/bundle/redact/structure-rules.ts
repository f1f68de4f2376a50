import {matchAt} from '../../../ground/token-shapes.ts';
import {isErrorText, isHarmless, isObjectName, isProse, looksStrong} from './harmless.ts';
import {isDescription, keyKind} from './key-names.ts';
import {type Extent, isSpent, NOTHING, type RedactionRule, spend} from './rule.ts';
import {openingBefore, type Scalar, scalarsOf, slashesBefore} from './structure.ts';

/** Not in the middle of a longer key; an escape before it is a line break. */
const beginsKey = (text: string, at: number): boolean =>
  !/[\w.-]/.test(text.charAt(at - 1)) || /\\[nrt]$/.test(text.slice(at - 2, at));

const IS_KEY = /\\*["']?[ \t]*(?:[:=]|=>)[ \t]*/y;
const QUOTE_NEXT = /[^\n"]{0,40}?(\\*)"/y;

/** Every scalar of the object around a key, and the string nesting depth there; undefined if it is not a key. */
function objectAround(
  text: string,
  start: number,
  end: number,
): {scalars: Scalar[]; open: number} | undefined {
  if (matchAt(IS_KEY, text, end) === undefined) return undefined;
  const isQuoted = text.charAt(start - 1) === '"';
  const depth = isQuoted
    ? slashesBefore(text, start - 1)
    : (matchAt(QUOTE_NEXT, text, end)?.[1]?.length ?? 0);
  const open = openingBefore(text, isQuoted ? start - 1 - depth : start, depth);
  return open === undefined ? undefined : {scalars: scalarsOf(text, open), open};
}

const hidden = (scalars: readonly Scalar[]): readonly Extent[] =>
  scalars.filter(({value}) => !isHarmless(value));
const isBelow = ({path}: Scalar, parent: readonly string[]): boolean =>
  parent.every((key, index) => path[index] === key);
const lastPart = (text: string): string => /[^/.:]*$/.exec(text)?.[0] ?? text;
const isSecretName = (name: string): boolean =>
  keyKind(name) === 'secret' || keyKind(lastPart(name)) === 'secret';

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
  find(text, start, end) {
    const mark = text.slice(start, end);
    const about = MARKED[mark];
    if (
      about === undefined ||
      text.charAt(start - 1) !== '"' ||
      /^\\*"[ \t]*:[ \t]*(?:false|\{\s*\}|\[\s*\])/.test(text.slice(end, end + 24))
    )
      return NOTHING;
    const {scalars = []} = objectAround(text, start, end) ?? {};
    const marks = scalars.filter(({path}) => path[0] === mark);
    const paths =
      mark === 'sensitive_attributes'
        ? [...new Set(marks.map(({path}) => path[1]))].map((item) =>
            marks
              .filter(({path}) => path[1] === item && path.at(-1) === 'value')
              .map(({value}) => value),
          )
        : marks.filter(({value}) => value === 'true').map(({path}) => path.slice(1));
    return hidden(
      scalars.filter(
        (scalar) =>
          scalar.path[0] === about && paths.some((path) => isBelow(scalar, [about, ...path])),
      ),
    );
  },
};

const IS_MARKED = new Set(['sensitive', 'masked', 'secret', 'is_secret', 'secure', 'hidden']);
const NAME_KEYS = /^(?:@?name|key|id|variable|header|parameter(?:name)?|secretid)$/i;

/** An object with the name of a secret and its value, in any order: variables, parameters, outputs, diagnostics. */
export const named: RedactionRule = {
  name: 'variable',
  anchors: ['value', 'secretstring', 'default', 'traversal'],
  onlyOutside: true,
  find(text, start, end) {
    const key = text.slice(start, end);
    if (!beginsKey(text, start) || /[\w.-]/.test(text.charAt(end))) return NOTHING;
    const around = objectAround(text, start, end);
    if (around === undefined) return NOTHING;
    const {scalars, open} = around;
    const own = scalars.filter(({path}) => path.length === 1);
    if (key === 'traversal') {
      const traversal = own.find(({path}) => path[0] === key)?.value ?? '';
      const statement = own.find(({path}) => path[0] === 'statement');
      const [, before = '', value = ''] = /^(is \\*")(.*?)\\*"$/.exec(statement?.value ?? '') ?? [];
      const from = (statement?.start ?? 0) + before.length;
      return isSecretName(traversal) && value !== '' && !isHarmless(value)
        ? [{start: from, end: from + value.length}]
        : NOTHING;
    }
    const [outer = ''] =
      /[\w.-]{1,128}(?=\\*["']?[ \t]*[:=]?[ \t\r\n]*$)/.exec(
        text.slice(Math.max(0, open - 160), open),
      ) ?? [];
    const isSecret =
      own.some(({path: [field = ''], value}) => NAME_KEYS.test(field) && isSecretName(value)) ||
      own.some(
        ({path: [field = ''], value}) => IS_MARKED.has(field.toLowerCase()) && value === 'true',
      ) ||
      own.some(({value}) => value === 'SecureString') ||
      isSecretName(outer) ||
      /\.vault\.azure\.net\/secrets\/[^\n{]{0,200}$/.test(
        text.slice(Math.max(0, open - 256), open),
      );
    return isSecret ? hidden(scalars.filter(({path: [field = '']}) => field === key)) : NOTHING;
  },
};

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
const IDENTIFIED = /[\w.[\]"\\-]{0,200}: [^\n[]{0,80}\[id=([^\]\s]{1,512})\]/y;
/** Where its attributes open: in a block of a plan, or in a field of JSON. */
const ATTRIBUTES =
  /^\\*"(?:[ \t]+\\*"[\w-]{1,64}\\*"){0,2}[ \t]*\{|\\*"(?:attributes|values|before|after)\\*"[ \t]*:[ \t\r\n]*\{/;

/** Attributes of resources that are secret by their type: in plans, in states, and in the ids of random values. */
export const resources: RedactionRule = {
  name: 'resource',
  anchors: ['random_', 'kubernetes_secret', 'ssm_parameter', '_secret', '_variable'],
  onlyOutside: true,
  find(text, start, end) {
    let first = start;
    let last = end;
    while (start - first < 64 && /\w/.test(text.charAt(first - 1))) first -= 1;
    while (last - end < 64 && /\w/.test(text.charAt(last))) last += 1;
    const type = text.slice(first, last);
    const secret = RESOURCES.find(([expression]) => expression.test(type))?.[1];
    if (secret === undefined) return NOTHING;
    if (type.startsWith('random_')) {
      const [id = ''] = matchAt(IDENTIFIED, text, last)?.slice(1) ?? [];
      const from = text.indexOf('[id=', last) + 4;
      if (id !== '') return isHarmless(id) ? NOTHING : [{start: from, end: from + id.length}];
    }
    if (text.charAt(first - 1) !== '"' || isSpent()) return NOTHING;
    const attributes = ATTRIBUTES.exec(text.slice(last, last + 1500));
    spend(attributes === null ? 1500 : attributes.index);
    if (attributes === null) return NOTHING;
    return hidden(
      scalarsOf(text, last + attributes.index + attributes[0].length - 1).filter(({path}) =>
        secret.test(path[0] ?? ''),
      ),
    );
  },
};

const MAP_OPENS = /\\*["']?[ \t]*:[ \t]*\{/y;
const BLOCK_OPENS = /:[ \t]*(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)/y;
/** A line of a block: its indentation and its text. */
const BLOCK_LINE =
  /([ \t]*)((?:(?!(?:\\{1,8}r)?\\{1,8}n)[^\n\r]){0,4096})(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n|$)?/y;

interface Line extends Extent {
  key: string;
  value: string;
  isItem: boolean;
}

/** Values of the lines below a key, which are indented more or are items of a list. */
export function linesBelow(text: string, at: number, column: number): Line[] {
  const found: Line[] = [];
  const most = isSpent() ? 3 : 500;
  for (
    let line = matchAt(BLOCK_LINE, text, at);
    line !== undefined && found.length < most;
    line = matchAt(BLOCK_LINE, text, at)
  ) {
    const [all, indent = '', content = ''] = line;
    const isItem = indent.length === column && /^- /.test(content);
    if (all === '' || (content.trim() !== '' && indent.length <= column && !isItem)) break;
    const [head = '', key = ''] =
      /^(?:- +)*(?:\\*["']?([\w.@/-]{1,128})\\*["']?:(?:[ \t]+|$))?(?:[|>][-+]?$)?\\*["']?/.exec(
        content,
      ) ?? [];
    const value = content.slice(head.length).replace(/\\*["'][,}\]]{0,4}$|[ \t,]+$/, '');
    const start = at + indent.length + head.length;
    if (value !== '' && !value.startsWith('#'))
      found.push({key, start, end: start + value.length, value, isItem: content.startsWith('- ')});
    at += all.length;
    spend(2 * all.length);
  }
  return found;
}

/** Every value below `data:` and `stringData:` of a printed Secret. */
export const printedSecret: RedactionRule = {
  name: 'secret object',
  anchors: ['data', 'stringdata'],
  find(text, start, end) {
    const key = text.slice(start, end);
    const before = text.charAt(start - 1);
    if (!beginsKey(text, start)) return NOTHING;
    if (before === '"' && matchAt(MAP_OPENS, text, end) !== undefined) {
      const {scalars = []} = objectAround(text, start, end) ?? {};
      const isSecret = scalars.some(
        ({path, value}) => path.length === 1 && path[0] === 'kind' && value === 'Secret',
      );
      return isSecret
        ? hidden(scalars.filter(({path}) => path[0] === key && path.length === 2))
        : NOTHING;
    }
    const opens = matchAt(BLOCK_OPENS, text, end);
    if (opens === undefined || isSpent()) return NOTHING;
    spend(8192);
    const around = text
      .slice(Math.max(0, start - 4096), start)
      .split(/^---|\\n---/m)
      .at(-1) as string;
    const indent = /(?:^|\n|\\n|")([ \t]*)$/.exec(around)?.[1];
    if (indent === undefined) return NOTHING;
    const lines = linesBelow(text, end + opens[0].length, indent.length);
    const rest = text
      .slice(lines.at(-1)?.end ?? end, (lines.at(-1)?.end ?? end) + 4096)
      .split(/^---|\\n---/m, 1)[0] as string;
    const kind = new RegExp(`(?:^|\\n|\\\\n|")${indent}kind: Secret(?:\\s|\\\\|"|$)`);
    return kind.test(around) || kind.test(rest)
      ? lines.filter(({value}) => !isHarmless(value))
      : NOTHING;
  },
};

/** What is secret in a list or a map below a secret key. */
export function secretsBelow(
  found: readonly {key: string; start: number; end: number; value: string}[],
  key: string,
): readonly Extent[] {
  const isPassword = /pass|pwd/i.test(key);
  return found.filter(
    ({key: own, value}) =>
      !isHarmless(value) &&
      !isDescription(own) &&
      (isPassword
        ? !isErrorText(value)
        : looksStrong(value) ||
          /^[0-9a-f]{20,}$/i.test(value) ||
          (!isProse(value) && !isObjectName(value) && /\d/.test(value) && value.length > 5)),
  );
}

/** An opening bracket, also of a literal of Go: `[]string{`, `map[string]string{`, `&Config{`. */
const BRACKET =
  /(?:[&*a-zA-Z][&*\w.]{0,40}(?=[[{])(?:\[\w{0,20}\][\w.*]{0,40}(?=\{))?|\[\][\w.*]{1,40}(?=\{))?[[{]/y;
const LINE_ENDS = /[ \t]{0,16}(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)/y;

/** The list or map that opens at a position, or the lines below it. */
export function collectionAt(
  text: string,
  at: number,
  column: () => number | undefined,
): readonly {key: string; start: number; end: number; value: string}[] {
  if (text.startsWith('[redacted', at)) return [];
  const bracket = matchAt(BRACKET, text, at)?.[0];
  if (bracket !== undefined)
    return scalarsOf(text, at + bracket.length - 1).map((scalar) => ({
      ...scalar,
      key: /^\d+$/.test(scalar.path.at(-1) ?? '') ? '' : (scalar.path.at(-1) as string),
    }));
  const opens = matchAt(LINE_ENDS, text, at)?.[0];
  const own = opens === undefined ? undefined : column();
  if (opens === undefined || own === undefined) return [];
  return linesBelow(text, at + opens.length, own).filter(({key, isItem}) => key !== '' || isItem);
}
