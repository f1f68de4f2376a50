import {parse} from 'yaml';
import type {Target} from '../charts/define.ts';
import {describeRange, rangeOf} from '../charts/releases.ts';
import {chartSchema, closedSchema, leavesOf, type SchemaNode} from '../charts/schema.ts';
import {releasesOf} from '../charts/target.ts';
import {isMap, type Path, spellPath, type Tree} from '../charts/tree.ts';
import {InvalidValue} from '../settings/define.ts';
import {closest} from '../settings/similar.ts';

/** One `--set path=value`, checked against the keys and types of the chart version. @throws InvalidValue */
export function assignment(text: string, value: string, {chart, version}: Target): {path: Path; value: Tree} {
  const path = text.split(/(?<!\\)\./).map((key) => key.replaceAll('\\.', '.'));
  const found = nodeAt(closedSchema(chartSchema(chart), version), path);
  if (found === undefined) {
    const elsewhere = releasesWith(path, chart);
    if (elsewhere) throw new InvalidValue(`${chart} ${version} has no key "${text}"`, `It exists ${elsewhere}`);
    const near = nearest(
      text,
      leavesOf(chartSchema(chart), version).map((leaf) => spellPath(leaf.path)),
    );
    throw new InvalidValue(`${chart} ${version} has no key "${text}"`, near && `Did you mean ${near}?`);
  }
  return {path, value: found === 'text' ? value : convert(text, value, found)};
}

/** The releases that hold the key, in words; undefined when none does. */
function releasesWith(path: Path, chart: Target['chart']): string | undefined {
  const all = releasesOf(chart);
  const some = all.filter((version) => nodeAt(closedSchema(chartSchema(chart), version), path) !== undefined);
  return some.length === 0 ? undefined : describeRange(rangeOf(some, all));
}

/** The schema at a path; `text` inside maps of texts, an empty schema inside what Kubernetes types. */
function nodeAt(root: SchemaNode, path: Path): SchemaNode | 'text' | undefined {
  let node: SchemaNode | undefined = root;
  for (const key of path) {
    const here: SchemaNode = node;
    if (here['x-kubernetes'] === 'NodeSelector') return 'text';
    const child: SchemaNode | undefined = here.properties?.[key] ?? here.anyOf?.map((each) => each.properties?.[key]).find(Boolean);
    if (child === undefined) {
      if (here['x-kubernetes'] !== undefined || here.additionalProperties === true) return {};
      return here.properties === undefined && here.type === 'object' ? 'text' : undefined;
    }
    node = child;
  }
  return node;
}

function convert(path: string, text: string, node: SchemaNode): Tree {
  const types = [node.type ?? []].flat();
  if (types.length === 1 && types[0] === 'string') return checked(path, text, node);
  const value = parseScalarOrTree(path, text);
  const type =
    value === null ? 'null' : Array.isArray(value) ? 'array' : isMap(value) ? 'object' : Number.isInteger(value) ? 'integer' : typeof value;
  const fits = types.length === 0 || types.includes(type) || (type === 'integer' && types.includes('number'));
  if (!fits) throw new InvalidValue(`"${path}" takes ${types.join(' or ')}, not ${JSON.stringify(text)}`);
  return checked(path, value, node);
}

function parseScalarOrTree(path: string, text: string): Tree {
  try {
    return parse(text) as Tree;
  } catch {
    throw new InvalidValue(`the value of "${path}" is neither a scalar nor JSON`, `Write lists and maps as JSON: --set '${path}=["a"]'`);
  }
}

function checked(path: string, value: Tree, node: SchemaNode): Tree {
  if (node.enum && !node.enum.includes(value as string)) throw new InvalidValue(`"${path}" takes one of ${node.enum.join(', ')}`);
  if (node.minimum !== undefined && typeof value === 'number' && value < node.minimum)
    throw new InvalidValue(`"${path}" must be at least ${node.minimum}`);
  if (node.pattern && typeof value === 'string' && !new RegExp(node.pattern).test(value))
    throw new InvalidValue(`"${path}" must match ${node.pattern}`);
  return value;
}

/** A key that is spelt alike, or one of the same name elsewhere. */
function nearest(text: string, candidates: readonly string[]): string | undefined {
  const name = text.split('.').at(-1);
  return closest(text, candidates) ?? candidates.find((candidate) => candidate.split('.').at(-1) === name);
}
