import {Document, isPair, isScalar, isMap as isYamlMap, parse, Scalar, visit} from 'yaml';
import {ExpectedError} from '../ground/errors.ts';
import {isPrintable} from '../ground/text.ts';
import {sameTree, type Values} from '../ground/tree.ts';

/**
 * Writes values as YAML that Helm cannot misread: texts in quotes, keys too where YAML 1.1 would read another type, long
 * texts as blocks. `comments` go above their top-level keys, `header` above everything; both without the leading #.
 */
export function toYaml(
  values: Values,
  {header = [], comments = new Map()}: {header?: readonly string[]; comments?: ReadonlyMap<string, readonly string[]>} = {},
): string {
  const document = new Document(values, {version: '1.1'});
  visit(document, {
    Pair(_, pair) {
      if (isScalar(pair.key) && !/^[A-Za-z_][-A-Za-z0-9_./]*$/.test(String(pair.key.value))) pair.key.type = Scalar.QUOTE_DOUBLE;
    },
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'string') return;
      node.type = isBlock(node.value) ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE;
    },
  });
  if (isYamlMap(document.contents)) {
    for (const [index, pair] of document.contents.items.entries()) {
      if (!isPair(pair) || !isScalar(pair.key)) continue;
      pair.key.spaceBefore = index > 0;
      const lines = comments.get(String(pair.key.value)) ?? [];
      if (lines.length > 0) pair.key.commentBefore = lines.map((line) => ` ${line}`).join('\n');
    }
  }
  const body = Object.keys(values).length === 0 ? '{}\n' : document.toString({lineWidth: 0});
  const text =
    [...header.map((line) => (line === '' ? '#' : `# ${line}`)), ...(header.length > 0 ? [''] : [])].map((line) => `${line}\n`).join('') +
    body;
  refuseMisreading(text, values);
  return text;
}

/** Several lines of printable text, such as a certificate; anything else is safer in quotes. */
const isBlock = (text: string): boolean => /^[\x20-\x7e]+\n[\x20-\x7e\n]*$/.test(text) && !/^\s|[ \n]\n$|[ ]\n/.test(text);

/** Reads the text back as YAML 1.1 and compares it with the values. */
function refuseMisreading(text: string, meant: Values): void {
  if (isPrintable(text) && sameTree(readAsHelm(text), meant)) return;
  throw new ExpectedError('Cannot write these values as YAML that Helm reads unchanged.', {
    code: 'AMBIGUOUS_YAML',
    suggestions: ['Check --set for unprintable characters and keys such as "<<"'],
  });
}

function readAsHelm(text: string): unknown {
  try {
    return parse(text, {version: '1.1'});
  } catch {
    return undefined;
  }
}
