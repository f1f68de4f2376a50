import {resolveType} from '../../charts/kubernetes.ts';
import type {SchemaNode} from '../../charts/schema.ts';
import {closest, isMisspelt} from '../../ground/text.ts';
import {isMap, sameTree, type Tree, type Values} from '../../ground/tree.ts';
import {type Details, dotted, findingAt, type TreePath, type ValuesFinding, type ValuesSource} from './finding.ts';
import {FORMATS, matchesType, typeOf} from './formats.ts';
import {KUBERNETES_RULES} from './kubernetes-rules.ts';

/**
 * Checks the tree below a key against the Kubernetes type of that key. `effective` is the same tree over the chart
 * defaults, as the templates see it. null removes a default, so it means an absent field.
 */
export function checkKubernetes(tree: Tree, effective: Tree, type: string, path: TreePath, source: ValuesSource): ValuesFinding[] {
  if (type === 'Labels' || type === 'Annotations') return checkMetadata(tree, type, path, source);
  const node: SchemaNode = {$ref: `#/definitions/${type}`};
  // A key that takes a list may have an empty map as its default.
  return isMap(tree) && Object.keys(tree).length === 0 ? [] : check(tree, effective, node, path, source);
}

function check(tree: Tree, effective: Tree, reference: SchemaNode, path: TreePath, source: ValuesSource): ValuesFinding[] {
  const {name: type, type: node} = resolveType(reference);
  const error = (code: string, message: string, details?: Details, at: TreePath = []): ValuesFinding =>
    findingAt(source, [...path, ...at], code, message, details);
  if (tree === null) return typeof path.at(-1) === 'number' ? [error('WRONG_TYPE', 'A list item cannot be null.')] : [];
  if (!matchesType(tree, node)) return [typeMismatch(tree, node, path, source)];
  if (node.enum && tree !== '' && !node.enum.includes(tree as string)) {
    const value = closest(String(tree), node.enum);
    const fix = value && isMisspelt(String(tree), value, node.enum) ? {fix: {path, value}} : {};
    const details = value ? {suggestion: JSON.stringify(value), ...fix} : {};
    return [error('WRONG_VALUE', `Unsupported value ${JSON.stringify(tree)}: must be one of ${node.enum.join(', ')}.`, details)];
  }
  const malformed = node.format === undefined ? undefined : FORMATS[node.format]?.(String(tree));
  if (malformed !== undefined) return [error('WRONG_VALUE', malformed)];
  if (Array.isArray(tree)) {
    const items = tree.flatMap((item, index) => check(item, item, node.items ?? {}, [...path, index], source));
    const keys = node['x-kubernetes-list-map-keys'] ?? [];
    return [
      ...items,
      ...repeatedItems(tree, keys).map((index) =>
        error('DUPLICATE_ITEM', `Duplicate item: another item has the same ${keys.join(' and ')}.`, {}, [index]),
      ),
    ];
  }
  if (!isMap(tree)) return [];
  const whole = isMap(effective) ? effective : tree;
  const fields = Object.entries(tree).flatMap(([key, below]): ValuesFinding[] => {
    const child = node.properties && Object.hasOwn(node.properties, key) ? node.properties[key] : node.additionalProperties;
    if (child === true || child === undefined) return [];
    if (child === false) return [unknownField(key, tree, node, type, [...path, key], source)];
    return check(below, Object.hasOwn(whole, key) ? (whole[key] ?? below) : below, child, [...path, key], source);
  });
  const missing = (node.required ?? []).filter((key) => (whole[key] ?? null) === null);
  const isSound = type !== undefined && fields.length + missing.length === 0;
  const problems = isSound ? (KUBERNETES_RULES[type]?.(whole) ?? []) : [];
  return [
    ...fields,
    ...missing.map((key) => error('MISSING_KEY', `${key} is required.`)),
    ...problems.flatMap((each) =>
      each ? [error(each.code ?? 'REJECTED_BY_KUBERNETES', each.message, {severity: each.severity}, each.at)] : [],
    ),
  ];
}

function unknownField(
  key: string,
  tree: Values,
  node: SchemaNode,
  type: string | undefined,
  path: TreePath,
  source: ValuesSource,
): ValuesFinding {
  const free = Object.keys(node.properties ?? {}).filter((each) => !Object.hasOwn(tree, each));
  const name = closest(key, free);
  const isInList = path.some((each) => typeof each === 'number');
  const fix = name && !isInList && isMisspelt(key, name, free) ? {fix: {path, name}} : {};
  const details = name ? {suggestion: dotted([...path.slice(0, -1), name]), ...fix} : {};
  return findingAt(source, path, 'UNKNOWN_KEY', `Unknown field ${key}${type === undefined ? '' : ` in ${type}`}.`, details);
}

/** Keys of labels and annotations have a format, and their values are texts that the templates pass on unchanged. */
function checkMetadata(tree: Tree, type: 'Labels' | 'Annotations', path: TreePath, source: ValuesSource): ValuesFinding[] {
  if (!isMap(tree)) return [typeMismatch(tree, {type: 'object'}, path, source)];
  return Object.entries(tree).flatMap(([key, text]) => {
    const here = [...path, key];
    const badKey = FORMATS['qualified-name']?.(type === 'Annotations' ? key.toLowerCase() : key);
    if (badKey === undefined && text !== null && typeof text !== 'string') return [typeMismatch(text, {type: 'string'}, here, source)];
    if (badKey === undefined && text === null) return source.isOverride?.(here) ? [] : [emptyText(here, source)];
    const problem = badKey ?? (type === 'Labels' && text !== null ? FORMATS['label-value']?.(String(text)) : undefined);
    return problem === undefined ? [] : [findingAt(source, here, 'WRONG_VALUE', problem)];
  });
}

const emptyText = (path: TreePath, source: ValuesSource): ValuesFinding =>
  findingAt(source, path, 'NULL_VALUE', 'Kubernetes reads null as an empty string here.', {
    severity: 'warning',
    suggestion: 'Remove the key, or write ""',
  });

/** A value of the wrong type; a scalar where a string is required only lacks quotes. */
export function typeMismatch(tree: Tree, {type}: SchemaNode, path: TreePath, source: ValuesSource): ValuesFinding {
  const wanted = [type].flat().join(' or ');
  if (wanted === 'string' && !isMap(tree) && !Array.isArray(tree)) {
    const text = source.written(path) ?? String(tree);
    const message = `Must be a string, but YAML reads ${text} as ${typeOf(tree)} ${JSON.stringify(tree)}.`;
    return findingAt(source, path, 'UNQUOTED_TEXT', message, {suggestion: `"${text}"`, fix: {path, value: text}});
  }
  return findingAt(source, path, 'WRONG_TYPE', `Must be of type ${wanted}, not ${typeOf(tree)}: ${JSON.stringify(tree)}.`);
}

/** The items that have the same keys as an item before them. */
function repeatedItems(items: readonly Tree[], keys: readonly string[]): number[] {
  if (keys.length === 0) return [];
  const identity = items.map((item) => (isMap(item) ? keys.map((key) => item[key] ?? null) : [item]));
  return [...items.keys()].filter((index) => identity.slice(0, index).some((before) => sameTree(before, identity[index])));
}
