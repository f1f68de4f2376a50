import {CHARTS} from '../../charts/charts.ts';
import type {Target} from '../../charts/define.ts';
import {within} from '../../charts/releases.ts';
import {scopeOf} from '../../charts/support.ts';
import {at, getAt, type Path, spellPath} from '../../charts/tree.ts';
import {ExpectedError} from '../../errors.ts';
import type {Get, Setting} from '../../settings/define.ts';
import {brokenRules} from '../apply-rules.ts';
import {ignoredIn} from '../ignored.ts';
import {readValues} from '../read.ts';
import {refuseRepeatedVariables} from '../repeated-variables.ts';
import {checkKeys} from './check-keys.ts';
import type {Finding} from './finding.ts';
import {layered} from './layers.ts';
import {readSource, type Source} from './source.ts';

/** Everything wrong with a values file for one chart version, in the order of the file. Pure. */
export function validate(text: string, target: Target): Finding[] {
  const {source, findings} = readSource(text);
  return inOrder([...findings, ...(source === undefined ? [] : findingsIn(source, target))]);
}

/** The same for several files that Helm merges, the last one winning; findings name the file that wrote the value. */
export function validateLayers(files: readonly {file: string; text: string}[], target: Target): Finding[] {
  const layers = files.map(({file, text}) => ({file, ...readSource(text)}));
  const sources = layers.flatMap(({file, source}) => (source === undefined ? [] : [{file, source}]));
  const ofReading = layers.flatMap(({file, findings}) => findings.map((finding) => ({...finding, file})));
  return [...ofReading, ...(sources.length < layers.length ? [] : inOrder(findingsIn(layered(sources), target)))];
}

const findingsIn = (source: Source, target: Target): Finding[] => {
  const keys = checkKeys(source, target);
  return [...placeholders(source), ...keys, ...(keys.some(isTypeError) ? [] : meaning(source, target))];
};

const inOrder = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0));

/** What the templates would stumble over makes the rules meaningless. */
const isTypeError = ({code}: Finding): boolean => code === 'WRONG_TYPE' || code === 'TEXT_FOR_SWITCH';

function meaning(source: Source, target: Target): Finding[] {
  return [...token(source, target), ...ignored(source, target), ...rules(source, target), ...repeated(source, target)];
}

/** The templates of every version demand a token, inline or from a Secret (R1). */
function token({values, locate}: Source, target: Target): Finding[] {
  const read = readValues(values, target).settings;
  const inline = getAt(values, at('agent.token'));
  const place = {path: 'agent.token', ...(locate(at('agent.token')) ?? {})};
  if (inline === undefined || inline === '') {
    if (read.get('token-secret') !== undefined) return [];
    const [secret] =
      CHARTS[target.chart].rows.find((row) => row.setting.id === 'token-secret' && within(target.version, row.in))?.paths ?? [];
    return [
      {
        ...place,
        severity: 'error',
        code: 'NO_TOKEN',
        message: 'There is no agent pool token: the templates stop.',
        suggestion: `${secret?.join('.')}: "scalr-agent-token"`,
      },
    ];
  }
  const message =
    read.get('token-secret') === undefined
      ? 'The token stands in clear text in this file and in the Helm release.'
      : 'The existing Secret wins, and this token is dropped.';
  return [{...place, severity: 'warning', code: 'INLINE_TOKEN', message}];
}

/** Keys that are accepted and do nothing. */
const ignored = ({values, locate}: Source, target: Target): Finding[] =>
  ignoredIn(values, target).map(({path, because, instead}) => ({
    severity: 'error',
    code: 'IGNORED_KEY',
    path,
    ...(locate(at(path)) ?? {}),
    message: `This does nothing in ${target.chart} ${target.version}: ${because}.`,
    ...(instead ? {suggestion: instead} : {}),
  }));

function rules({values, locate}: Source, target: Target): Finding[] {
  const effective = readValues(values, target).settings;
  const get: Get = <T>(setting: Setting<T>) => effective.get(setting.id) as T | undefined;
  const pathsOf = (setting: Setting): Path[] =>
    CHARTS[target.chart].rows.filter((row) => row.setting === setting && within(target.version, row.in)).flatMap((row) => [...row.paths]);
  const written = (setting: Setting): Path | undefined => pathsOf(setting).find((path) => getAt(values, path) !== undefined);
  // What nobody wrote is the chart's own affair: a file is not wrong for what it leaves out.
  return brokenRules(values, get, (setting) => written(setting) !== undefined, target)
    .filter(({rule, setting}) => rule.severity === 'error' || written(setting) !== undefined)
    .map(({rule, setting, message, suggestion}): Finding => {
      const path = written(setting) ?? [];
      return {
        severity: rule.severity,
        code: rule.code,
        path: path.join('.'),
        ...(locate(path) ?? {}),
        message: inKeys(message, target),
        ...(suggestion ? {suggestion: inKeys(suggestion, target)} : {}),
      };
    });
}

/** Who wrote the file by hand knows keys, not flags; a choice is named as the chart spells it. */
const inKeys = (text: string, target: Target): string =>
  text.replaceAll(/--([a-z][a-z-]+)(?: ([\w.]+))?/g, (flag, id: string, word?: string) => {
    const row = CHARTS[target.chart].rows.find(
      (each) => each.setting.id === id && within(target.version, each.in) && each.paths.length > 0,
    );
    if (!row?.paths[0]) return flag;
    const [entry] =
      word && row.setting.kind.options?.includes(word)
        ? row.write(
            word,
            scopeOf(target, () => undefined),
          )
        : [];
    if (entry) return `${spellPath(entry[0])}: ${JSON.stringify(entry[1])}`;
    return [spellPath(row.paths[0]), word].filter(Boolean).join(' ');
  });

function repeated({values, locate}: Source, target: Target): Finding[] {
  try {
    refuseRepeatedVariables({values, origins: []}, target);
    return [];
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const path =
      CHARTS[target.chart].containers
        .flatMap(({extraEnv}) => extraEnv)
        .map(at)
        .find((each) => getAt(values, each) !== undefined) ?? [];
    return [{severity: 'error', code: 'REPEATED_VARIABLE', path: path.join('.'), ...(locate(path) ?? {}), message: error.message}];
  }
}

const PLACEHOLDER = /^<[^<>]+>$|\{\{.*\}\}|^(changeme|your[-_ ].*)$/i;

/** Blanks of a template that nobody filled in. */
function placeholders({values, locate}: Source): Finding[] {
  return texts(values).flatMap(([path, text]) =>
    PLACEHOLDER.test(text)
      ? [
          {
            severity: 'error' as const,
            code: 'PLACEHOLDER',
            path: path.join('.'),
            ...(locate(path) ?? {}),
            message: `"${text}" is a placeholder.`,
            suggestion: 'Replace it by the real value',
          },
        ]
      : [],
  );
}

function texts(tree: unknown, path: readonly string[] = []): [readonly string[], string][] {
  if (typeof tree === 'string') return [[path, tree]];
  return typeof tree === 'object' && tree !== null ? Object.entries(tree).flatMap(([key, below]) => texts(below, [...path, key])) : [];
}
