import {ChartVersion, chartFor} from '../../charts/chart-version.ts';
import type {Target} from '../../charts/releases/target.ts';
import {type ExpectedError, failed} from '../../ground/errors.ts';
import {type KeyFinding, type SettingFinding, warningOf} from '../../ground/finding.ts';
import {getAt, isMap, type Values} from '../../ground/tree.ts';
import {extraEnv, set, valuesFile} from '../../settings/chart-values.ts';
import {type Setting, spell} from '../../settings/define.ts';
import {quote, type Settings} from '../../settings/settings.ts';
import {toYaml, valuesDocument} from '../document.ts';
import {type GeneratedValues, type GenerateFacts, generate} from '../generate.ts';
import type {ValidationContext, ValuesSource} from '../reading/finding.ts';
import {effectiveValues, readEffective, withoutMethodNames} from '../reading/read-values.ts';
import {mergeSources, readSource} from '../reading/source.ts';
import {dotted, isWithin} from '../reading/tree-path.ts';
import {checkClearText} from '../rules/check-clear-text.ts';
import {checkKeys, isTypeError} from '../rules/check-keys.ts';
import {
  checkRefusals,
  checkRules,
  checkToken,
  checkValuesRules,
  checkVariables,
  checkVersion,
} from '../rules/check-rules.ts';
import {
  checkIgnored,
  checkPlaceholders,
  checkQuotes,
  checkRepeatedVariables,
  checkShape,
} from '../rules/check-values.ts';
import {type CheckedFile, readOf} from './file-group.ts';

/**
 * Every finding in a values file for one chart version, in the order of the file. `known` settings count where the chart has no
 * key for them. Pure.
 */
export function validate(text: string, given: Target, known?: Settings): KeyFinding[] {
  const target = ChartVersion.of(given);
  const {source, findings} = readSource(text);
  const ofValues = source === undefined ? [] : findingsIn(source, target, known);
  return inOrder([...findings, ...ofValues, ...checkClearText(text)]);
}

/** The errors in values without a text. Pure. */
export const errorsIn = (values: Values, target: Target): KeyFinding[] =>
  validate(toYaml(values), target).filter(({verdict}) => verdict === 'error');

/** The same for files that Helm merges, the last one winning; findings name the file that wrote the value. */
export function validateLayers(files: readonly CheckedFile[], given: Target): KeyFinding[] {
  const target = ChartVersion.of(given);
  const layers = files.map((each) => ({file: each.file, ...readOf(each)}));
  const sources = layers.flatMap(({file, source}) =>
    source === undefined ? [] : [{file, source}],
  );
  const ofReading = layers.flatMap(({file, findings}) =>
    findings.map((finding) => ({...finding, file})),
  );
  ofReading.push(
    // A file of another tool is searched once, and not for each of its releases.
    ...files.flatMap(({file, text, read}) =>
      read ? [] : checkClearText(text).map((each) => ({...each, file})),
    ),
  );
  if (sources.length < layers.length) return ofReading;
  return [...ofReading, ...inOrder(findingsIn(mergeSources(sources), target))];
}

/** Bugs of this chart version that appear with any values. Pure. */
export function knownBugs(text: string, target: Target): KeyFinding[] {
  const {source} = readSource(text);
  return source === undefined ? [] : checkVersion(contextOf(source, target), target);
}

/** Without the values of these findings, because rules expect the types that templates can read. */
function contextOf(
  source: ValuesSource,
  target: Target,
  unreadable: readonly KeyFinding[] = [],
  known?: Settings,
): ValidationContext {
  const values = withoutMethodNames(source.values);
  for (const {subject} of unreadable) {
    const keys = subject.path.split('.');
    const parent = getAt(values, keys.slice(0, -1));
    if (isMap(parent)) delete parent[keys.at(-1) as string];
  }
  const effective = effectiveValues(values, target);
  // A setting that has a key counts as the key says: --set can have emptied it.
  const hasKey = (setting: Setting): boolean =>
    chartFor(target).rows.some((row) => row.setting === setting && row.paths.length > 0);
  const given =
    known
      ?.entries()
      .flatMap(({setting, answer}) =>
        hasKey(setting) ? [] : [[setting.id, answer.value] as const],
      ) ?? [];
  return {
    ...source,
    values,
    effective,
    settings: new Map([...given, ...readEffective(effective, target).settings]),
  };
}

const CHECKS = [
  checkToken,
  checkIgnored,
  checkRules,
  checkValuesRules,
  checkRepeatedVariables,
  checkRefusals,
];

function findingsIn(source: ValuesSource, target: Target, known?: Settings): KeyFinding[] {
  const shape = checkShape(source, target);
  if (shape.length > 0) return shape;
  const keys = checkKeys(source, target);
  const context = contextOf(source, target, keys.filter(isTypeError), known);
  const others = CHECKS.flatMap((check) => check(context, target));
  const quotes = checkQuotes(source);
  const quoted = new Set(quotes.map(({subject}) => subject.path));
  const placeholders = [...checkPlaceholders(source), ...quotes];
  const found = new Set([...placeholders, ...keys, ...others].map(({subject}) => subject.path));
  const variables = checkVariables(source, target).filter(({subject}) => !found.has(subject.path));
  // The Kubernetes types find some mistakes that rules of the chart find too.
  const isRepeated = ({code}: KeyFinding): boolean =>
    code === 'REQUEST_ABOVE_LIMIT' && keys.some((each) => each.code === code);
  const isOther = (finding: KeyFinding): boolean => !quoted.has(finding.subject.path);
  return [
    ...placeholders,
    ...keys.filter(isOther),
    ...variables,
    ...others.filter((finding) => !isRepeated(finding) && isOther(finding)),
  ];
}

const inOrder = (findings: readonly KeyFinding[]): KeyFinding[] =>
  findings.toSorted(
    ({subject: one}, {subject: other}) =>
      (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0),
  );

/** Credentials in generated values were allowed by the user. */
const ALLOWED = 'CLEAR_TEXT_CREDENTIAL';

/**
 * Validates the generated file, knowing the settings that the file cannot contain. Returns the warnings that are
 * new. @throws ExpectedError for errors, and for a key that makes another setting ineffective
 */
export function checkGenerated(generated: GeneratedValues): SettingFinding[] {
  const findings = validate(valuesDocument(generated), generated.target, generated.settings);
  const errors = findings.filter(({verdict}) => verdict === 'error');
  if (errors.length > 0) throw refusal(errors, generated);
  refuseDropped(generated, findings);
  const known = new Set(generated.warnings.map(({code}) => code));
  return findings
    .filter(({code}) => !known.has(code) && code !== ALLOWED)
    .map((finding) => aboutSetting(finding, writerOf(finding, generated)));
}

/** The setting that wrote the key of a finding, explicit ones first; undefined for a key that nothing wrote. */
function writerOf(
  {subject: {path}}: KeyFinding,
  {origins, settings}: GeneratedValues,
): Setting | undefined {
  const writers = origins.filter(
    (each) => isWithin(path, dotted(each.path)) || isWithin(dotted(each.path), path),
  );
  return (writers.findLast(({setting}) => settings.isExplicit(setting)) ?? writers.at(-1))?.setting;
}

function refusal(errors: readonly KeyFinding[], generated: GeneratedValues): ExpectedError {
  const steps = errors.flatMap(stepsOf);
  const files = (generated.settings.get(valuesFile) ?? []).map(({file}) => quote(file));
  const isOfFile = errors.some((each) => writerOf(each, generated)?.id === valuesFile.id);
  const validating = `scalr-agent validate ${files.join(' ')} --chart ${generated.target.chart}`;
  const lines = errors.map((finding) => {
    const writer = writerOf(finding, generated);
    return `${writer === undefined ? '' : `${spell(writer)}: `}${finding.subject.path}: ${finding.message}`;
  });
  return failed('INVALID_SETTING', lines.join('\n'), [
    ...(steps.length > 0 ? steps : ['Correct the value, or remove it']),
    ...(isOfFile ? [`Show the lines: ${validating}`] : []),
  ]);
}

/** A remedy that is a key needs the one that it replaces. */
const stepsOf = ({subject: {path}, remedies}: KeyFinding): string[] =>
  remedies.map(({text}) => (text.includes(' ') ? text : `Instead of ${path}, use ${text}`));

/** Assignments may override each other on purpose; a flag that has no effect is a mistake. */
function refuseDropped(
  {origins, settings}: GeneratedValues,
  findings: readonly KeyFinding[],
): void {
  for (const {code, subject, message} of findings) {
    const {path} = subject;
    const lost = origins.find((each) => dotted(each.path) === path)?.setting;
    if (
      code !== 'KEY_OVERRIDDEN' ||
      lost === undefined ||
      FREE.includes(lost.id) ||
      !settings.isExplicit(lost)
    )
      continue;
    throw failed('CONFLICTING_SETTINGS', `${spell(lost)} has no effect. ${path}: ${message}`, [
      'Use only one of them',
    ]);
  }
}

const FREE: readonly string[] = [valuesFile, set, extraEnv].map(({id}) => id);

const aboutSetting = (
  {code, subject, message, remedies}: KeyFinding,
  setting: Setting | undefined,
): SettingFinding => ({
  ...warningOf(code, `${subject.path}: ${message}`, setting?.id),
  remedies,
});

/** Generates the values, and checks the file as `validate` does. @throws ExpectedError */
export function generateChecked(
  given: Settings,
  facts?: GenerateFacts,
  read?: Target,
): GeneratedValues {
  const generated = generate(given, facts, read);
  return {...generated, warnings: [...generated.warnings, ...checkGenerated(generated)]};
}
