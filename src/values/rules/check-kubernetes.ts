import {resolveType} from '../../charts/releases/kubernetes-types.ts';
import type {SchemaNode} from '../../charts/releases/schema.ts';
import type {KeyFinding} from '../../ground/finding.ts';
import {closest, isMisspelled} from '../../ground/similar-text.ts';

import {getAt, isMap, type Path, sameTree, type Tree, type Values} from '../../ground/tree.ts';
import {findingAt, type Mistake, type ValuesSource} from '../reading/finding.ts';
import {dotted, type TreePath} from '../reading/tree-path.ts';
import {FORMATS} from './formats.ts';
import type {KeyContext, KnownKey} from './key-facts.ts';
import {KUBERNETES_RULES} from './kubernetes-rules.ts';
import {matchesType, typeMismatch} from './types.ts';

/** A value to check against the schema of its type. */
interface TypedValue {
  value: Tree;
  /** The same over the chart defaults, as the templates see it. null removes a default, so it means an absent field. */
  effective: Tree;
  schema: SchemaNode;
  path: TreePath;
}

/** Checks what is below a key against the Kubernetes type of that key. */
export function checkKubernetes(
  {path, value}: KnownKey,
  type: string,
  {source, defaults, effective}: KeyContext,
): KeyFinding[] {
  if (isMap(value) && type.endsWith('[]') && Array.isArray(getAt(defaults, path)))
    return [typeMismatch(value, {type: 'array'}, path, source)];
  if (value === null) return [];
  if (type === 'Labels' || type === 'Annotations') return checkMetadata(value, type, path, source);
  // A key that takes a list may have an empty map as its default.
  if (isMap(value) && Object.keys(value).length === 0) return [];
  const limits = type === 'ResourceRequirements' ? checkLimits(value, path, source, defaults) : [];
  const schema: SchemaNode = {$ref: `#/definitions/${type}`};
  const typed = {value, effective: getAt(effective, path) ?? value, schema, path};
  return [...limits, ...checkType(typed, source)];
}

/** null removes a limit of the chart. Where the chart has none, Helm prints the null, which Kubernetes reads as zero. */
function checkLimits(
  resources: Tree,
  path: Path,
  source: ValuesSource,
  defaults: Values,
): KeyFinding[] {
  const limits = getAt(resources, ['limits']);
  return Object.entries(isMap(limits) ? limits : {}).flatMap(([name, amount]) => {
    const here = [...path, 'limits', name];
    if (amount !== null || getAt(defaults, here) !== undefined) return [];
    return [
      findingAt(source, here, {
        code: 'NULL_IS_ZERO',
        message: 'null sets this limit to zero, because the chart has no default for it.',
        suggestion: 'Remove the key',
      }),
    ];
  });
}

export function checkType(typed: TypedValue, source: ValuesSource): KeyFinding[] {
  const {value, path} = typed;
  const {name, type: schema} = resolveType(typed.schema);
  if (value === null) {
    if (typeof path.at(-1) !== 'number') return [];
    const message = 'A list item cannot be null.';
    return [findingAt(source, path, {code: 'WRONG_TYPE', message})];
  }
  if (!matchesType(value, schema)) return [typeMismatch(value, schema, path, source)];
  const mistake = choiceMistake(value, schema, path) ?? formatMistake(value, schema);
  if (mistake) return [findingAt(source, path, mistake)];
  if (Array.isArray(value)) return checkItems(value, schema, path, source);
  return isMap(value) ? checkObject({...typed, value, schema, name}, source) : [];
}

function choiceMistake(
  value: Tree,
  {enum: choices}: SchemaNode,
  path: TreePath,
): Mistake | undefined {
  if (choices === undefined || value === '' || choices.includes(value as string)) return undefined;
  const near = closest(String(value), choices);
  const isClear = near !== undefined && isMisspelled(String(value), near, choices);
  return {
    code: 'WRONG_VALUE',
    message: `Unsupported value ${JSON.stringify(value)}: must be one of ${choices.join(', ')}.`,
    suggestion: near && JSON.stringify(near),
    fix: isClear ? {path, value: near} : undefined,
  };
}

function formatMistake(value: Tree, {format}: SchemaNode): Mistake | undefined {
  const misspelling = format === undefined ? undefined : FORMATS[format]?.(String(value));
  return misspelling && {code: 'WRONG_VALUE', ...misspelling};
}

function checkItems(
  items: readonly Tree[],
  schema: SchemaNode,
  path: TreePath,
  source: ValuesSource,
): KeyFinding[] {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const message = `Duplicate item: another item has the same ${keys.join(' and ')}.`;
  return [
    ...items.flatMap((value, index) => {
      const item = {value, effective: value, schema: schema.items ?? {}, path: [...path, index]};
      return checkType(item, source);
    }),
    ...repeatedItems(items, keys).map((index) =>
      findingAt(source, [...path, index], {code: 'DUPLICATE_ITEM', message}),
    ),
  ];
}

/** The items that have the same keys as an item before them. */
function repeatedItems(items: readonly Tree[], keys: readonly string[]): number[] {
  if (keys.length === 0) return [];
  const identity = items.map((item) =>
    isMap(item) ? keys.map((key) => item[key] ?? null) : [item],
  );
  return [...items.keys()].filter((index) =>
    identity.slice(0, index).some((before) => sameTree(before, identity[index])),
  );
}

/** A map to check, and the name of its type. */
interface TypedObject extends TypedValue {
  value: Values;
  name: string | undefined;
}

function checkObject(object: TypedObject, source: ValuesSource): KeyFinding[] {
  const {value, effective, schema, path, name} = object;
  const whole = isMap(effective) ? effective : value;
  const fields = Object.keys(value).flatMap((key) => checkField(key, whole, object, source));
  const missing = (schema.required ?? []).filter((key) => (whole[key] ?? null) === null);
  const isSound = name !== undefined && fields.length + missing.length === 0;
  const problems = isSound ? (KUBERNETES_RULES[name]?.(whole) ?? []) : [];
  return [
    ...fields,
    ...missing.map((key) =>
      findingAt(source, path, {code: 'MISSING_KEY', message: `${key} is required.`}),
    ),
    ...problems.flatMap((each) => {
      if (!each) return [];
      const {at, ...mistake} = each;
      return [findingAt(source, [...path, ...at], {code: 'REJECTED_BY_KUBERNETES', ...mistake})];
    }),
  ];
}

function checkField(
  key: string,
  whole: Values,
  {value: object, schema: {properties, additionalProperties}, path, name}: TypedObject,
  source: ValuesSource,
): KeyFinding[] {
  const isOwn = properties !== undefined && Object.hasOwn(properties, key);
  const schema = isOwn ? properties[key] : additionalProperties;
  const here = [...path, key];
  if (schema === true || schema === undefined) return [];
  if (schema === false) {
    const free = Object.keys(properties ?? {}).filter((each) => !Object.hasOwn(object, each));
    return [findingAt(source, here, unknownField(here, name, free))];
  }
  const value = object[key] as Tree;
  const effective = Object.hasOwn(whole, key) ? (whole[key] ?? value) : value;
  return checkType({value, effective, schema, path: here}, source);
}

/** `free` are the fields that the object could still have. */
function unknownField(path: TreePath, type: string | undefined, free: readonly string[]): Mistake {
  const key = String(path.at(-1));
  const name = closest(key, free);
  const isInList = path.some((each) => typeof each === 'number');
  const isClear = name !== undefined && !isInList && isMisspelled(key, name, free);
  return {
    code: 'UNKNOWN_KEY',
    message: `Unknown field ${key}${type === undefined ? '' : ` in ${type}`}.`,
    suggestion: name && dotted([...path.slice(0, -1), name]),
    fix: isClear ? {path, name} : undefined,
  };
}

/** Keys of labels and annotations have a format, and their values are texts that the templates pass on unchanged. */
function checkMetadata(
  tree: Tree,
  type: 'Labels' | 'Annotations',
  path: TreePath,
  source: ValuesSource,
): KeyFinding[] {
  if (!isMap(tree)) return [typeMismatch(tree, {type: 'object'}, path, source)];
  return Object.entries(tree).flatMap(([key, text]) => {
    const here = [...path, key];
    const badKey = FORMATS['qualified-name']?.(type === 'Annotations' ? key.toLowerCase() : key);
    if (badKey) return [findingAt(source, here, {code: 'WRONG_VALUE', ...badKey})];
    if (text === null) return source.isOverride?.(here) ? [] : [emptyText(here, source)];
    if (typeof text !== 'string') return [typeMismatch(text, {type: 'string'}, here, source)];
    const badValue = type === 'Labels' ? FORMATS['label-value']?.(text) : undefined;
    return badValue ? [findingAt(source, here, {code: 'WRONG_VALUE', ...badValue})] : [];
  });
}

const emptyText = (path: TreePath, source: ValuesSource): KeyFinding =>
  findingAt(source, path, {
    code: 'NULL_VALUE',
    message: 'Kubernetes reads null as an empty string here.',
    verdict: 'warning',
    suggestion: 'Remove the key, or write ""',
  });
