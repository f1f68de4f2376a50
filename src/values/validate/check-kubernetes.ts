import {resolveType} from '../../charts/kubernetes.ts';
import type {SchemaNode} from '../../charts/schema.ts';
import {isMap, sameTree, type Tree, type Values} from '../../charts/tree.ts';
import {closest} from '../../settings/text.ts';
import {dotted, type Finding, type Fix, type TreePath} from './finding.ts';
import {FORMATS} from './formats.ts';
import {KUBERNETES_RULES} from './kubernetes-rules.ts';
import type {Source} from './source.ts';
import {fits, typeOf} from './types.ts';

/**
 * Holds what stands below a key against the Kubernetes type of that key. `effective` is the same with the defaults of the
 * chart below it, as the templates see it. null drops a default here, so it stands for an absent field.
 */
export function checkKubernetes(tree: Tree, effective: Tree, type: string, path: TreePath, source: Source): Finding[] {
  if (type === 'Labels' || type === 'Annotations') return checkTexts(tree, type, path, source);
  const node: SchemaNode = {$ref: `#/definitions/${type}`};
  // A chart that wants a list may have an empty map as default.
  return isMap(tree) && Object.keys(tree).length === 0 ? [] : check(tree, effective, node, path, source);
}

function check(tree: Tree, effective: Tree, reference: SchemaNode, path: TreePath, source: Source): Finding[] {
  const {name: type, type: node} = resolveType(reference);
  const report = (code: string, message: string, more: Partial<Finding> = {}, at: TreePath = path): Finding => ({
    severity: 'error',
    code,
    path: dotted(at),
    ...source.locate(at),
    message,
    ...more,
  });
  if (tree === null) return typeof path.at(-1) === 'number' ? [report('WRONG_TYPE', 'An item of a list cannot be null.')] : [];
  if (!fits(tree, node)) return [mismatch(tree, node, path, source)];
  if (node.enum && tree !== '' && !node.enum.includes(tree as string)) {
    const near = closest(String(tree), node.enum);
    return [
      report(
        'WRONG_VALUE',
        `${JSON.stringify(tree)} is not one of ${node.enum.join(', ')}.`,
        near ? replacement(JSON.stringify(near), path, near) : {},
      ),
    ];
  }
  const malformed = node.format === undefined ? undefined : FORMATS[node.format]?.(String(tree));
  if (malformed !== undefined) return [report('WRONG_VALUE', malformed)];
  if (Array.isArray(tree)) {
    const items = tree.flatMap((item, index) => check(item, item, node.items ?? {}, [...path, index], source));
    return [
      ...items,
      ...sharedKeys(tree, node).map(([index, keys]) =>
        report('DUPLICATE_ITEM', `Another item has the same ${keys}.`, {}, [...path, index]),
      ),
    ];
  }
  if (!isMap(tree)) return [];
  const whole = isMap(effective) ? effective : tree;
  const fields = Object.entries(tree).flatMap(([key, below]): Finding[] => {
    const child = node.properties && Object.hasOwn(node.properties, key) ? node.properties[key] : node.additionalProperties;
    if (child === true || child === undefined) return [];
    if (child !== false) return check(below, whole[key] ?? below, child, [...path, key], source);
    return [unknownField(key, tree, node, type, [...path, key], source)];
  });
  const missing = (node.required ?? []).filter((key) => (whole[key] ?? null) === null);
  const isSound = type !== undefined && fields.length + missing.length === 0;
  const problems = isSound ? (KUBERNETES_RULES[type]?.(whole) ?? []) : [];
  return [
    ...fields,
    ...missing.map((key) => report('MISSING_KEY', `Kubernetes wants ${key} here.`)),
    ...problems.flatMap((each) => {
      if (!each) return [];
      const {at, code = 'REFUSED_BY_KUBERNETES', severity = 'error', message} = each;
      return [report(code, message, {severity}, [...path, ...at])];
    }),
  ];
}

function unknownField(key: string, tree: Values, node: SchemaNode, type: string | undefined, path: TreePath, source: Source): Finding {
  const near = closest(
    key,
    Object.keys(node.properties ?? {}).filter((each) => !Object.hasOwn(tree, each)),
  );
  const to = [...path.slice(0, -1), near] as string[];
  return {
    severity: 'error',
    code: 'UNKNOWN_KEY',
    path: dotted(path),
    ...source.locate(path),
    message: `Kubernetes knows no ${key} in ${type ?? 'this place'}.`,
    ...(near ? {suggestion: dotted(to), ...(path.some((each) => typeof each === 'number') ? {} : {fix: {path, to}})} : {}),
  };
}

/** Labels and annotations: keys of a certain form, and texts. The templates hand them on as they are. */
function checkTexts(tree: Tree, type: string, path: TreePath, source: Source): Finding[] {
  if (!isMap(tree)) return [mismatch(tree, {type: 'object'}, path, source)];
  return Object.entries(tree).flatMap(([key, text]) => {
    const here = [...path, key];
    const report = (message: string): Finding[] => [
      {severity: 'error', code: 'WRONG_VALUE', path: dotted(here), ...source.locate(here), message},
    ];
    const badKey = FORMATS['qualified-name']?.(type === 'Annotations' ? key.toLowerCase() : key);
    if (badKey !== undefined) return report(badKey);
    if (text === null) return [];
    if (typeof text !== 'string') return [mismatch(text, {type: 'string'}, here, source)];
    const badValue = type === 'Labels' ? FORMATS['label-value']?.(text) : undefined;
    return badValue === undefined ? [] : report(badValue);
  });
}

/** A value of a wrong type; a scalar where a text is wanted only lacks its quotes. */
export function mismatch(tree: Tree, {type}: SchemaNode, path: TreePath, source: Source): Finding {
  const wanted = [type].flat().join(' or ');
  const written = source.written(path);
  const place = {severity: 'error' as const, path: dotted(path), ...source.locate(path)};
  if (wanted === 'string' && !isMap(tree) && !Array.isArray(tree)) {
    const text = written ?? String(tree);
    const message = `YAML reads ${text} as ${typeOf(tree)} ${JSON.stringify(tree)}, and here belongs a text.`;
    return {...place, code: 'UNQUOTED_TEXT', message, ...replacement(`"${text}"`, path, text)};
  }
  return {...place, code: 'WRONG_TYPE', message: `${JSON.stringify(tree)} is ${typeOf(tree)}, and here belongs ${wanted}.`};
}

const replacement = (suggestion: string, path: TreePath, value: Tree): {suggestion: string; fix: Fix} => ({suggestion, fix: {path, value}});

/** Items that have the same keys as an item before them. */
function sharedKeys(items: readonly Tree[], node: SchemaNode): [number, string][] {
  const keys = node['x-kubernetes-list-map-keys'] ?? [];
  const identity = items.map((item) => (isMap(item) ? keys.map((key) => item[key] ?? null) : [item]));
  return keys.length === 0
    ? []
    : identity.flatMap((each, index) =>
        identity.slice(0, index).some((before) => sameTree(before, each)) ? [[index, keys.join(' and ')] as [number, string]] : [],
      );
}
