import {hasDocumentedKeys} from '../../charts/moved-keys.ts';
import {resolveType} from '../../charts/releases/kubernetes-types.ts';
import {closedSchema, type SchemaNode, schemaOf} from '../../charts/releases/schema.ts';
import type {Target} from '../../charts/releases/target.ts';
import {scopeOf} from '../../charts/support.ts';
import {closest, isMisspelled} from '../../ground/text.ts';
import {
  getAt,
  isMap,
  mergeValues,
  type Path,
  sameTree,
  type Tree,
  type Values,
} from '../../ground/tree.ts';
import {MEBIBYTE, milliOf} from '../../settings/kinds/quantities.ts';
import {withoutMethodNames} from '../read-values.ts';
import {
  type Details,
  dotted,
  findingAt,
  type TreePath,
  type ValuesFinding,
  type ValuesSource,
} from './finding.ts';
import {FORMATS, matchesType, typeOf} from './formats.ts';
import {FIRST_EXPONENT, isMisleadingOctal, printedNumber} from './helm-reader.ts';
import {KUBERNETES_RULES} from './kubernetes-rules.ts';
import {equivalentKey, isForeignSection, suggestKey} from './suggest-key.ts';

/** Templates cannot read such a value. */
export const isTypeError = ({code}: ValuesFinding): boolean =>
  ['WRONG_TYPE', 'STRING_NOT_BOOLEAN', 'UNQUOTED_TEXT', 'NULL_DELETES_DEFAULT'].includes(code);

/** Every key that the chart version does not have, and every value that its templates or Kubernetes reject. */
export function checkKeys(source: ValuesSource, target: Target): ValuesFinding[] {
  const {defaults} = scopeOf(target);
  const effective = mergeValues(defaults, source.values);
  const readable = withoutMethodNames(source.values);
  const error = (path: TreePath, code: string, message: string, details?: Details): ValuesFinding =>
    findingAt(source, path, code, message, details);

  function check(tree: Tree, node: SchemaNode, path: Path): ValuesFinding[] {
    const type = node['x-kubernetes'];
    const isMapForList =
      isMap(tree) && type?.endsWith('[]') && Array.isArray(getAt(defaults, path));
    if (isMapForList) return [typeMismatch(tree, {type: 'array'}, path, source)];
    if (type !== undefined) {
      if (tree === null) return [];
      const limits = type === 'ResourceRequirements' ? checkLimits(tree, path) : [];
      return [
        ...limits,
        ...checkKubernetes(tree, getAt(effective, path) ?? tree, type, path, source),
      ];
    }
    if (tree === null) return checkNull(node, path);
    if (node.anyOf) {
      const meant = node.anyOf.find((each) => [each.type].flat().includes(typeOf(tree)));
      return check(tree, meant ?? (node.anyOf[0] as SchemaNode), path);
    }
    if (isPrintedAlike(tree, node, source.written(path))) return [];
    if (!matchesType(tree, node) && !isNumberAsText(tree, node))
      return [wrongType(tree, node, path)];
    if (!isMap(tree))
      return Array.isArray(tree)
        ? checkType(tree, tree, node, path, source)
        : checkScalar(tree, node, path);
    const {properties} = node;
    if (properties === undefined) return checkVariables(tree, path);
    return Object.entries(tree).flatMap(([key, below]) => {
      const child = Object.hasOwn(properties, key) ? properties[key] : undefined;
      return child ? check(below, child, [...path, key]) : checkUnknown([...path, key]);
    });
  }

  function checkUnknown(path: Path): ValuesFinding[] {
    const found = getAt(readable, path);
    if (
      isMap(found) &&
      (hasDocumentedKeys(path, target) || isForeignSection(path, readable, target))
    )
      return Object.keys(found).flatMap((key) => checkUnknown([...path, key]));
    const {message, ...details} = suggestKey(path, readable, target);
    return [error(path, 'UNKNOWN_KEY', message, details)];
  }

  function checkScalar(tree: Tree, node: SchemaNode, path: TreePath): ValuesFinding[] {
    if (tree === getAt(defaults, path.map(String))) return [];
    if (node.enum && !node.enum.includes(tree as string))
      return [
        error(
          path,
          'WRONG_VALUE',
          `Unsupported value ${JSON.stringify(tree)}: must be one of ${node.enum.join(', ')}.`,
        ),
      ];
    if (typeof tree === 'number') return checkNumber(tree, node, path);
    if (typeof tree !== 'string' || tree === '') return [];
    if (isNumberAsText(tree, node) && !matchesType(tree, node))
      return checkNumber(Number(tree), node, path).filter(({code}) => code !== 'LARGE_NUMBER');
    if (node.pattern && !new RegExp(node.pattern).test(tree))
      return [error(path, 'WRONG_VALUE', `Invalid value "${tree}": must match ${node.pattern}.`)];
    const small = node.format === 'quantity' ? smallVolume(tree, path) : undefined;
    if (small !== undefined) return [error(path, 'UNLIKELY_AMOUNT', small, {severity: 'warning'})];
    const problem = node.format === undefined ? undefined : FORMATS[node.format]?.(tree);
    return problem === undefined ? [] : [error(path, 'WRONG_VALUE', problem)];
  }

  function checkNumber(
    tree: number,
    {minimum = -Infinity, maximum = Infinity}: SchemaNode,
    path: TreePath,
  ): ValuesFinding[] {
    if (tree < minimum)
      return [
        error(
          path,
          'WRONG_VALUE',
          `Invalid value ${tree}: must be greater than or equal to ${minimum}.`,
        ),
      ];
    if (tree > maximum)
      return [
        error(
          path,
          'WRONG_VALUE',
          `Invalid value ${tree}: must be less than or equal to ${maximum}.`,
        ),
      ];
    // A template prints it with an exponent: docs/charts/README.md, "Values that YAML and Helm change".
    return Math.abs(tree) < FIRST_EXPONENT
      ? []
      : [reprinted(path, 'LARGE_NUMBER', String(tree), printedNumber(tree))];
  }

  /** null removes a limit of the chart. Where the chart has none, Helm prints the null, which Kubernetes reads as zero. */
  function checkLimits(tree: Tree, path: Path): ValuesFinding[] {
    const limits = getAt(tree, ['limits']);
    return Object.entries(isMap(limits) ? limits : {})
      .map(([name, amount]) => ({here: [...path, 'limits', name], amount}))
      .filter(({here, amount}) => amount === null && getAt(defaults, here) === undefined)
      .map(({here}) =>
        error(
          here,
          'NULL_IS_ZERO',
          'null sets this limit to zero, because the chart has no default for it.',
          {
            suggestion: 'Remove the key',
          },
        ),
      );
  }

  /** A map of variables, whose values the templates quote. */
  function checkVariables(tree: {[key: string]: Tree}, path: Path): ValuesFinding[] {
    return Object.entries(tree).flatMap(([name, value]) => {
      const here = [...path, name];
      const problem = FORMATS['variable-name']?.(name);
      if (problem !== undefined) return [error(here, 'WRONG_VALUE', problem)];
      if (isMap(value) || Array.isArray(value))
        return [
          error(here, 'WRONG_TYPE', 'An environment variable must be a string, not a list or map.'),
        ];
      // Only agent-job, whose variables are below another key, has a schema for them.
      if (value === null && path.length > 1)
        return [
          error(here, 'WRONG_TYPE', 'The chart schema requires a string, number or boolean.'),
        ];
      return checkPrinted(value, here);
    });
  }

  /** A variable is a text: a number or boolean that Helm prints differently than it was written changes its value. */
  function checkPrinted(value: Tree, path: Path): ValuesFinding[] {
    const written = source.written(path) ?? String(value);
    if (typeof value === 'boolean' && written !== String(value))
      return [{...reprinted(path, 'UNQUOTED_TEXT', written, String(value)), severity: 'warning'}];
    if (typeof value !== 'number' || written === printedNumber(value) || isMisleadingOctal(written))
      return [];
    return [
      reprinted(
        path,
        Math.abs(value) < FIRST_EXPONENT ? 'UNQUOTED_TEXT' : 'LARGE_NUMBER',
        written,
        printedNumber(value),
      ),
    ];
  }

  /** A number in digits means these digits. Any other notation, such as yes or 1_000, can mean itself or what Helm renders. */
  function reprinted(
    path: TreePath,
    code: string,
    written: string,
    printed: string,
  ): ValuesFinding {
    const isClear = /^-?(0|[1-9]\d*)(\.\d+)?$/.test(written);
    return error(path, code, `Helm renders ${written} as ${printed}.`, {
      suggestion: isClear ? `"${written}"` : `"${written}" or "${printed}"`,
      ...(isClear ? {fix: {path, value: written}} : {}),
    });
  }

  /** null deletes the chart default, which is fine only where that default is empty or null. */
  function checkNull(node: SchemaNode, path: Path): ValuesFinding[] {
    const usual = getAt(defaults, path) ?? null;
    const isEmpty =
      usual === '' || (typeof usual === 'object' && Object.keys(usual ?? {}).length === 0);
    if (isEmpty || [node.type].flat().includes('null')) return [];
    const message = `null removes the chart default (${JSON.stringify(getAt(defaults, path))}), which the templates require.`;
    return [
      error(path, 'NULL_DELETES_DEFAULT', message, {
        suggestion: 'Remove the key to keep the chart default',
      }),
    ];
  }

  function wrongType(tree: Tree, node: SchemaNode, path: Path): ValuesFinding {
    if ([node.type].flat().join() === 'boolean' && typeof tree === 'string') {
      const value = /^(true|yes|on|1)$/i.test(tree);
      const isClear = value || /^(false|no|off|0)$/i.test(tree);
      return error(
        path,
        'STRING_NOT_BOOLEAN',
        `"${tree}" is a string, and templates treat every non-empty string as true.`,
        {
          suggestion: isClear ? String(value) : 'true or false',
          ...(isClear ? {fix: {path, value}} : {}),
        },
      );
    }
    if (
      node.format === 'quantity' &&
      typeof tree === 'number' &&
      smallVolume(String(tree), path) !== undefined
    )
      return error(path, 'UNQUOTED_TEXT', `${tree} has no unit, so it means ${tree} bytes.`, {
        suggestion: `${tree}Gi`,
      });
    const found = typeMismatch(tree, node, path, source);
    return found.code === 'WRONG_TYPE'
      ? error(path, found.code, found.message, equivalentKey(path, readable, target))
      : found;
  }

  return check(source.values, closedSchema(schemaOf(target), target.version), []);
}

/** A volume size that is probably a mistake; a PVC without a size has its own finding. */
function smallVolume(amount: string, path: TreePath): string | undefined {
  const milli = milliOf(amount);
  if (milli === undefined || milli >= MEBIBYTE) return undefined;
  if (milli > 0n) return `${amount} is less than 1Mi. Did you mean Mi or Gi?`;
  return path.at(-1) === 'sizeLimit' ? 'A limit of zero means no limit.' : undefined;
}

/** Large numbers are written as texts, because templates would print them with an exponent. */
const isNumberAsText = (tree: Tree, {type}: SchemaNode): boolean => {
  if (typeof tree !== 'string') return false;
  const types = [type].flat();
  return (
    (types.includes('integer') && /^-?\d+$/.test(tree)) ||
    (types.includes('number') && /^-?\d+(\.\d+)?$/.test(tree))
  );
};

/** Templates render tags and printed switches unchanged, with or without quotes. */
const isPrintedAlike = (tree: Tree, {format}: SchemaNode, written: string | undefined): boolean => {
  if (format === 'flag')
    return [0, 1, '0', '1', 'true', 'false'].includes(tree as string) || typeof tree === 'boolean';
  return (
    format === 'image-tag' &&
    Number.isInteger(tree) &&
    Math.abs(Number(tree)) < FIRST_EXPONENT &&
    written === String(tree)
  );
};

/**
 * Checks the tree below a key against the Kubernetes type of that key. `effective` is the same tree over the chart
 * defaults, as the templates see it. null removes a default, so it means an absent field.
 */
function checkKubernetes(
  tree: Tree,
  effective: Tree,
  type: string,
  path: TreePath,
  source: ValuesSource,
): ValuesFinding[] {
  if (type === 'Labels' || type === 'Annotations') return checkMetadata(tree, type, path, source);
  const node: SchemaNode = {$ref: `#/definitions/${type}`};
  // A key that takes a list may have an empty map as its default.
  return isMap(tree) && Object.keys(tree).length === 0
    ? []
    : checkType(tree, effective, node, path, source);
}

function checkType(
  tree: Tree,
  effective: Tree,
  reference: SchemaNode,
  path: TreePath,
  source: ValuesSource,
): ValuesFinding[] {
  const {name: type, type: node} = resolveType(reference);
  const error = (
    code: string,
    message: string,
    details?: Details,
    at: TreePath = [],
  ): ValuesFinding => findingAt(source, [...path, ...at], code, message, details);
  if (tree === null)
    return typeof path.at(-1) === 'number'
      ? [error('WRONG_TYPE', 'A list item cannot be null.')]
      : [];
  if (!matchesType(tree, node)) return [typeMismatch(tree, node, path, source)];
  if (node.enum && tree !== '' && !node.enum.includes(tree as string)) {
    const value = closest(String(tree), node.enum);
    const fix = value && isMisspelled(String(tree), value, node.enum) ? {fix: {path, value}} : {};
    const details = value ? {suggestion: JSON.stringify(value), ...fix} : {};
    return [
      error(
        'WRONG_VALUE',
        `Unsupported value ${JSON.stringify(tree)}: must be one of ${node.enum.join(', ')}.`,
        details,
      ),
    ];
  }
  const malformed = node.format === undefined ? undefined : FORMATS[node.format]?.(String(tree));
  if (malformed !== undefined) return [error('WRONG_VALUE', malformed)];
  if (Array.isArray(tree)) {
    const items = tree.flatMap((item, index) =>
      checkType(item, item, node.items ?? {}, [...path, index], source),
    );
    const keys = node['x-kubernetes-list-map-keys'] ?? [];
    return [
      ...items,
      ...repeatedItems(tree, keys).map((index) =>
        error(
          'DUPLICATE_ITEM',
          `Duplicate item: another item has the same ${keys.join(' and ')}.`,
          {},
          [index],
        ),
      ),
    ];
  }
  if (!isMap(tree)) return [];
  const whole = isMap(effective) ? effective : tree;
  const fields = Object.entries(tree).flatMap(([key, below]): ValuesFinding[] => {
    const child =
      node.properties && Object.hasOwn(node.properties, key)
        ? node.properties[key]
        : node.additionalProperties;
    if (child === true || child === undefined) return [];
    if (child === false) return [unknownField(key, tree, node, type, [...path, key], source)];
    return checkType(
      below,
      Object.hasOwn(whole, key) ? (whole[key] ?? below) : below,
      child,
      [...path, key],
      source,
    );
  });
  const missing = (node.required ?? []).filter((key) => (whole[key] ?? null) === null);
  const isSound = type !== undefined && fields.length + missing.length === 0;
  const problems = isSound ? (KUBERNETES_RULES[type]?.(whole) ?? []) : [];
  return [
    ...fields,
    ...missing.map((key) => error('MISSING_KEY', `${key} is required.`)),
    ...problems.flatMap((each) =>
      each
        ? [
            error(
              each.code ?? 'REJECTED_BY_KUBERNETES',
              each.message,
              {severity: each.severity},
              each.at,
            ),
          ]
        : [],
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
  const fix = name && !isInList && isMisspelled(key, name, free) ? {fix: {path, name}} : {};
  const details = name ? {suggestion: dotted([...path.slice(0, -1), name]), ...fix} : {};
  return findingAt(
    source,
    path,
    'UNKNOWN_KEY',
    `Unknown field ${key}${type === undefined ? '' : ` in ${type}`}.`,
    details,
  );
}

/** Keys of labels and annotations have a format, and their values are texts that the templates pass on unchanged. */
function checkMetadata(
  tree: Tree,
  type: 'Labels' | 'Annotations',
  path: TreePath,
  source: ValuesSource,
): ValuesFinding[] {
  if (!isMap(tree)) return [typeMismatch(tree, {type: 'object'}, path, source)];
  return Object.entries(tree).flatMap(([key, text]) => {
    const here = [...path, key];
    const badKey = FORMATS['qualified-name']?.(type === 'Annotations' ? key.toLowerCase() : key);
    if (badKey === undefined && text !== null && typeof text !== 'string')
      return [typeMismatch(text, {type: 'string'}, here, source)];
    if (badKey === undefined && text === null)
      return source.isOverride?.(here) ? [] : [emptyText(here, source)];
    const problem =
      badKey ??
      (type === 'Labels' && text !== null ? FORMATS['label-value']?.(String(text)) : undefined);
    return problem === undefined ? [] : [findingAt(source, here, 'WRONG_VALUE', problem)];
  });
}

const emptyText = (path: TreePath, source: ValuesSource): ValuesFinding =>
  findingAt(source, path, 'NULL_VALUE', 'Kubernetes reads null as an empty string here.', {
    severity: 'warning',
    suggestion: 'Remove the key, or write ""',
  });

/** A value of the wrong type; a scalar where a string is required only lacks quotes. */
function typeMismatch(
  tree: Tree,
  {type}: SchemaNode,
  path: TreePath,
  source: ValuesSource,
): ValuesFinding {
  const desired = [type].flat().join(' or ');
  if (desired === 'string' && !isMap(tree) && !Array.isArray(tree)) {
    const text = source.written(path) ?? String(tree);
    const message = `Must be a string, but YAML reads ${text} as ${typeOf(tree)} ${JSON.stringify(tree)}.`;
    return findingAt(source, path, 'UNQUOTED_TEXT', message, {
      suggestion: `"${text}"`,
      fix: {path, value: text},
    });
  }
  return findingAt(
    source,
    path,
    'WRONG_TYPE',
    `Must be of type ${desired}, not ${typeOf(tree)}: ${JSON.stringify(tree)}.`,
  );
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
