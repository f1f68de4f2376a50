import type {Target} from '../../charts/define.ts';
import {getAt, isMap, type Values} from '../../ground/tree.ts';
import type {Settings} from '../../settings/settings.ts';
import {effectiveValues, readEffective, withoutMethodNames} from '../read-values.ts';
import {toYaml} from '../yaml.ts';
import {checkKeys} from './check-keys.ts';
import {checkRefusals, checkRules, checkToken, checkValuesRules, checkVersion} from './check-rules.ts';
import {checkShape} from './check-shape.ts';
import {checkIgnored, checkPlaceholders, checkRepeatedVariables} from './check-values.ts';
import {checkVariables} from './check-variables.ts';
import type {ValidationContext, ValuesFinding, ValuesSource} from './finding.ts';
import {hideSecretsInFindings} from './hide-secrets.ts';
import {mergeSources, readSource} from './source.ts';

/**
 * Every finding in a values file for one chart version, in the order of the file. `known` settings count where the file has no
 * key for them. Pure.
 */
export function validate(text: string, target: Target, known?: Settings): ValuesFinding[] {
  const {source, findings} = readSource(text);
  return source === undefined
    ? inOrder(findings)
    : hideSecretsInFindings(inOrder([...findings, ...findingsIn(source, target, known)]), source);
}

/** The errors in values without a text. Pure. */
export const errorsIn = (values: Values, target: Target): ValuesFinding[] =>
  validate(toYaml(values), target).filter(({severity}) => severity === 'error');

/** The same for files that Helm merges, the last one winning; findings name the file that wrote the value. */
export function validateLayers(files: readonly {file: string; text: string}[], target: Target): ValuesFinding[] {
  const layers = files.map(({file, text}) => ({file, ...readSource(text)}));
  const sources = layers.flatMap(({file, source}) => (source === undefined ? [] : [{file, source}]));
  const ofReading = layers.flatMap(({file, source, findings}) =>
    (source ? hideSecretsInFindings(findings, source) : findings).map((finding) => ({...finding, file})),
  );
  if (sources.length < layers.length) return ofReading;
  const merged = mergeSources(sources);
  return [...ofReading, ...hideSecretsInFindings(inOrder(findingsIn(merged, target)), merged)];
}

/** Bugs of this chart version that appear with any values. Pure. */
export function knownBugs(text: string, target: Target): ValuesFinding[] {
  const {source} = readSource(text);
  return source === undefined ? [] : checkVersion(contextOf(source, target), target);
}

/** Without the values of these findings, because rules expect the types that templates can read. */
function contextOf(source: ValuesSource, target: Target, unreadable: readonly ValuesFinding[] = [], known?: Settings): ValidationContext {
  const values = withoutMethodNames(source.values);
  for (const {path} of unreadable) {
    const keys = path.split('.');
    const parent = getAt(values, keys.slice(0, -1));
    if (isMap(parent)) delete parent[keys.at(-1) as string];
  }
  const effective = effectiveValues(values, target);
  const given = known?.entries().map(({setting, answer}) => [setting.id, answer.value] as const) ?? [];
  return {...source, values, effective, settings: new Map([...given, ...readEffective(effective, target).settings])};
}

const CHECKS = [checkToken, checkIgnored, checkRules, checkValuesRules, checkRepeatedVariables, checkRefusals];

function findingsIn(source: ValuesSource, target: Target, known?: Settings): ValuesFinding[] {
  const shape = checkShape(source, target);
  if (shape.length > 0) return shape;
  const keys = checkKeys(source, target);
  const context = contextOf(source, target, keys.filter(isTypeError), known);
  const others = CHECKS.flatMap((check) => check(context, target));
  const placeholders = checkPlaceholders(source);
  const found = new Set([...placeholders, ...keys, ...others].map(({path}) => path));
  const variables = checkVariables(source, target).filter(({path}) => !found.has(path));
  // The Kubernetes types find some mistakes that rules of the chart find too.
  const isRepeated = ({code}: ValuesFinding): boolean => code === 'REQUEST_ABOVE_LIMIT' && keys.some((each) => each.code === code);
  return [...placeholders, ...keys, ...variables, ...others.filter((finding) => !isRepeated(finding))];
}

const inOrder = (findings: readonly ValuesFinding[]): ValuesFinding[] =>
  findings.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0));

const isTypeError = ({code}: ValuesFinding): boolean =>
  ['WRONG_TYPE', 'TEXT_FOR_SWITCH', 'UNQUOTED_TEXT', 'NULL_DELETES_DEFAULT'].includes(code);
