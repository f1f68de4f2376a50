import type {Target} from '../../charts/define.ts';
import {copyOf, getAt, isMap, type Values} from '../../charts/tree.ts';
import {checkIgnored, checkRepeated} from './check-effects.ts';
import {checkKeys} from './check-keys.ts';
import {checkRefusals, checkRules, checkValuesRules, checkVersion} from './check-rules.ts';
import {checkToken} from './check-token.ts';
import type {Finding} from './finding.ts';
import {hold} from './held.ts';
import {hideSecrets} from './hide-secrets.ts';
import {layered} from './layers.ts';
import {placeholders} from './placeholders.ts';
import {readSource, type Source} from './source.ts';

/** Everything wrong with a values file for one chart version, in the order of the file. Pure. */
export function validate(text: string, target: Target): Finding[] {
  const {source, findings} = readSource(text);
  return source === undefined ? inOrder(findings) : hideSecrets(inOrder([...findings, ...findingsIn(source, target)]), source);
}

/** The same for several files that Helm merges, the last one winning; findings name the file that wrote the value. */
export function validateLayers(files: readonly {file: string; text: string}[], target: Target): Finding[] {
  const layers = files.map(({file, text}) => ({file, ...readSource(text)}));
  const sources = layers.flatMap(({file, source}) => (source === undefined ? [] : [{file, source}]));
  const ofReading = layers.flatMap(({file, source, findings}) =>
    (source ? hideSecrets(findings, source) : findings).map((finding) => ({...finding, file})),
  );
  if (sources.length < layers.length) return ofReading;
  const whole = layered(sources);
  return [...ofReading, ...hideSecrets(inOrder(findingsIn(whole, target)), whole)];
}

/** What this version of the chart gets wrong by itself, with these values as with others. Pure. */
export function knownBugs(text: string, target: Target): Finding[] {
  const {source} = readSource(text);
  return source === undefined ? [] : checkVersion(hold(source, target), target);
}

const findingsIn = (source: Source, target: Target): Finding[] => {
  const keys = checkKeys(source, target);
  const readable = hold({...source, values: without(source.values, keys.filter(isTypeError))}, target);
  const meaning = MEANINGS.flatMap((check) => check(readable, target));
  // Kubernetes' own types know of some mistakes what the rules of the chart know too.
  const isKnown = ({code}: Finding): boolean => code === 'REQUEST_ABOVE_LIMIT' && keys.some((each) => each.code === code);
  return [...placeholders(source), ...keys, ...meaning.filter((finding) => !isKnown(finding))];
};

const inOrder = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0));

const isTypeError = ({code}: Finding): boolean => ['WRONG_TYPE', 'TEXT_FOR_SWITCH', 'UNQUOTED_TEXT', 'NULL_DELETES_DEFAULT'].includes(code);

/** What the templates would stumble over says nothing to a rule. */
function without(values: Values, findings: readonly Finding[]): Values {
  if (findings.length === 0) return values;
  const rest = copyOf(values);
  for (const {path} of findings) {
    const keys = path.split('.');
    const parent = getAt(rest, keys.slice(0, -1));
    if (isMap(parent)) delete parent[keys.at(-1) as string];
  }
  return rest;
}

const MEANINGS = [checkToken, checkIgnored, checkRules, checkValuesRules, checkRepeated, checkRefusals];
