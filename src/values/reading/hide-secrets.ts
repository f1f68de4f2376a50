import {maskSecrets} from '../../ground/errors.ts';
import {HIDDEN} from '../../ground/hide-values.ts';
import {keySoundsSecret, mayBeObject, variableSoundsSecret} from '../../ground/secret.ts';
import {isMap, type Tree, type Values} from '../../ground/tree.ts';
import type {TreePath} from './tree-path.ts';

/**
 * A message about a path without the values of keys that sound secret, on the way to the path and below it: logs and reports of pipelines
 * are kept.
 */
export function hideSecrets(
  text: string,
  path: TreePath,
  {values = {}, written}: {values?: Values; written?(path: TreePath): string | undefined},
): string {
  const texts = new Set<string>();
  const numbers = new Set<number>();
  for (const {value, here} of secretsIn(values, [], path, false)) {
    const isScalar = typeof value !== 'object' || value === null;
    const spelled = isScalar ? (written?.(here) ?? String(value)) : '';
    const spellings = [spelled, JSON.stringify(value)];
    if (isScalar) spellings.push(String(value), JSON.stringify(spelled).slice(1, -1));
    for (const each of spellings)
      if (each !== '' && each !== '""' && each !== 'null') texts.add(each);
    if (typeof value === 'number') numbers.add(value).add(Number(spelled.replaceAll('_', '')));
  }
  // A message may also hold a number as a template would print it.
  const isSecret = (word: string): boolean => numbers.has(Number(word.replaceAll('_', '')));
  const hidden = withoutWords(text, [...texts]).replaceAll(
    /[-+]?\.?\d[\w+-]*(?:\.[\w+-]+)*/g,
    (word) => (isSecret(word) ? HIDDEN : word),
  );
  return maskSecrets(hidden);
}

function withoutWords(text: string, words: readonly string[]): string {
  if (words.length === 0) return text;
  const pattern = words
    .toSorted((one, other) => other.length - one.length)
    .map((each) => each.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('|');
  return text.replaceAll(new RegExp(`(?<!\\w)(?:${pattern})(?!\\w)`, 'g'), HIDDEN);
}

interface SecretValue {
  value: Tree;
  here: TreePath;
}

/** The secret values at the end of a path and below it; where a key of the path is missing, those below the last one. */
function* secretsIn(
  tree: Tree,
  here: TreePath,
  [step, ...rest]: TreePath,
  isSecret: boolean,
): Generator<SecretValue> {
  if (step !== undefined && hasKey(tree, step)) {
    const below = (tree as Values)[step] as Tree;
    yield* secretsIn(below, [...here, step], rest, isSecret || isSecretAt(tree, step, below));
    return;
  }
  const isPlaceholder = typeof tree === 'string' && PLACEHOLDER.test(tree);
  const isHidden = isSecret || (typeof tree === 'string' && isSecretPair(tree));
  if (isHidden && !isPlaceholder) yield {value: tree, here};
  if (typeof tree !== 'object' || tree === null) return;
  for (const [key, below] of Object.entries(tree)) {
    const next = Array.isArray(tree) ? Number(key) : key;
    yield* secretsIn(below, [...here, next], [], isSecret || isSecretAt(tree, next, below));
  }
}

/** A string that is only a placeholder is not a secret. */
const PLACEHOLDER = /^(<[^<>]+>|\{\{[^{}]*\}\})$/;

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
