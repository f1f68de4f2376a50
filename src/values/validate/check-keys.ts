import type {Target} from '../../charts/define.ts';
import {chartSchema, closedSchema, type SchemaNode} from '../../charts/schema.ts';
import {scopeOf} from '../../charts/support.ts';
import {getAt, isMap, type Path, type Tree} from '../../charts/tree.ts';
import {FIRST_FLOAT} from '../large-numbers.ts';
import {elsewhere, twinOf} from './elsewhere.ts';
import type {Finding} from './finding.ts';
import type {Source} from './source.ts';

/** Every key that the chart version does not know, and every value of a wrong type. */
export function checkKeys(source: Source, target: Target): Finding[] {
  const defaults = scopeOf(target, () => undefined).defaults;
  const at = (path: Path, finding: Omit<Finding, 'path'>): Finding => ({...finding, path: path.join('.'), ...source.locate(path)});

  /** Below keys that Kubernetes types, null drops a default on purpose and templates keep numbers whole. */
  function check(tree: Tree, node: SchemaNode, path: Path, isAbove = false): Finding[] {
    const isKubernetes = isAbove || node['x-kubernetes'] !== undefined;
    if (tree === null) return isKubernetes ? [] : checkNull(node, path);
    if (node.anyOf) {
      const meant = node.anyOf.find(({type}) => [type].flat().includes(typeOf(tree)));
      return check(tree, meant ?? (node.anyOf[0] as SchemaNode), path, isKubernetes);
    }
    if (!fits(tree, node)) return [wrongType(tree, node, path)];
    if (node.enum && !node.enum.includes(tree as string)) {
      return [
        at(path, {severity: 'error', code: 'WRONG_VALUE', message: `${JSON.stringify(tree)} is not one of ${node.enum.join(', ')}.`}),
      ];
    }
    if (typeof tree === 'number' && tree < (node.minimum ?? Number.NEGATIVE_INFINITY)) {
      return [at(path, {severity: 'error', code: 'WRONG_VALUE', message: `${tree} is less than ${node.minimum}.`})];
    }
    if (node.pattern && typeof tree === 'string' && tree !== '' && !new RegExp(node.pattern).test(tree)) {
      return [at(path, {severity: 'error', code: 'WRONG_VALUE', message: `"${tree}" does not match ${node.pattern}.`})];
    }
    if (typeof tree === 'number' && !isKubernetes && Math.abs(tree) >= FIRST_FLOAT) return [tooLarge(tree, path)];
    if (!isMap(tree)) return [];
    if (node.properties === undefined) {
      // Labels, annotations and variables: Kubernetes wants texts, and most templates quote what they get.
      return isKubernetes ? [] : Object.entries(tree).flatMap(([key, below]) => check(below, {}, [...path, key]));
    }
    return Object.entries(tree).flatMap(([key, below]) => {
      const child = Object.hasOwn(node.properties ?? {}, key) ? node.properties?.[key] : undefined;
      if (child) return check(below, child, [...path, key], isKubernetes);
      if (node.additionalProperties === true || isKubernetes) return [];
      const {message, suggestion} = elsewhere([...path, key], source.values, target);
      return [at([...path, key], {severity: 'error', code: 'UNKNOWN_KEY', message, ...(suggestion ? {suggestion} : {})})];
    });
  }

  /** A template prints it as 1e+06 (R34). */
  const tooLarge = (tree: number, path: Path): Finding =>
    at(path, {
      severity: 'error',
      code: 'LARGE_NUMBER',
      message: `Helm prints ${tree} as ${tree.toExponential().replace('e+', 'e+0')}.`,
      suggestion: `"${tree}"`,
    });

  /** null deletes the default of the chart (R36), which is meant only where the chart itself says null. */
  function checkNull(node: SchemaNode, path: Path): Finding[] {
    const isMeant = (getAt(defaults, path) ?? null) === null || [node.type].flat().includes('null');
    return isMeant
      ? []
      : [
          at(path, {
            severity: 'error',
            code: 'NULL_DELETES_DEFAULT',
            message: `null deletes the default of the chart, which its templates rely on (${JSON.stringify(getAt(defaults, path))}).`,
            suggestion: 'Leave the key out to keep the default',
          }),
        ];
  }

  function wrongType(tree: Tree, node: SchemaNode, path: Path): Finding {
    const types = [node.type].flat().join(' or ');
    const written = source.written(path);
    if (types === 'string' && !isMap(tree) && !Array.isArray(tree)) {
      const message = `YAML reads ${written ?? String(tree)} as ${typeOf(tree)} ${JSON.stringify(tree)}, and the chart wants a text.`;
      return at(path, {severity: 'error', code: 'UNQUOTED_TEXT', message, suggestion: `"${written ?? tree}"`});
    }
    if (types === 'boolean' && typeof tree === 'string') {
      const message = `"${tree}" is a text, and templates take every text for true.`;
      return at(path, {
        severity: 'error',
        code: 'TEXT_FOR_SWITCH',
        message,
        suggestion: /^(true|yes|on|1)$/i.test(tree) ? 'true' : 'false',
      });
    }
    const suggestion = twinOf(path, source.values, target);
    const message = `${JSON.stringify(tree)} is ${typeOf(tree)}, and the chart wants ${types}.`;
    return at(path, {severity: 'error', code: 'WRONG_TYPE', message, ...(suggestion ? {suggestion} : {})});
  }

  return check(source.values, closedSchema(chartSchema(target.chart), target.version), []);
}

function fits(tree: Tree, {type}: SchemaNode): boolean {
  const types = [type ?? []].flat();
  const is = typeOf(tree);
  // Large numbers travel as texts, because templates would print them with an exponent.
  const isNumberAsText =
    typeof tree === 'string' && /^-?\d+(\.\d+)?$/.test(tree) && (types.includes('integer') || types.includes('number'));
  return types.length === 0 || types.includes(is) || (is === 'integer' && types.includes('number')) || isNumberAsText;
}

function typeOf(tree: Tree): string {
  if (tree === null) return 'null';
  if (Array.isArray(tree)) return 'array';
  return Number.isInteger(tree) ? 'integer' : typeof tree;
}
