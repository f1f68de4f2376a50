import texts from '../../templates/key-descriptions.json' with {type: 'json'};
import {ChartVersion, chartFor} from '../charts/chart-version.ts';
import {documentedKey, matchingKey} from '../charts/moved-keys.ts';
import {knowsKey} from '../charts/releases/keys.ts';
import {resolveType} from '../charts/releases/kubernetes-types.ts';
import type {SchemaNode} from '../charts/releases/schema.ts';
import type {Target} from '../charts/releases/target.ts';
import {newestOf} from '../charts/releases/target.ts';
import {compare} from '../charts/releases/versions.ts';
import type {Row} from '../charts/shared/row.ts';
import {at, type Path, sameTree, spellPath, startsWith} from '../ground/tree.ts';
import {spell} from '../settings/define.ts';

const TEXTS: Readonly<Record<string, string>> = texts;

/**
 * The JSON Schema of values.yaml for editors. It accepts what validate accepts: null removes a default, and large
 * numbers are written as texts.
 */
export function editorSchema(target: Target): SchemaNode {
  const writer = new EditorSchemaWriter(target);
  const root = writer.describe(ChartVersion.of(target).closedSchema, []);
  return {
    ...root,
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `Values of ${target.chart} ${target.version}`,
    definitions: writer.definitions,
  };
}

/** A node without the keywords that are undefined. */
const defined = (node: Readonly<Record<string, unknown>>): SchemaNode =>
  Object.fromEntries(Object.entries(node).filter(([, value]) => value !== undefined));

/** Each schema below a node, by its key. */
function eachOf(
  nodes: Readonly<Record<string, SchemaNode>>,
  change: (node: SchemaNode, key: string) => SchemaNode,
): Record<string, SchemaNode> {
  const changed = Object.entries(nodes).map(([key, node]) => [key, change(node, key)]);
  return Object.fromEntries(changed);
}

class EditorSchemaWriter {
  /** The Kubernetes types that were used. */
  readonly definitions: Record<string, SchemaNode> = {};
  readonly #target: ChartVersion;
  readonly #newest: ChartVersion;

  constructor(target: Target) {
    const {chart} = target;
    this.#target = ChartVersion.of(target);
    this.#newest = new ChartVersion({chart, version: newestOf(chart)});
  }

  #about(path: Path): SchemaNode {
    return about(path, this.#target, this.#newest);
  }

  describe(node: SchemaNode, path: Path): SchemaNode {
    const type = node['x-kubernetes'];
    if (type !== undefined) return this.#overlay(this.#typeNode(type), node, path);
    const {properties} = node;
    const isMapOfVariables = node.type === 'object' && !properties;
    return {
      ...plain(properties ? node : lenient(node)),
      ...this.#about(path),
      ...(isMapOfVariables && this.#variables(path)),
      ...(properties && {
        properties: eachOf(properties, (child, key) => this.describe(child, [...path, key])),
      }),
    };
  }

  /** A Kubernetes type with the defaults of the chart. */
  #overlay({required: _, ...base}: SchemaNode, node: SchemaNode, path: Path): SchemaNode {
    const others = typeof base.additionalProperties === 'object' ? base.additionalProperties : {};
    const children = eachOf(node.properties ?? {}, (child, key) => {
      const {name = '', type} = resolveType(base.properties?.[key] ?? others);
      return this.#overlay(name === '' ? type : this.#nullable(type), child, [...path, key]);
    });
    return {
      ...(base.type === undefined ? lenient(node) : base),
      ...this.#about(path),
      ...defined({default: node.default}),
      ...(node.properties && {properties: {...base.properties, ...children}}),
    };
  }

  #typeNode(type: string): SchemaNode {
    if (type === 'Labels' || type === 'Annotations')
      return {type: ['object', 'null'], additionalProperties: {type: ['string', 'null']}};
    const {type: node} = resolveType({$ref: `#/definitions/${type}`});
    const found = this.#nullable(node);
    // The default of such a list may be an empty map.
    return node.type === 'array'
      ? {...found, type: ['array', 'object', 'null'], maxProperties: 0}
      : found;
  }

  /** null removes a default, so it means an absent field. */
  #nullable(node: SchemaNode): SchemaNode {
    const {name} = resolveType(node);
    if (name !== undefined && this.definitions[name] === undefined) {
      this.definitions[name] = {};
      this.definitions[name] = this.#nullable(resolveType(node).type);
    }
    const {properties, items, additionalProperties, type} = node;
    const nullable = (each: SchemaNode): SchemaNode => this.#nullable(each);
    return {
      ...plain(node),
      ...(type !== undefined && {type: [...[type].flat(), 'null']}),
      ...(node.enum && {enum: [...node.enum, null as never]}),
      ...(properties && {properties: eachOf(properties, nullable)}),
      ...(items && {items: nullable(items)}),
      ...(typeof additionalProperties === 'object' && {
        additionalProperties: nullable(additionalProperties),
      }),
    };
  }

  /** Environment variables, of which those with a flag have a description. */
  #variables(path: Path): SchemaNode {
    const type = ['string', 'number', 'boolean', 'null'];
    const properties: Record<string, SchemaNode> = {};
    for (const row of chartFor(this.#target).rows)
      for (const each of row.paths)
        if (each.length === path.length + 1 && startsWith(each, path))
          properties[each.at(-1) as string] = {
            type,
            description: withFlag(row.setting.summary, row),
          };
    return {additionalProperties: {type}, properties};
  }
}

export const schemaText = (schema: SchemaNode): string => `${JSON.stringify(schema, null, 2)}\n`;

const OURS = ['format', 'x-kubernetes', 'x-kubernetes-list-map-keys', 'x-secret'];
const plain = (node: SchemaNode): SchemaNode =>
  Object.fromEntries(Object.entries(node).filter(([key]) => !OURS.includes(key)));

/** The types that templates print like those of a format. */
const TYPES_OF_FORMAT: Readonly<Record<string, readonly string[]>> = {
  flag: ['boolean', 'integer', 'string'],
  'image-tag': ['integer'],
};

/** A key of the chart, with the other spellings that its templates render alike. */
function lenient(node: SchemaNode): SchemaNode {
  const types = [node.type ?? []].flat();
  const {default: usual, format = '', pattern} = node;
  const isEmpty =
    usual === '' ||
    usual === null ||
    (typeof usual === 'object' && Object.keys(usual).length === 0);
  const isNumber =
    types.some((each) => each === 'integer' || each === 'number') && !types.includes('string');
  const all = new Set([
    ...types,
    ...(isEmpty ? ['null'] : []),
    ...(isNumber ? ['string'] : []),
    ...(TYPES_OF_FORMAT[format] ?? []),
  ]);
  const emptyOr = pattern === undefined ? undefined : `^$|${pattern}`;
  return defined({
    ...node,
    type: types.length === 0 ? undefined : [...all],
    pattern: isNumber ? '^-?\\d+(\\.\\d+)?$' : emptyOr,
    enum: node.enum && isEmpty ? [...node.enum, usual as string] : node.enum,
    items: node.items && closedItems(node.items),
  });
}

/** Fields of list items, such as mirrors, have texts of their own. */
const closedItems = (items: SchemaNode): SchemaNode => {
  const {properties} = items;
  if (properties === undefined) return items;
  const described = eachOf(properties, (child, key) => ({
    ...child,
    description: TEXTS[key] ?? key,
  }));
  return {...items, properties: described};
};

const withFlag = (text: string, row: Row | undefined): string =>
  row && row.setting.onlyEnv === undefined ? `${text} Flag: ${spell(row.setting)}.` : text;

/** The row that writes a key; a row writes its own key first, and the switches that it needs after it. */
const rowOf = (path: Path, target: Target): Row | undefined => {
  const rows = chartFor(target).rows.filter(({paths}) =>
    paths.some((each) => sameTree(each, path)),
  );
  return rows.find(({paths}) => sameTree(paths[0], path)) ?? rows[0];
};

function about(path: Path, target: Target, newest: Target): SchemaNode {
  const row = rowOf(path, target);
  const [short = '', ...long] = path.map((_, index) => path.slice(index).join('.')).reverse();
  const own = row && sameTree(row.paths[0], path) ? row.setting.summary : undefined;
  const text =
    long
      .reverse()
      .map((name) => TEXTS[name])
      .find(Boolean) ??
    own ??
    TEXTS[short];
  const deprecationMessage = deprecation(path, target, newest);
  return {
    ...(text !== undefined && {description: withFlag(text, row)}),
    ...(deprecationMessage !== undefined && {deprecated: true, deprecationMessage}),
  };
}

/** Why a key should not be used: no template reads it, or newer versions do not have it. */
function deprecation(path: Path, target: Target, newest: Target): string | undefined {
  const {chart, version} = target;
  const ignored = chartFor(target).ignoredKeys.find(
    (each) => each.unless === undefined && sameTree(at(each.path), path),
  );
  if (ignored)
    return `Ignored: ${ignored.because}.${ignored.instead ? ` Use ${ignored.instead}.` : ''}`;
  if (path.length === 0 || compare(version, newest.version) >= 0 || knowsKey(newest, path))
    return undefined;
  const row = rowOf(path, target);
  const candidates = chartFor(newest).rows.flatMap(({setting, paths}) =>
    setting === row?.setting ? paths : [],
  );
  const [renamed] = candidates.toSorted((one, other) => alike(other, path) - alike(one, path));
  const isRenamed =
    renamed !== undefined && (alike(renamed, path) > 0 || sameTree(row?.paths[0], path));
  const key = matchingKey(path, target, newest) ?? (isRenamed ? renamed : undefined);
  const instead = documentedKey(path, newest)?.instead ?? (key && spellPath(key));
  return `${chart} ${newest.version} does not have this key.${instead ? ` It has ${instead}.` : ''}`;
}

/** How many keys at the end are the same. */
const alike = (one: Path, other: Path): number => {
  const differs = [...one].reverse().findIndex((key, index) => key !== other.at(-1 - index));
  return differs < 0 ? one.length : differs;
};
