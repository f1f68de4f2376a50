import {parse} from 'yaml';
import {chartFor, upstreamNotes} from '../charts/charts.ts';
import type {Row, Scope, Target, ValuesEntry} from '../charts/define.ts';
import {documentedKey} from '../charts/moved-keys.ts';
import {describeRange, rangeOf, within} from '../charts/releases.ts';
import {chartSchema, childOf, closedSchema, leavesOf, nodeAt, type SchemaNode, schemaOf} from '../charts/schema.ts';
import {hasKey, needsNoRow, rowsFor, scopeOf} from '../charts/support.ts';
import {releasesOf} from '../charts/target.ts';
import {CHART_REPOSITORY, helmCommand} from '../ground/command-line.ts';
import type {Warning} from '../ground/errors.ts';
import {closest} from '../ground/text.ts';
import {
  copyOf,
  getAt,
  isMap,
  leafPaths,
  mergeValues,
  type Path,
  sameTree,
  setAt,
  spellPath,
  startsWith,
  type Tree,
  type Values,
} from '../ground/tree.ts';
import {InvalidValue, type Setting, spell} from '../settings/define.ts';
import {set, valuesFile} from '../settings/escape-hatch.ts';
import {milliOf} from '../settings/kinds.ts';
import type {Settings} from '../settings/settings.ts';
import {matchesType, typeOf} from './validate/formats.ts';
import {FIRST_EXPONENT} from './validate/scalars.ts';
import {readLayers} from './validate/source.ts';

/** A key of values.yaml and the setting that wrote it. */
export interface ValueOrigin {
  path: Path;
  setting: Setting;
  /** The reason, where the setting does not explain it. */
  why?: string;
  /** Derived from other keys, not from a setting of the user. */
  isDerived?: true;
}

export interface RenderedValues {
  values: Values;
  origins: readonly ValueOrigin[];
  warnings: readonly Warning[];
}

/**
 * Writes settings as values of one chart version: only what differs from the chart defaults.
 * Unsupported settings must have been refused before. @throws InvalidValue for an invalid assignment
 */
export function renderValues(settings: Settings, target: Target): RenderedValues {
  const chart = chartFor(target);
  const scope = scopeOf(target, settings.get);
  const ofFiles = readLayers(settings.get(valuesFile) ?? []);
  const values = copyOf(ofFiles);
  const written = mergeValues(scope.defaults, ofFiles);
  const origins: ValueOrigin[] = leafPaths(ofFiles).map((path) => ({path, setting: valuesFile as Setting}));
  const warnings: Warning[] = [];
  /** Also keys that keep the chart default because the user asked for that value. */
  const chosen = new Set<string>();
  for (const {setting, answer} of settings.entries()) {
    if (needsNoRow(setting) || answer.source === 'values-file') continue;
    for (const row of rowsFor(chart, setting, answer.value, scope)) {
      // Values files take precedence over defaults.
      if (!settings.isExplicit(setting) && row.paths.some((path) => getAt(ofFiles, path) !== undefined)) continue;
      const entries = changes(row, answer.value, scope, written);
      if (settings.isExplicit(setting)) for (const [path] of row.write(answer.value, scope)) chosen.add(spellPath(path));
      for (const [path, value] of entries) setAt(values, path, value);
      origins.push(...entries.map(([path, , why]) => ({path, setting, ...(why === undefined ? {} : {why})})));
      const message = settings.isExplicit(setting) ? row.partly?.(answer.value, scope) : undefined;
      if (message !== undefined && !warnings.some((each) => each.message === message))
        warnings.push({code: 'PARTLY_SUPPORTED', setting: setting.id, message});
    }
  }
  for (const [text, value] of Object.entries(settings.get(set) ?? {})) {
    const assigned = parseAssignment(text, value, target);
    refuseConflict(text, assigned.path, origins, settings);
    setAt(values, assigned.path, assigned.value);
    origins.push({path: assigned.path, setting: set as Setting});
  }
  const isWritten = (path: Path): boolean => chosen.has(spellPath(path)) || getAt(values, path) !== undefined;
  for (const {in: range, setting, write} of chart.derived ?? []) {
    if (!within(target.version, range)) continue;
    for (const [path, value, why] of write(mergeValues(scope.defaults, values), isWritten)) {
      setAt(values, path, value);
      origins.push({path, setting, isDerived: true, ...(why === undefined ? {} : {why})});
    }
  }
  return {values: withoutLargeNumbers(values, target), origins, warnings};
}

/** Entries of a row that differ from the written values; the same quantity in another notation is not a change. */
function changes(row: Row, value: unknown, scope: Scope, written: Values): readonly ValuesEntry[] {
  const entries = row.write(value, scope).filter(([path, tree]) => !sameTree(getAt(written, path), tree));
  const isDefault = entries.length === 1 && sameTree(row.read(written, scope), value);
  return isDefault ? [] : entries;
}

function refuseConflict(text: string, path: Path, origins: readonly ValueOrigin[], settings: Settings): void {
  const other = origins.find(
    ({path: other, setting}) =>
      setting.id !== valuesFile.id && (startsWith(other, path) || startsWith(path, other)) && settings.isExplicit(setting),
  );
  if (other) throw new InvalidValue(`"${text}" is already set by ${spell(other.setting)}`, 'Use only one of them');
}

/**
 * Writes large numbers as texts, which templates print unchanged. Not below keys with a Kubernetes type: templates print
 * those as YAML, which keeps numbers whole, and Kubernetes would refuse a text.
 */
export function withoutLargeNumbers(values: Values, target: Target): Values {
  return withTexts(values, closedSchema(schemaOf(target), target.version)) as Values;
}

function withTexts(tree: Tree, node: SchemaNode | undefined): Tree {
  if (node?.['x-kubernetes'] !== undefined) return tree;
  if (Array.isArray(tree)) return tree.map((each) => withTexts(each, undefined));
  if (isMap(tree)) return Object.fromEntries(Object.entries(tree).map(([key, below]) => [key, withTexts(below, node?.properties?.[key])]));
  return typeof tree === 'number' && Math.abs(tree) >= FIRST_EXPONENT ? String(tree) : tree;
}

/** One `--set path=value`, checked against the keys and types of the chart version. @throws InvalidValue */
export function parseAssignment(text: string, value: string, target: Target): {path: Path; value: Tree} {
  const path = text.split(/(?<!\\)\./).map((key) => key.replaceAll('\\.', '.'));
  const root = closedSchema(schemaOf(target), target.version);
  const node = nodeAt(root, path);
  if (node === undefined) throw unknownKey(text, path, target);
  // Below keys with a Kubernetes type, null removes a default in Helm: no CPU limit, no fixed user.
  if (value === 'null' && path.some((_, index) => nodeAt(root, path.slice(0, index))?.['x-kubernetes'])) return {path, value: null};
  if (value === 'null' && isText(node))
    throw new InvalidValue(
      `"${text}" must be a string: null would remove the chart default`,
      'Omit it to keep the chart default, or set another string',
    );
  const tree = isText(node) ? value : parseTree(text, value);
  checkAssigned(text, tree, node);
  return {path, value: tree};
}

function unknownKey(text: string, path: Path, target: Target): InvalidValue {
  const {chart, version} = target;
  const notes = upstreamNotes(path, target);
  const message = `${chart} ${version} has no key "${text}"${notes.length === 0 ? '' : `. Change list of the chart: ${notes.join(' ')}`}`;
  const all = releasesOf(chart);
  const some = all.filter((each) => nodeAt(closedSchema(chartSchema(chart), each), path) !== undefined);
  const documented = documentedKey(path, target);
  if (documented)
    return new InvalidValue(message, path[1] === 'auth' ? 'Use --token-file or SCALR_AGENT_TOKEN' : `Use ${documented.instead}`);
  const setting = chartFor(target).rows.find(({paths}) => paths.some((each) => sameTree(each, path)))?.setting;
  const flag = setting && hasKey(target, setting) ? `. Use ${spell(setting)}` : '';
  if (some.length > 0) return new InvalidValue(message, `Available: ${describeRange(rangeOf(some, all))}${flag}`);
  const known = leavesOf(schemaOf(target), version).map((leaf) => spellPath(leaf.path));
  const near = closest(text, known) ?? known.find((each) => each.split('.').at(-1) === path.at(-1));
  return new InvalidValue(message, near ? `Did you mean ${near}?` : `List the keys: ${showValues(chart, version)}`);
}

const showValues = (chart: string, version: string): string =>
  helmCommand({}, 'show', 'values', chart, '--repo', CHART_REPOSITORY, '--version', version);

const isText = ({type}: SchemaNode): boolean => [type].flat().join() === 'string';

function parseTree(path: string, text: string): Tree {
  try {
    return parse(text, {logLevel: 'error'}) as Tree;
  } catch {
    throw new InvalidValue(`cannot parse the value of "${path}"`, `Write lists and maps as JSON: --set '${path}=["a"]'`);
  }
}

/** Checks a value and everything below it against the schema of its key. */
function checkAssigned(path: string, tree: Tree, node: SchemaNode): void {
  refuseSecret(path, tree, node);
  if (node.anyOf) {
    const isMeant = node.anyOf.find(({type}) => [type].flat().includes(typeOf(tree)));
    checkAssigned(path, tree, isMeant ?? (node.anyOf[0] as SchemaNode));
    return;
  }
  if (!matchesType(tree, node)) {
    const wanted = [node.type].flat().join(' or ');
    throw new InvalidValue(`"${path}" must be of type ${wanted}, not ${JSON.stringify(tree)}`, `Set a value of type ${wanted}`);
  }
  checkScalar(path, tree, node);
  if (!isMap(tree)) return;
  for (const [key, below] of Object.entries(tree)) {
    if (below === null && node['x-kubernetes'] !== undefined) continue;
    const child = childOf(node, key);
    if (child === undefined)
      throw new InvalidValue(`"${path}" has no key "${key}"`, `Valid keys: ${Object.keys(node.properties ?? {}).join(', ')}`);
    checkAssigned(`${path}.${key}`, below, child);
  }
}

const QUANTITY = /(^|\.)((limits|requests)\.(cpu|memory|ephemeral-storage)|sizeLimit|storage)$/;

function checkScalar(path: string, tree: Tree, node: SchemaNode): void {
  if (typeof tree === 'number' && (!Number.isFinite(tree) || tree < (node.minimum ?? 0))) {
    throw new InvalidValue(`invalid value ${tree} for "${path}"`, `Use a number greater than or equal to ${node.minimum ?? 0}`);
  }
  if (typeof tree === 'string' && QUANTITY.test(path) && milliOf(tree) === undefined) {
    throw new InvalidValue(`invalid value "${tree}" for "${path}"`, 'Use a Kubernetes quantity, such as 500m or 2Gi');
  }
  if (node.enum && !node.enum.includes(tree as string))
    throw new InvalidValue(`invalid value ${JSON.stringify(tree)} for "${path}"`, `Use one of ${node.enum.join(', ')}`);
  if (node.pattern && typeof tree === 'string' && !new RegExp(node.pattern).test(tree)) {
    throw new InvalidValue(`invalid value "${tree}" for "${path}"`, `It must match ${node.pattern}`);
  }
}

/** @throws InvalidValue for a secret in the values of a file */
export function refuseSecretsIn(values: Values, target: Target): void {
  const root = closedSchema(schemaOf(target), target.version);
  for (const path of leafPaths(values)) {
    const [node, tree] = [nodeAt(root, path), getAt(values, path)];
    if (node && tree !== '' && tree !== undefined) refuseSecret(spellPath(path), tree, node);
  }
}

/** Secrets belong in a Secret and never in values.yaml. */
function refuseSecret(path: string, tree: Tree, node: SchemaNode): void {
  const isMirrorToken = path.endsWith('providerNetworkMirrors') && /"token":/.test(JSON.stringify(tree));
  if (node['x-secret'] !== true && !isMirrorToken) return;
  throw new InvalidValue(
    `"${path}" is a secret, and values.yaml stores plain text`,
    /token$/i.test(path)
      ? 'Set SCALR_AGENT_TOKEN, or use --token-file, which stores it in a Secret'
      : 'Use --client-cert-file and --client-key-file, which store it in a Secret',
  );
}
