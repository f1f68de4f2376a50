import {matchAt} from '../../../ground/token-shapes.ts';
import {ELEMENT} from './elements.ts';
import {isCode, isHarmless} from './harmless.ts';
import {KEY_ANCHORS, type Key, keyAround, keyKind} from './key-names.ts';
import {valueExtents} from './read-value.ts';
import {type Budget, type Extent, NOTHING, type RedactionRule} from './rule.ts';
import {NEXT_LINE} from './separators.ts';

/** Between `name: X` and `value: Y`: line ends with timestamps, indentation, commas, plan symbols. */
const GAP = `(?:[ \\t,+~-]|${NEXT_LINE}){1,120}?`;
const ASSIGNMENT = String.raw`\\*["']?[ \t]*(?:[:=]|=>)[ \t]*`;
const VALUE_FOLLOWS = new RegExp(
  String.raw`\\*["']?(?:${GAP})?(?:[ \t]*\{${GAP})?\\*["']?\w{0,20}(?:value|default)${ASSIGNMENT}`,
  'iy',
);
const NAME_FOLLOWS = new RegExp(
  String.raw`\\*["']?(?:${GAP})?\\*["']?(?:name|key)${ASSIGNMENT}\\*["']?([\w.-]{1,128})`,
  'iy',
);
const NAMES = new RegExp(
  `(?:(?:name|key)${ASSIGNMENT}\\\\*["']?(?:[\\w.-]{0,64}[/.]){0,6}|(?:variable|output|resource)[ \\t]+\\\\*"(?:[\\w-]{1,64}\\\\*"[ \\t]+\\\\*")?)$`,
  'i',
);
/** A list continues: the following text belongs to another variable. */
const NEXT_ITEM = /-[ \t]+\\*["']?(?:value|name|key)\\*["']?[ \t]*:/i;
/** The content of an element with a name: `name="password">`, `<key>password</key><string>`. */
const ELEMENT_FOLLOWS =
  /\\*["'][ \t]*>(?:\s{0,40}<value>)?|<\/(?:key|name|t[dh]|dt)>\s{0,40}<(?:string|value|t?dd?)>/iy;
const NAMED_ELEMENT = /(?:name|key)=\\*["']$|<(?:key|name|t[dh]|dt)>$/i;
/** A part of a form: headers, an empty line, and the value. */
const MULTIPART = new RegExp(
  `\\\\*["'](?:;[^\\n\\\\]{0,100})?(?:${NEXT_LINE})(?:[\\w-]{1,40}: [^\\n\\\\]{0,100}(?:${NEXT_LINE}))?(?:${NEXT_LINE})([^\\r\\n\\\\"]{2,512})`,
  'y',
);
/** The second of two: `('password', '…')`, `{DB_PASSWORD …}`. */
const SECOND_FOLLOWS = /(?:\\*["'])?[ \t]*,[ \t]*(?=(?:[bu]|<<)?\\*["'])/y;
const OPENS_PAIR = /[([{,][ \t]*[bu]?(?:\\*["'])?$/;
/** Not the first item of a list: words of a command, such as `"vault", "token", "lookup"`, are no pair. */
const FURTHER_ITEM = /,[ \t]*[bu]?(?:\\*["'])?$/;
const SETTER = /set\w{0,20}\([^()\n]*$/i;
const PLAIN_WORDS = /^[A-Za-z]+(?:[-_][A-Za-z]+)*$/;
const CLOSES_PAIR = /^\\*["'](?:>>)?[ \t]*(?:,[ \t]*\w{1,5})?[)\]}]/;
const IN_BRACES = /[ \t]([^\s{}]{2,512})\}/y;

/** How a value follows the name of a secret. The first form that fits decides. */
type Form = (
  text: string,
  name: Key,
  before: string,
  budget: Budget,
) => readonly Extent[] | undefined;

const elementContent: Form = (text, name, before) => {
  const opens = NAMED_ELEMENT.test(before) ? matchAt(ELEMENT_FOLLOWS, text, name.end) : undefined;
  if (opens === undefined) return undefined;
  const start = name.end + opens[0].length;
  const [content = ''] = matchAt(ELEMENT, text, start) ?? [];
  return secretOnes(text, [{start, end: start + content.length}]);
};

const partOfForm: Form = (text, name, before) => {
  const part = /name=\\*["']$/.test(before) ? matchAt(MULTIPART, text, name.end) : undefined;
  if (part === undefined) return undefined;
  const end = name.end + part[0].length;
  return secretOnes(text, [{start: end - (part[1] as string).length, end}]);
};

const secondOfPair: Form = (text, name, before, budget) => {
  const comma = OPENS_PAIR.test(before) ? matchAt(SECOND_FOLLOWS, text, name.end) : undefined;
  if (comma === undefined) return undefined;
  const found = valueBehind(text, name.end + comma[0].length, budget);
  const end = found.at(-1)?.end ?? 0;
  if (!CLOSES_PAIR.test(text.slice(end, end + 12))) return NOTHING;
  const isInList = FURTHER_ITEM.test(before) && !SETTER.test(before);
  return found.filter(({start, end: close}) => {
    const value = text.slice(start, close);
    return isValueOfPair(value) && !(isInList && PLAIN_WORDS.test(value));
  });
};

const valueInBraces: Form = (text, name, before) => {
  const isVariable = before.endsWith('{') && /^[A-Z][A-Z0-9_]+$/.test(name.text);
  const braced = isVariable ? matchAt(IN_BRACES, text, name.end) : undefined;
  if (braced === undefined) return undefined;
  return secretOnes(text, [{start: name.end + 1, end: name.end + braced[0].length - 1}]);
};

const valueOfName: Form = (text, name, before, budget) => {
  const between = NAMES.test(before) ? matchAt(VALUE_FOLLOWS, text, name.end) : undefined;
  if (between === undefined || NEXT_ITEM.test(between[0])) return undefined;
  return secretOnes(text, valueBehind(text, name.end + between[0].length, budget));
};

const FORMS: readonly Form[] = [
  elementContent,
  partOfForm,
  secondOfPair,
  valueInBraces,
  valueOfName,
];

/** The name of a secret, and then its value, as in Kubernetes, XML, Python and Terraform. */
export const nameThenValue: RedactionRule = {
  name: 'variable',
  anchors: KEY_ANCHORS,
  onlyOutside: true,
  find(text, anchor, pass) {
    const name = keyAround(text, anchor, pass.keyKinds);
    if (name === undefined || name.kind === 'name' || name.kind === 'maybe') return NOTHING;
    const before = text.slice(Math.max(0, name.start - 48), name.start);
    // The name of a variable stands in quotes or braces, or after a colon.
    if (!/["'{>:= ]$/.test(before)) return NOTHING;
    for (const form of FORMS) {
      const found = form(text, name, before, pass.budget);
      if (found !== undefined) return found;
    }
    return NOTHING;
  },
};

/** Lists of names are no pairs. */
const isValueOfPair = (value: string): boolean =>
  !isHarmless(value) && (!/^[A-Za-z_]+$/.test(value) || keyKind(value) === 'other');

/** The same with the value first, for keys in reverse order. */
export const valueThenName: RedactionRule = {
  name: 'variable',
  anchors: ['value'],
  onlyOutside: true,
  find(text, {start, end}, {budget}) {
    const separator = matchAt(VALUE_SEPARATOR, text, end);
    if (separator === undefined || KEY_BEFORE.test(text.charAt(start - 1))) return NOTHING;
    const found = valueBehind(text, end + separator[0].length, budget);
    const name = matchAt(NAME_FOLLOWS, text, found.at(-1)?.end ?? end);
    if (name === undefined || NEXT_ITEM.test(name[0])) return NOTHING;
    return keyKind(name[1] as string) === 'secret' ? secretOnes(text, found) : NOTHING;
  },
};

const VALUE_SEPARATOR = new RegExp(ASSIGNMENT, 'y');
const KEY_BEFORE = /[\w.-]/;

const valueBehind = (text: string, at: number, budget: Budget): readonly Extent[] =>
  valueExtents(
    text,
    {
      at,
      key: 'value',
      keyStart: at,
      keyQuoted: /["']/.test(text.slice(at - 3, at)),
      beginsLine: true,
      separator: ':',
    },
    budget,
  );

const secretOnes = (text: string, found: readonly Extent[]): readonly Extent[] =>
  found.filter(
    ({start, end}) => !isHarmless(text.slice(start, end)) && !isCode(text.slice(start, end)),
  );
