import {isMap, type Tree} from '../../charts/tree.ts';
import {maskSecrets} from '../../errors.ts';
import {keySoundsSecret, mayBeObject, variableSoundsSecret} from '../../settings/secret.ts';
import type {Finding, TreePath} from './finding.ts';
import {isWhollyOpen} from './placeholders.ts';
import type {Source} from './source.ts';

const HIDDEN = '[hidden]';

/** Findings that repeat no value of a key that sounds secret: every form of the result keeps what it is told. */
export function hideSecrets(findings: readonly Finding[], source: Pick<Source, 'values' | 'written'>): Finding[] {
  return findings.map((finding) => {
    const secrets = secretsAround(finding.path, source);
    const {message, suggestion} = finding;
    return {
      ...finding,
      message: hide(message, secrets),
      ...(suggestion === undefined ? {} : {suggestion: hide(suggestion, secrets)}),
    };
  });
}

/** The ways in which the secrets at a place and below it may be written in a message. */
interface Secrets {
  texts: Set<string>;
  numbers: Set<number>;
}

function secretsAround(dotted: string, {values, written}: Pick<Source, 'values' | 'written'>): Secrets {
  const secrets: Secrets = {texts: new Set(), numbers: new Set()};
  const collect = (tree: Tree, path: TreePath, isSecret: boolean): void => {
    const isScalar = typeof tree !== 'object' || tree === null;
    const isHidden = isSecret || (typeof tree === 'string' && isPair(tree));
    if (isHidden && !(typeof tree === 'string' && isWhollyOpen(tree))) {
      const spelt = isScalar ? (written(path) ?? String(tree)) : '';
      for (const text of [spelt, JSON.stringify(tree), ...(isScalar ? [String(tree), JSON.stringify(spelt).slice(1, -1)] : [])])
        if (text !== '' && text !== '""' && text !== 'null') secrets.texts.add(text);
      if (typeof tree === 'number') for (const number of [tree, Number(spelt.replaceAll('_', ''))]) secrets.numbers.add(number);
    }
    if (isScalar) return;
    for (const [key, below] of Object.entries(tree)) {
      const step = Array.isArray(tree) ? Number(key) : key;
      collect(below, [...path, step], isSecret || isSecretAt(tree, step, below));
    }
  };
  const {tree, path, isSecret} = placeOf(dotted, values);
  collect(tree, path, isSecret);
  return secrets;
}

/** The place a dotted path leads to: keys may hold dots themselves, and the last may be missing. */
function placeOf(dotted: string, values: Tree): {tree: Tree; path: TreePath; isSecret: boolean} {
  const steps = dotted === '' ? [] : dotted.replaceAll(/\[(\d+)\]/g, '.$1').split('.');
  const path: (string | number)[] = [];
  let tree = values;
  let isSecret = false;
  for (let from = 0; from < steps.length; ) {
    const to = steps.findIndex((_, index) => index >= from && isThere(tree, steps.slice(from, index + 1).join('.')));
    if (to < 0) break;
    const key = steps.slice(from, to + 1).join('.');
    const below = (tree as {[key: string]: Tree})[key] as Tree;
    const step = Array.isArray(tree) ? Number(key) : key;
    isSecret ||= isSecretAt(tree, step, below);
    path.push(step);
    tree = below;
    from = to + 1;
  }
  return {tree, path, isSecret};
}

const isThere = (tree: Tree, key: string): boolean => typeof tree === 'object' && tree !== null && Object.hasOwn(tree, key);

function isSecretAt(tree: Tree, key: string | number, below: Tree): boolean {
  if (typeof key === 'number') return false;
  const name = key === 'value' && isMap(tree) ? tree['name'] : undefined;
  return (keySoundsSecret(key) && !(isMap(below) && mayBeObject(key))) || (typeof name === 'string' && variableSoundsSecret(name));
}

/** A key and its value that became one text for want of a blank or a colon. */
function isPair(text: string): boolean {
  const [, key] = /^\s*([\w./-]+)\s*[:=\s]/.exec(text) ?? [];
  return key !== undefined && keySoundsSecret(key);
}

function hide(text: string, {texts, numbers}: Secrets): string {
  const isNone = texts.size === 0;
  const longestFirst = [...texts].toSorted((one, other) => other.length - one.length);
  const pattern = longestFirst.map((each) => each.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|');
  const hidden = isNone ? text : text.replaceAll(new RegExp(`(?<!\\w)(?:${pattern})(?!\\w)`, 'g'), HIDDEN);
  // A number is also told as a template would print it.
  const isTold = (word: string): boolean => numbers.has(Number(word.replaceAll('_', '')));
  return maskSecrets(hidden.replaceAll(/[-+]?\.?\d[\w+-]*(?:\.[\w+-]+)*/g, (word) => (isTold(word) ? HIDDEN : word)));
}
