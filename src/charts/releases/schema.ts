import agentJob from '../../../schemas/agent-job.json' with {type: 'json'};
import agentK8s from '../../../schemas/agent-k8s.json' with {type: 'json'};
import agentLocal from '../../../schemas/agent-local.json' with {type: 'json'};
import {copyOf, type Path, setAt, type Tree, type Values} from '../../ground/tree.ts';
import type {ChartName} from './chart-name.ts';
import {type Release, within} from './versions.ts';

/**
 * A node of schemas/<chart>.json: JSON Schema with five keywords of ours.
 * `x-versions` is the semver range of releases that hold the key, `x-defaults` lists defaults that changed between
 * releases, `x-kubernetes` names the Kubernetes type that rules below the key, `x-template-only` marks a key
 * that templates read although the chart's values.yaml does not hold it, and `x-secret` one that must not stand in a
 * file.
 */
export interface SchemaNode {
  type?: string | readonly string[];
  properties?: Readonly<Record<string, SchemaNode>>;
  oneOf?: readonly SchemaNode[];
  anyOf?: readonly SchemaNode[];
  additionalProperties?: boolean | SchemaNode;
  required?: readonly string[];
  items?: SchemaNode;
  $ref?: string;
  enum?: readonly string[];
  pattern?: string;
  /** A string format that a pattern cannot express, defined in src/values/rules/formats.ts. */
  format?: string;
  minimum?: number;
  maximum?: number;
  default?: Tree;
  'x-versions'?: string;
  'x-defaults'?: readonly {versions: string; default: Tree}[];
  'x-kubernetes'?: string;
  /** Of a list: the fields that identify an item. */
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-template-only'?: boolean;
  'x-secret'?: boolean;
  [keyword: string]: unknown;
}

export interface ChartSchema extends SchemaNode {
  'x-releases': readonly Release[];
}

/** A key of values.yaml without keys below it. */
export interface Leaf {
  path: readonly string[];
  node: SchemaNode;
  default: Tree;
}

const SCHEMAS: Readonly<Record<ChartName, ChartSchema>> = {
  'agent-k8s': agentK8s as unknown as ChartSchema,
  'agent-local': agentLocal as unknown as ChartSchema,
  'agent-job': agentJob as unknown as ChartSchema,
};

export const chartSchema = (chart: ChartName): ChartSchema => SCHEMAS[chart];

/** The schema of a chart version: from the chart itself, or built in. */
export const schemaOf = ({
  chart,
  schema,
}: {
  chart: ChartName;
  schema?: ChartSchema | undefined;
}): ChartSchema => schema ?? chartSchema(chart);
type NamedVersion = {chart: ChartName; version: string; schema?: ChartSchema | undefined};
export const chartRelease = (target: NamedVersion): Release | undefined =>
  schemaOf(target)['x-releases'].find(({version}) => version === target.version);

/** The agent version of a chart release; undefined for an unknown release. */
export const agentVersionOf = (target: NamedVersion): string | undefined =>
  chartRelease(target)?.appVersion;

/** Every key of one version, in the order of the chart's values.yaml. */
export function leavesOf(
  schema: SchemaNode,
  version: string,
  path: readonly string[] = [],
): Leaf[] {
  return alternatives(schema, version).flatMap((node) => {
    if (!node.properties) return [{path, node, default: defaultOf(node, version)}];
    return Object.entries(node.properties).flatMap(([key, child]) =>
      leavesOf(child, version, [...path, key]),
    );
  });
}

/** The default values of a release, from the schema. */
export function defaultsOf(schema: SchemaNode, version: string): Values {
  const values: Values = {};
  for (const leaf of leavesOf(schema, version)) {
    if (!leaf.node['x-template-only']) setAt(values, leaf.path, copyOf(leaf.default));
  }
  return values;
}

/** The schema of one version, in which unknown keys are errors. */
export const closedSchema = (schema: SchemaNode, version: string): SchemaNode =>
  close(schema, version, false) as SchemaNode;

/** Undefined for a key that the version does not have. */
function close(schema: SchemaNode, version: string, open: boolean): SchemaNode | undefined {
  return alternatives(schema, version)
    .map((node) => closeNode(node, version, open))
    .find((node) => node !== undefined);
}

/** Undefined for a section without keys. */
function closeNode(node: SchemaNode, version: string, open: boolean): SchemaNode | undefined {
  const plain = Object.fromEntries(Object.entries(node).filter(([key]) => !OURS.has(key)));
  if (!node.properties) return {...plain, default: defaultOf(node, version)};
  const isOpen = open || node['x-kubernetes'] !== undefined;
  const properties: Record<string, SchemaNode> = {};
  for (const [key, child] of Object.entries(node.properties)) {
    const closed = close(child, version, isOpen);
    if (closed !== undefined) properties[key] = closed;
  }
  if (Object.keys(properties).length === 0) return undefined;
  return {...plain, type: 'object', additionalProperties: isOpen, properties};
}

const OURS = new Set([
  'x-versions',
  'x-defaults',
  'x-template-only',
  'x-releases',
  'oneOf',
  'properties',
]);

function alternatives(node: SchemaNode, version: string): readonly SchemaNode[] {
  return (node.oneOf ?? [node]).filter((each) => within(version, each['x-versions']));
}

function defaultOf(node: SchemaNode, version: string): Tree {
  const changed = node['x-defaults']?.find(({versions}) => within(version, versions));
  return (changed ? changed.default : node.default) as Tree;
}

const ANY: SchemaNode = {};
const TEXT: SchemaNode = {type: 'string'};

/** Maps with free keys hold texts (labels, annotations, variables), unless they have another Kubernetes type. */
const isFreeMap = (node: SchemaNode): boolean =>
  node.type === 'object' && node.properties === undefined && isTextMap(node);
const isTextMap = (node: SchemaNode): boolean =>
  [undefined, 'Labels', 'Annotations'].includes(node['x-kubernetes']);

/** What a key below a node holds that is not in the schema. */
function freeChildOf(node: SchemaNode): SchemaNode | undefined {
  if (isFreeMap(node)) return TEXT;
  return node['x-kubernetes'] === undefined ? undefined : ANY;
}

/** The schema of a key in one version; undefined if the version does not have it. */
export function nodeAt(schema: SchemaNode, version: string, path: Path): SchemaNode | undefined {
  for (const node of schema.oneOf ?? [schema]) {
    const found = nodeBelow(node, version, path);
    if (found !== undefined) return found;
  }
  return undefined;
}

function nodeBelow(node: SchemaNode, version: string, path: Path): SchemaNode | undefined {
  const [key, ...below] = path;
  if (key === undefined) return isIn(version, node) ? node : undefined;
  const {properties = {}} = node;
  const child = Object.hasOwn(properties, key) ? properties[key] : undefined;
  const found = child && nodeAt(child, version, below);
  if (found !== undefined || !isIn(version, node)) return found;
  const free = freeChildOf(node);
  return free === TEXT && below.length > 0 ? undefined : free;
}

/** True if the version has the key of a node, or a key below it. */
const isIn = (version: string, node: SchemaNode): boolean =>
  node.properties === undefined
    ? within(version, node['x-versions'])
    : Object.values(node.properties).some((child) =>
        (child.oneOf ?? [child]).some((each) => isIn(version, each)),
      );
