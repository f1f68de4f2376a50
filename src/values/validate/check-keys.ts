import type {Target} from '../../charts/define.ts';
import {closedSchema, type SchemaNode, schemaOf} from '../../charts/schema.ts';
import {scopeOf} from '../../charts/support.ts';
import {getAt, isMap, mergeValues, type Path, type Tree} from '../../charts/tree.ts';
import {FIRST_FLOAT} from '../large-numbers.ts';
import {printedNumber} from '../printed-number.ts';
import {checkKubernetes, mismatch} from './check-kubernetes.ts';
import {elsewhere, twinOf} from './elsewhere.ts';
import {dotted, type Finding, type TreePath} from './finding.ts';
import {FORMATS} from './formats.ts';
import {isMisleadingOctal} from './scalars.ts';
import type {Source} from './source.ts';
import {fits, typeOf} from './types.ts';

/** Every key that the chart version does not know, and every value that its templates or Kubernetes cannot take. */
export function checkKeys(source: Source, target: Target): Finding[] {
  const {defaults} = scopeOf(target, () => undefined);
  const effective = mergeValues(defaults, source.values);
  const error = (path: TreePath, code: string, message: string, more: Partial<Finding> = {}): Finding => ({
    severity: 'error',
    code,
    path: dotted(path),
    ...source.locate(path),
    message,
    ...more,
  });

  function check(tree: Tree, node: SchemaNode, path: Path): Finding[] {
    const type = node['x-kubernetes'];
    const isMapForList = isMap(tree) && type?.endsWith('[]') && Array.isArray(getAt(defaults, path));
    if (isMapForList) return [mismatch(tree, {type: 'array'}, path, source)];
    if (type !== undefined && tree !== null)
      return [
        ...(type === 'ResourceRequirements' ? checkLimits(tree, path) : []),
        ...checkKubernetes(tree, getAt(effective, path) ?? tree, type, path, source),
      ];
    if (type !== undefined) return [];
    if (tree === null) return checkNull(node, path);
    if (node.anyOf) {
      const meant = node.anyOf.find((each) => [each.type].flat().includes(typeOf(tree)));
      return check(tree, meant ?? (node.anyOf[0] as SchemaNode), path);
    }
    if (isPrintedAlike(tree, node, source.written(path))) return [];
    if (!fits(tree, node) && !isNumberAsText(tree, node)) return [wrongType(tree, node, path)];
    if (!isMap(tree)) return Array.isArray(tree) ? checkItems(tree, node.items ?? {}, path) : checkScalar(tree, node, path);
    if (node.properties === undefined) return checkVariables(tree, path);
    return Object.entries(tree).flatMap(([key, below]) => {
      const child = Object.hasOwn(node.properties ?? {}, key) ? node.properties?.[key] : undefined;
      if (child) return check(below, child, [...path, key]);
      const {message, suggestion, fix} = elsewhere([...path, key], source.values, target);
      return [error([...path, key], 'UNKNOWN_KEY', message, {...(suggestion ? {suggestion} : {}), ...(fix ? {fix} : {})})];
    });
  }

  function checkScalar(tree: Tree, node: SchemaNode, path: TreePath): Finding[] {
    if (tree === getAt(defaults, path.map(String))) return [];
    if (node.enum && !node.enum.includes(tree as string)) {
      return [error(path, 'WRONG_VALUE', `${JSON.stringify(tree)} is not one of ${node.enum.join(', ')}.`)];
    }
    if (typeof tree === 'number') return checkNumber(tree, node, path);
    if (typeof tree !== 'string' || tree === '') return [];
    if (isNumberAsText(tree, node) && !fits(tree, node))
      return checkNumber(Number(tree), node, path).filter(({code}) => code !== 'LARGE_NUMBER');
    if (node.pattern && !new RegExp(node.pattern).test(tree)) {
      return [error(path, 'WRONG_VALUE', `"${tree}" does not match ${node.pattern}.`)];
    }
    const problem = node.format === undefined ? undefined : FORMATS[node.format]?.(tree);
    return problem === undefined ? [] : [error(path, 'WRONG_VALUE', problem)];
  }

  function checkNumber(
    tree: number,
    {minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY}: SchemaNode,
    path: TreePath,
  ): Finding[] {
    if (tree < minimum) return [error(path, 'WRONG_VALUE', `${tree} is less than ${minimum}.`)];
    if (tree > maximum) return [error(path, 'WRONG_VALUE', `${tree} is more than ${maximum}.`)];
    if (Math.abs(tree) < FIRST_FLOAT) return [];
    // A template prints it with an exponent: docs/charts/README.md, "Values that YAML and Helm change".
    return [reprinted(path, 'LARGE_NUMBER', String(tree), printedNumber(tree))];
  }

  /** null takes a limit of the chart away. Where the chart has none Helm prints the null, which Kubernetes reads as zero. */
  function checkLimits(tree: Tree, path: Path): Finding[] {
    const limits = getAt(tree, ['limits']);
    return Object.entries(isMap(limits) ? limits : {})
      .map(([name, amount]) => ({here: [...path, 'limits', name], amount}))
      .filter(({here, amount}) => amount === null && getAt(defaults, here) === undefined)
      .map(({here}) =>
        error(here, 'NULL_IS_ZERO', 'The chart sets no such limit, so this null becomes a limit of zero.', {suggestion: 'Leave it out'}),
      );
  }

  /** Lists that templates print as they are, such as mirrors; items have no defaults. */
  function checkItems(items: readonly Tree[], node: SchemaNode, path: TreePath): Finding[] {
    return items.flatMap((item, index) => {
      const here = [...path, index];
      if (!fits(item, node)) return [mismatch(item, node, here, source)];
      if (!isMap(item)) return checkScalar(item, node, here);
      const missing = (node.required ?? []).filter((key) => (item[key] ?? null) === null);
      return [
        ...missing.map((key) => error(here, 'MISSING_KEY', `There has to be ${key} here.`)),
        ...Object.entries(item).flatMap(([key, below]) => {
          const child = node.properties && Object.hasOwn(node.properties, key) ? node.properties[key] : undefined;
          if (child === undefined)
            return node.properties ? [error([...here, key], 'UNKNOWN_KEY', `The items of this list have no ${key}.`)] : [];
          if (!fits(below, child)) return [mismatch(below, child, [...here, key], source)];
          return Array.isArray(below) ? checkItems(below, child.items ?? {}, [...here, key]) : checkScalar(below, child, [...here, key]);
        }),
      ];
    });
  }

  /** A map of variables, whose values the templates put in quotes. */
  function checkVariables(tree: {[key: string]: Tree}, path: Path): Finding[] {
    return Object.entries(tree).flatMap(([name, value]) => {
      const here = [...path, name];
      const problem = FORMATS['variable-name']?.(name);
      if (problem !== undefined) return [error(here, 'WRONG_VALUE', problem)];
      if (isMap(value) || Array.isArray(value)) {
        return [error(here, 'WRONG_TYPE', 'A variable here is a name and a text; the template would print the list or map as Go does.')];
      }
      // agent-job alone has a schema for its variables, which are the ones that stand below another key.
      if (value === null && path.length > 1)
        return [error(here, 'WRONG_TYPE', 'The schema of the chart wants a text, a number or a switch here.')];
      return checkPrinted(value, here);
    });
  }

  /** A variable is a text: a number or switch that Helm prints otherwise than it was written becomes another one. */
  function checkPrinted(value: Tree, path: Path): Finding[] {
    const written = source.written(path) ?? String(value);
    if (typeof value === 'boolean' && written !== String(value))
      return [{...reprinted(path, 'UNQUOTED_TEXT', written, String(value)), severity: 'warning'}];
    if (typeof value !== 'number' || written === printedNumber(value) || isMisleadingOctal(written)) return [];
    return [reprinted(path, Math.abs(value) < FIRST_FLOAT ? 'UNQUOTED_TEXT' : 'LARGE_NUMBER', written, printedNumber(value))];
  }

  const reprinted = (path: TreePath, code: string, written: string, printed: string): Finding =>
    error(path, code, `Helm prints ${written} as ${printed}.`, {suggestion: `"${written}"`, fix: {path, value: written}});

  /** null deletes the default of the chart, which is meant only where the chart itself says null. */
  function checkNull(node: SchemaNode, path: Path): Finding[] {
    const usual = getAt(defaults, path) ?? null;
    // Templates take nothing for an empty default.
    const isEmpty = usual === '' || (typeof usual === 'object' && Object.keys(usual ?? {}).length === 0);
    const isMeant = isEmpty || [node.type].flat().includes('null');
    if (isMeant) return [];
    const message = `null deletes the default of the chart, which its templates rely on (${JSON.stringify(getAt(defaults, path))}).`;
    return [error(path, 'NULL_DELETES_DEFAULT', message, {suggestion: 'Leave the key out to keep the default'})];
  }

  function wrongType(tree: Tree, node: SchemaNode, path: Path): Finding {
    if ([node.type].flat().join() === 'boolean' && typeof tree === 'string') {
      const meant = /^(true|yes|on|1)$/i.test(tree);
      const isClear = meant || /^(false|no|off|0)$/i.test(tree);
      return error(path, 'TEXT_FOR_SWITCH', `"${tree}" is a text, and templates take every text for true.`, {
        suggestion: String(meant),
        ...(isClear ? {fix: {path, value: meant}} : {}),
      });
    }
    const found = mismatch(tree, node, path, source);
    const twin = found.code === 'WRONG_TYPE' ? twinOf(path, source.values, target) : undefined;
    return twin ? {...found, suggestion: twin.text, ...(twin.fix ? {fix: twin.fix} : {})} : found;
  }

  return check(source.values, closedSchema(schemaOf(target), target.version), []);
}

/** Large numbers travel as texts, because templates would print them with an exponent. */
const isNumberAsText = (tree: Tree, {type}: SchemaNode): boolean => {
  if (typeof tree !== 'string') return false;
  const types = [type].flat();
  return (types.includes('integer') && /^-?\d+$/.test(tree)) || (types.includes('number') && /^-?\d+(\.\d+)?$/.test(tree));
};

/** Tags and printed switches come out of the templates as they were written, quoted or not. */
const isPrintedAlike = (tree: Tree, {format}: SchemaNode, written: string | undefined): boolean => {
  if (format === 'flag') return [0, 1, '0', '1', 'true', 'false'].includes(tree as string) || typeof tree === 'boolean';
  return format === 'image-tag' && Number.isInteger(tree) && Math.abs(Number(tree)) < FIRST_FLOAT && written === String(tree);
};
