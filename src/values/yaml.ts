import {Document, isPair, isScalar, isMap as isYamlMap, parse, Scalar, visit} from 'yaml';
import {failed} from '../ground/errors.ts';
import {isPrintable} from '../ground/text.ts';
import {sameTree, type Values} from '../ground/tree.ts';

/** A line above the key with this path, without the leading #. */
export interface KeyComment {
  path: readonly string[];
  text: string;
}

/**
 * Writes values as YAML that Helm cannot misread: texts in quotes, keys too where YAML 1.1 would read another type, long
 * texts as blocks. `comments` go above their keys, `header` above everything; both without the leading #. With `isPlain`, only texts
 * that need them have quotes, and no lines are empty, as in Kubernetes manifests.
 */
export function toYaml(
  values: Values,
  {header = [], comments = [], isPlain = false}: {header?: readonly string[]; comments?: readonly KeyComment[]; isPlain?: boolean} = {},
): string {
  const document = new Document(values, {version: '1.1'});
  visit(document, {
    Pair(_, pair) {
      if (isScalar(pair.key) && !/^[A-Za-z_][-A-Za-z0-9_./]*$/.test(String(pair.key.value))) pair.key.type = Scalar.QUOTE_DOUBLE;
    },
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'string') return;
      if (isBlock(node.value)) node.type = Scalar.BLOCK_LITERAL;
      else if (!isPlain) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  if (isYamlMap(document.contents) && !isPlain) {
    for (const [index, pair] of document.contents.items.entries()) {
      if (isPair(pair) && isScalar(pair.key)) pair.key.spaceBefore = index > 0;
    }
  }
  for (const {path, text} of comments) {
    const key = keyAt(document.contents, path);
    if (key !== undefined) key.commentBefore = [...(key.commentBefore ? [key.commentBefore] : []), ` ${text}`].join('\n');
  }
  const body = Object.keys(values).length === 0 ? '{}\n' : document.toString({lineWidth: 0});
  const text =
    [...header.map((line) => (line === '' ? '#' : `# ${line}`)), ...(header.length > 0 ? [''] : [])].map((line) => `${line}\n`).join('') +
    body;
  refuseMisreading(text, values);
  return text;
}

/** The last key of the path; the last one that exists, if the rest is not in a mapping. */
function keyAt(contents: unknown, [first, ...rest]: readonly string[]): Scalar | undefined {
  if (!isYamlMap(contents)) return undefined;
  const pair = contents.items.find(({key}) => isScalar(key) && String(key.value) === first);
  return pair && (keyAt(pair.value, rest) ?? (pair.key as Scalar));
}

/** Several lines of printable text, such as a certificate; anything else is safer in quotes. */
const isBlock = (text: string): boolean => /^[\x20-\x7e]+\n[\x20-\x7e\n]*$/.test(text) && !/^\s|[ \n]\n$|[ ]\n/.test(text);

/** Reads the text back as YAML 1.1 and compares it with the values. */
function refuseMisreading(text: string, meant: Values): void {
  if (isPrintable(text) && sameTree(readAsHelm(text), meant)) return;
  throw failed('AMBIGUOUS_YAML', 'Cannot write these values as YAML that Helm reads unchanged.', [
    'Check --set for unprintable characters and keys such as "<<"',
  ]);
}

function readAsHelm(text: string): unknown {
  try {
    return parse(text, {version: '1.1'});
  } catch {
    return undefined;
  }
}
