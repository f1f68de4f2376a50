import {ChartVersion} from '../../charts/chart-version.ts';
import {hasDocumentedKeys} from '../../charts/moved-keys.ts';
import type {Target} from '../../charts/releases/target.ts';
import {scopeOf} from '../../charts/support.ts';
import type {KeyFinding} from '../../ground/finding.ts';
import {getAt, isMap, mergeValues, type Path, spellPath} from '../../ground/tree.ts';
import {findingAt, type Mistake, type ValuesSource} from '../reading/finding.ts';
import {withoutMethodNames} from '../reading/read-values.ts';
import {isAnchorHolder} from './anchor-holders.ts';
import {checkKubernetes, checkType} from './check-kubernetes.ts';
import {checkScalar, checkVariableMap, smallVolume} from './check-scalars.ts';
import {type KeyContext, type KeyFact, type KnownKey, keysIn} from './key-facts.ts';
import {equivalentKey, isForeignSection, suggestKey} from './suggest-key.ts';
import {isNumberAsText, isPrintedAlike, matchesType, typeMismatch} from './types.ts';

/** Templates cannot read such a value. */
export const isTypeError = ({code}: KeyFinding): boolean =>
  ['WRONG_TYPE', 'STRING_NOT_BOOLEAN', 'UNQUOTED_TEXT', 'NULL_DELETES_DEFAULT'].includes(code);

/** Every key that the chart version does not have, and every value that its templates or Kubernetes reject. */
export function checkKeys(source: ValuesSource, target: Target): KeyFinding[] {
  const {defaults} = scopeOf(target);
  const context: KeyContext = {
    source,
    target,
    defaults,
    effective: mergeValues(defaults, source.values),
    readable: withoutMethodNames(source.values),
  };
  const schema = ChartVersion.of(target).closedSchema;
  return [...keysIn(source.values, schema)].flatMap((fact) => checkKey(fact, context));
}

function checkKey({path, value, node}: KeyFact, context: KeyContext): KeyFinding[] {
  if (node === undefined) return checkUnknown(path, context);
  const key = {path, value, node};
  if (node['x-kubernetes'] !== undefined)
    return checkKubernetes(key, node['x-kubernetes'], context);
  if (value === null) return checkNull(key, context);
  const {source} = context;
  if (isPrintedAlike(value, node, source.written(path))) return [];
  if (!matchesType(value, node) && !isNumberAsText(value, node)) return [wrongType(key, context)];
  if (Array.isArray(value)) return checkType({value, effective: value, schema: node, path}, source);
  if (!isMap(value)) return checkScalar(key, context);
  return node.properties === undefined ? checkVariableMap(value, path, source) : [];
}

function checkUnknown(path: Path, context: KeyContext): KeyFinding[] {
  const {source, readable, target} = context;
  const [first = ''] = path;
  if (path.length === 1 && isAnchorHolder(first)) return [];
  if (/^(?:USER-SUPPLIED|COMPUTED) VALUES$/.test(first)) return [findingAt(source, path, HEADING)];
  const found = getAt(readable, path);
  const hasKnownKeys = hasDocumentedKeys(path, target) || isForeignSection(path, readable, target);
  if (isMap(found) && hasKnownKeys)
    return Object.keys(found).flatMap((key) => checkUnknown([...path, key], context));
  const mistake = {code: 'UNKNOWN_KEY', ...suggestKey(path, readable, target)};
  return [findingAt(source, path, mistake)];
}

/** The first line of `helm get values`. */
const HEADING: Mistake = {
  code: 'UNKNOWN_KEY',
  verdict: 'warning',
  message: 'This line is a heading of the text output of helm, and no key.',
  suggestion: 'Remove it, or print the values with --output yaml',
};

/** null deletes the chart default, which is fine only where that default is empty or null. */
function checkNull({path, node}: KnownKey, {source, defaults}: KeyContext): KeyFinding[] {
  const usual = getAt(defaults, path) ?? null;
  const isEmpty =
    usual === '' || (typeof usual === 'object' && Object.keys(usual ?? {}).length === 0);
  if (isEmpty || [node.type].flat().includes('null')) return [];
  return [
    findingAt(source, path, {
      code: 'NULL_DELETES_DEFAULT',
      message: `null removes the chart default (${JSON.stringify(usual)}), which the templates require.`,
      suggestion: 'Remove the key to keep the chart default',
    }),
  ];
}

function wrongType(key: KnownKey, {source, readable, target}: KeyContext): KeyFinding {
  const {path, value, node} = key;
  if ([node.type].flat().join() === 'boolean' && typeof value === 'string')
    return stringNotBoolean(value, path, source);
  const isSize = node.format === 'quantity' && typeof value === 'number';
  if (isSize && smallVolume(String(value), path) !== undefined)
    return findingAt(source, path, {
      code: 'UNQUOTED_TEXT',
      message: `${value} has no unit, so it means ${value} bytes.`,
      suggestion: `${value}Gi`,
    });
  const found = typeMismatch(value, node, path, source);
  if (found.code !== 'WRONG_TYPE') return found;
  const {code, message} = found;
  const other = equivalentKey(path, readable, target);
  const isOther = other !== undefined && other.suggestion !== spellPath(path);
  return findingAt(source, path, {code, message, ...(isOther ? other : {})});
}

function stringNotBoolean(text: string, path: Path, source: ValuesSource): KeyFinding {
  const value = /^(true|yes|on|1)$/i.test(text);
  const isClear = value || /^(false|no|off|0)$/i.test(text);
  return findingAt(source, path, {
    code: 'STRING_NOT_BOOLEAN',
    message: `"${text}" is a string, and templates treat every non-empty string as true.`,
    suggestion: isClear ? String(value) : 'true or false',
    fix: isClear ? {path, value} : undefined,
  });
}
