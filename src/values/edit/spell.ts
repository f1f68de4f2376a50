import {isScalar, type Node, Scalar, stringify} from 'yaml';
import {isMap, type Tree} from '../../charts/tree.ts';

/** A value on one line; a text keeps the quotes that `like` has. */
export function spellInline(value: Tree, like?: Node | null): string {
  if (typeof value === 'string') return spellText(value, like);
  if (Array.isArray(value)) return `[${value.map((each) => spellInline(each)).join(', ')}]`;
  if (isMap(value)) {
    return `{${Object.entries(value)
      .map(([key, below]) => `${spellKey(key)}: ${spellInline(below)}`)
      .join(', ')}}`;
  }
  return String(value);
}

function spellText(text: string, like: Node | null | undefined): string {
  const style = isScalar(like) && typeof like.value === 'string' ? like.type : undefined;
  if (style === Scalar.QUOTE_SINGLE && isSimple(text)) return `'${text.replaceAll("'", "''")}'`;
  return style === Scalar.PLAIN && isPlain(text) ? text : JSON.stringify(text);
}

/** A key, in the quotes of the one it replaces; plain where YAML 1.1 reads it as this text. */
export function spellKey(key: string, like?: Node): string {
  if (isScalar(like) && like.type !== Scalar.PLAIN) return spellText(key, like);
  return /^[A-Za-z_][-A-Za-z0-9_./]*$/.test(key) && isPlain(key) ? key : JSON.stringify(key);
}

/** A mapping or list as lines of its own. */
export const spellBlock = (value: Tree, indent: number): string[] =>
  stringify(value, {version: '1.1', indent, lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN'})
    .trimEnd()
    .split('\n');

const isPlain = (text: string): boolean => isSimple(text) && stringify(text, {version: '1.1', lineWidth: 0}).trimEnd() === text;

const isSimple = (text: string): boolean => !/\p{Cc}/u.test(text);
