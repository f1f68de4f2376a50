import {isPair, isScalar, LineCounter, type Node, type ParsedNode, visit} from 'yaml';
import {credentialsIn, hideCredentials} from '../../ground/credentials.ts';
import {type KeyFinding, remediesOf} from '../../ground/finding.ts';
import {dotted, type TreePath} from '../reading/tree-path.ts';
import {normalized, parseYaml} from '../reading/yaml-syntax.ts';

/** A key or value with a credential: its offsets in the text. */
interface Place {
  path: TreePath;
  kind: string;
  start: number;
  end: number;
}

/**
 * Credentials that a file contains in clear text: in values, keys and comments. Reads the text and not the values, because every part of
 * a file is stored where the file is.
 */
export const checkClearText = (text: string): KeyFinding[] =>
  clearTextPlaces(text).map(({path, kind, line, column}): KeyFinding => {
    const where = path === '' ? 'The file' : 'The value';
    return {
      code: 'CLEAR_TEXT_CREDENTIAL',
      verdict: 'warning',
      subject: {path, line, column},
      message: `${where} contains ${kind} in clear text.`,
      remedies: remediesOf(
        'Store it in a Kubernetes Secret or in Scalr, and replace it where it was used',
      ),
    };
  });

/** A credential in a file; without a path in a comment, or where the file cannot be read. */
interface ClearTextPlace {
  path: string;
  kind: string;
  line: number;
  column: number;
}

export function clearTextPlaces(text: string): ClearTextPlace[] {
  const content = normalized(text);
  const inText = credentialsIn(content);
  if (inText.length === 0) return [];
  const lines = new LineCounter();
  const places = placesIn(content, lines);
  const others = inText
    .filter(({start}) => !places.some((place) => place.start <= start && start < place.end))
    .map((each): Place => ({...each, path: []}));
  return [...places, ...others]
    .toSorted((one, other) => one.start - other.start)
    .map(({path, kind, start}) => {
      const {line, col: column} = lines.linePos(start);
      return {path: hideCredentials(dotted(path)), kind, line, column};
    });
}

function placesIn(content: string, lines: LineCounter): Place[] {
  const places: Place[] = [];
  for (const document of parseYaml(content, lines)) {
    visit(document, {
      Scalar(key, node, ancestors) {
        const [start = 0, end = 0] = node.range ?? [];
        const [found] = credentialsIn(String(node.value));
        if (found)
          places.push({
            path: pathOf(node as ParsedNode, key, ancestors),
            kind: found.kind,
            start,
            end,
          });
      },
    });
  }
  return places;
}

/** The keys and indexes above a node, and its own. */
function pathOf(
  node: Node,
  key: number | 'key' | 'value' | null,
  ancestors: readonly unknown[],
): TreePath {
  const chain = [...ancestors, node];
  const path: (string | number)[] = [];
  for (const [index, each] of chain.entries()) {
    if (isPair(each)) path.push(isScalar(each.key) ? String(each.key.value) : '?');
    const below = chain[index + 1];
    if (isItems(each) && below !== undefined && !isPair(below))
      path.push(each.items.indexOf(below));
  }
  return key === null && path.length === 0 ? [] : path;
}

const isItems = (node: unknown): node is {items: unknown[]} =>
  typeof node === 'object' && node !== null && Array.isArray((node as {items?: unknown}).items);
