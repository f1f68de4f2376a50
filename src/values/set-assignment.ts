import {parse} from 'yaml';
import type {Target} from '../charts/define.ts';
import {describeRange, rangeOf} from '../charts/releases.ts';
import {chartSchema, closedSchema, leavesOf, type SchemaNode} from '../charts/schema.ts';
import {releasesOf} from '../charts/target.ts';
import {isMap, type Path, spellPath, type Tree} from '../charts/tree.ts';
import {InvalidValue} from '../settings/define.ts';
import {milliOf} from '../settings/quantity.ts';
import {closest} from '../settings/text.ts';

/** One `--set path=value`, checked against the keys and types of the chart version. @throws InvalidValue */
export function assignment(text: string, value: string, {chart, version}: Target): {path: Path; value: Tree} {
  const path = text.split(/(?<!\\)\./).map((key) => key.replaceAll('\\.', '.'));
  const root = closedSchema(chartSchema(chart), version);
  const node = nodeAt(root, path);
  if (node === undefined) throw unknownKey(text, path, {chart, version});
  // Below keys that Kubernetes types, null is how Helm drops a default: no CPU limit, no fixed user.
  if (value === 'null' && path.some((_, index) => nodeAt(root, path.slice(0, index))?.['x-kubernetes'])) return {path, value: null};
  const tree = isText(node) ? value : parseTree(text, value);
  check(text, tree, node);
  return {path, value: tree};
}

function unknownKey(text: string, path: Path, {chart, version}: Target): InvalidValue {
  const message = `${chart} ${version} has no key "${text}"`;
  const all = releasesOf(chart);
  const some = all.filter((each) => nodeAt(closedSchema(chartSchema(chart), each), path) !== undefined);
  if (some.length > 0) return new InvalidValue(message, `It exists ${describeRange(rangeOf(some, all))}`);
  const known = leavesOf(chartSchema(chart), version).map((leaf) => spellPath(leaf.path));
  const near = closest(text, known) ?? known.find((each) => each.split('.').at(-1) === path.at(-1));
  return new InvalidValue(message, near ? `Did you mean ${near}?` : `See the values.yaml of ${chart} ${version}`);
}

const ANY: SchemaNode = {};
const TEXT: SchemaNode = {type: 'string'};

const isText = ({type}: SchemaNode): boolean => [type].flat().join() === 'string';

/** Maps whose keys are free hold texts (labels, annotations, variables) unless Kubernetes types them. */
const isFreeMap = (node: SchemaNode): boolean => node.type === 'object' && node.properties === undefined && isTextMap(node);
const isTextMap = (node: SchemaNode): boolean => [undefined, 'Labels', 'Annotations'].includes(node['x-kubernetes']);

/** The schema at a path; undefined where no such key can be. */
function nodeAt(root: SchemaNode, path: Path): SchemaNode | undefined {
  return path.reduce<SchemaNode | undefined>((node, key) => node && childOf(node, key), root);
}

function childOf(node: SchemaNode, key: string): SchemaNode | undefined {
  if (node === ANY) return ANY;
  for (const each of [node, ...(node.anyOf ?? [])]) {
    if (each.properties && Object.hasOwn(each.properties, key)) return each.properties[key];
    if (isFreeMap(each)) return TEXT;
    if (each['x-kubernetes'] !== undefined || each.additionalProperties === true) return ANY;
  }
  return undefined;
}

function parseTree(path: string, text: string): Tree {
  try {
    return parse(text, {logLevel: 'error'}) as Tree;
  } catch {
    throw new InvalidValue(`the value of "${path}" is neither a scalar nor JSON`, `Write lists and maps as JSON: --set '${path}=["a"]'`);
  }
}

/** Holds a value against the schema of its key, and what is below it too. */
function check(path: string, tree: Tree, node: SchemaNode): void {
  refuseSecret(path, tree, node);
  if (node.anyOf) {
    const isMeant = node.anyOf.find(({type}) => [type].flat().includes(typeOf(tree)));
    check(path, tree, isMeant ?? (node.anyOf[0] as SchemaNode));
    return;
  }
  const types = [node.type ?? []].flat();
  const fits = types.length === 0 || types.includes(typeOf(tree)) || (typeOf(tree) === 'integer' && types.includes('number'));
  if (!fits)
    throw new InvalidValue(`"${path}" takes ${types.join(' or ')}, not ${JSON.stringify(tree)}`, `Give it as ${types.join(' or ')}`);
  checkScalar(path, tree, node);
  if (!isMap(tree)) return;
  for (const [key, below] of Object.entries(tree)) {
    if (below === null && node['x-kubernetes'] !== undefined) continue;
    const child = childOf(node, key);
    if (child === undefined)
      throw new InvalidValue(`"${path}" has no key "${key}"`, `Keys there: ${Object.keys(node.properties ?? {}).join(', ')}`);
    check(`${path}.${key}`, below, child);
  }
}

const QUANTITY = /(^|\.)((limits|requests)\.(cpu|memory|ephemeral-storage)|sizeLimit|storage)$/;

function checkScalar(path: string, tree: Tree, node: SchemaNode): void {
  if (typeof tree === 'number' && (!Number.isFinite(tree) || tree < (node.minimum ?? 0))) {
    throw new InvalidValue(`"${path}" cannot be ${tree}`, `Give a number from ${node.minimum ?? 0} on`);
  }
  if (typeof tree === 'string' && QUANTITY.test(path) && milliOf(tree) === undefined) {
    throw new InvalidValue(`"${path}" cannot be "${tree}"`, 'Write a Kubernetes quantity, such as 500m or 2Gi');
  }
  if (node.enum && !node.enum.includes(tree as string))
    throw new InvalidValue(`"${path}" cannot be ${JSON.stringify(tree)}`, `Use one of ${node.enum.join(', ')}`);
  if (node.pattern && typeof tree === 'string' && !new RegExp(node.pattern).test(tree)) {
    throw new InvalidValue(`"${path}" cannot be "${tree}"`, `It has to match ${node.pattern}`);
  }
}

/** Law of the house: what is secret travels in a Secret and never in values.yaml. */
function refuseSecret(path: string, tree: Tree, node: SchemaNode): void {
  const isMirrorToken = path.endsWith('providerNetworkMirrors') && /"token":/.test(JSON.stringify(tree));
  if (node['x-secret'] !== true && !isMirrorToken) return;
  throw new InvalidValue(
    `"${path}" is secret, and values.yaml is kept in clear text`,
    'Use --token-file, --client-cert-file and --client-key-file, which put it into a Secret',
  );
}

function typeOf(tree: Tree): string {
  if (tree === null) return 'null';
  if (Array.isArray(tree)) return 'array';
  return Number.isInteger(tree) ? 'integer' : typeof tree;
}
