import {Document, isPair, isScalar, isMap as isYamlMap, parse, Scalar, visit} from 'yaml';
import template from '../../templates/values-header.json' with {type: 'json'};
import {agentVersionOf, leavesOf, schemaOf} from '../charts/releases/schema.ts';
import type {Target} from '../charts/releases/target.ts';
import {failed, maskSecrets} from '../ground/errors.ts';
import {isMap, type Path, sameTree, setAt, startsWith, type Values} from '../ground/tree.ts';
import {isPrintable} from '../ground/yaml-text.ts';
import {tokenSecret} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {extraEnv, set, valuesFile} from '../settings/chart-values.ts';
import {type Get, type Setting, spell} from '../settings/define.ts';
import {withoutCredentials} from '../settings/kinds/urls.ts';
import {httpProxy, httpsProxy, noProxy} from '../settings/network.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import {
  type Answer,
  type AnswerSource,
  flagsOf,
  isShortened,
  quote,
  recordedFlags,
  type Settings,
} from '../settings/settings.ts';
import type {GeneratedValues, ValueOrigin} from './generate.ts';

interface SettingEntry {
  setting: Setting;
  answer: Answer;
}

/**
 * The text of values.yaml: a header with the command, the reason for each key, and the values in the order of the chart.
 * `schema` is the path of a JSON Schema for editors, from the directory of the file.
 */
export function valuesDocument(generated: GeneratedValues, schema?: string): string {
  const {target, settings} = generated;
  const entries = entriesToRepeat(withoutKnownChart(settings, target));
  const names = {
    chart: target.chart,
    version: target.version,
    agent: agentVersionOf(target) ?? 'version unknown',
  };
  const header = [
    ...(schema === undefined ? [] : [`yaml-language-server: $schema=${schema}`]),
    ...template.lines.map((line) => fill(line, names)),
    ...recordedCommand(`values --chart ${target.chart} --chart-version ${target.version}`, [
      ...recorded(entries),
      ...(schema === undefined ? [] : [`--schema ${quote(schema)}`]),
    ]),
    ...shortenedNote(entries),
  ];
  return documentBelow(generated, header, 'the install command creates it, Helm does not');
}

/** The values with their reasons, below another header. `tokenOrigin` says what creates the Secret of the token. */
export function documentBelow(
  {target, settings, values, origins}: GeneratedValues,
  header: readonly string[],
  tokenOrigin: string,
): string {
  const named = namedIn(settings);
  const whyDefault = new Map<Setting, string>([
    [tokenSecret, `must exist first; ${tokenOrigin}`],
    [noProxy as Setting, BYPASS],
  ]);
  const comments = commentsAt(origins, (origin) => reasonFor(origin, settings, named, whyDefault));
  return toYaml(inChartOrder(values, target), {header, comments});
}

const BYPASS = 'connections inside the cluster bypass the proxy';

/** Why a value from the cluster is needed. */
const OF_CLUSTER: ReadonlyMap<Setting, string> = new Map([[noProxy as Setting, BYPASS]]);

/** The reason of each value at its key. Several values with one reason have it once, at a key that contains nothing else. */
function commentsAt(
  origins: readonly ValueOrigin[],
  reasonOf: (origin: ValueOrigin) => string,
): KeyComment[] {
  const all = origins.map((origin): KeyComment => ({path: origin.path, text: reasonOf(origin)}));
  const below = (path: Path): KeyComment[] => all.filter((each) => startsWith(each.path, path));
  const placed = all.map(({path, text}): KeyComment => {
    const parents = path.map((_, index) => path.slice(0, index)).slice(1);
    const isShared = (parent: Path): boolean =>
      below(parent).length > 1 && below(parent).every((each) => each.text === text);
    return {text, path: parents.find(isShared) ?? path};
  });
  return placed.filter(
    ({path, text}, index) =>
      text !== '' &&
      placed.findIndex((each) => sameTree(each.path as string[], path as string[])) === index,
  );
}

const fill = (line: string, names: Readonly<Record<string, string>>): string =>
  line.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '');

/** True when the file may hold secrets: free text, or a proxy URL with a password. */
export function isPrivate({settings}: GeneratedValues): boolean {
  const proxies = [settings.get(httpProxy), settings.get(httpsProxy)].filter(
    (url) => url !== undefined,
  );
  const isFree = [set, extraEnv, valuesFile].some(
    (setting) => settings.get(setting as Setting) !== undefined,
  );
  return isFree || proxies.some((url) => withoutCredentials(url) !== url);
}

/** Why the value is in the file: what requires it, or the default that it is. Empty for a flag: the header lists them. */
function reasonFor(
  {setting, why}: ValueOrigin,
  settings: Settings,
  named: ReadonlySet<Setting>,
  whyDefault: ReadonlyMap<Setting, string>,
): string {
  const {because, source} = settings.answer(setting) ?? {};
  const reasons =
    source === 'cluster'
      ? [why ?? OF_CLUSTER.get(setting), `read from the cluster (${because})`]
      : [why ?? because];
  const text =
    reasons.some(Boolean) || named.has(setting)
      ? [...new Set(reasons.filter(Boolean))].join('; ')
      : (whyDefault.get(setting) ?? `default of ${spell(setting)}`);
  return text.replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

export function inChartOrder(values: Values, target: Target): Values {
  const ordered: Values = {};
  for (const {path} of leavesOf(schemaOf(target), target.version)) {
    for (const [at, value] of leafEntries(values))
      if (startsWith(at, path)) setAt(ordered, at, value);
  }
  for (const [at, value] of leafEntries(values)) setAt(ordered, at, value);
  return ordered;
}

function leafEntries(
  tree: Values,
  path: readonly string[] = [],
): [readonly string[], Values[string]][] {
  return Object.entries(tree).flatMap(([key, below]) =>
    isMap(below) && Object.keys(below).length > 0
      ? leafEntries(below, [...path, key])
      : [[[...path, key], below] as [string[], Values[string]]],
  );
}

/** The flags that give the same settings, without the chart and its version. A secret is given by the name of its Kubernetes Secret. */
export const flagsToRepeat = (settings: Settings): string[] =>
  entriesToRepeat(settings).flatMap(({setting, answer}) => flagsOf(setting, answer));

function entriesToRepeat(settings: Settings): SettingEntry[] {
  const named = namedIn(settings);
  return settings.entries().filter(({setting}) => named.has(setting));
}

/** A chart on this machine decides nothing that its name and a known version do not. */
const withoutKnownChart = (settings: Settings, {schema}: Target): Settings =>
  schema === undefined && !/^[a-z]+:\/\//i.test(settings.get(chartSource) ?? '')
    ? settings.without(chartSource as Setting)
    : settings;

/** Flags for a generated file. */
const recorded = (entries: readonly SettingEntry[]): string[] =>
  entries.flatMap(({setting, answer}) => recordedFlags(setting, answer));

const shortenedNote = (entries: readonly SettingEntry[]): string[] =>
  entries.some(({setting, answer}) => isShortened(setting, answer))
    ? ['Only the last part of an absolute path is recorded.']
    : [];

/** The Linux packages install another program `scalr-agent`. */
const programFor = (command: string): string =>
  command === 'export systemd' ? 'scalr-agent-install' : 'scalr-agent';

/** The command that writes the same file, one flag per line. */
const recordedCommand = (command: string, flags: readonly string[]): string[] =>
  [`${programFor(command)} ${command}`, ...flags.map((flag) => `  ${flag}`)].map((line, index) =>
    index < flags.length ? `  ${line} \\` : `  ${line}`,
  );

/** Lines for a file that a machine or a build reads: secrets and files with secrets must be given again. */
export function generatedBy(
  command: string,
  settings: Settings,
  others: readonly string[] = [],
): string[] {
  const entries = explicitEntries(settings);
  return [
    'Generated by scalr-agent with this command (DIRECTORY contains this file):',
    ...recordedCommand(command, [...recorded(entries), ...others, '--out DIRECTORY', '--yes']),
    ...shortenedNote(entries),
  ];
}

/** Without secrets, chart and version. */
const explicitEntries = (settings: Settings): SettingEntry[] =>
  settings
    .entries()
    .filter(
      ({setting}) =>
        settings.isExplicit(setting) &&
        !setting.kind.isSecret &&
        setting !== chart &&
        setting !== chartVersion,
    );

const namedIn = (settings: Settings): ReadonlySet<Setting> =>
  new Set(settings.entries().flatMap(({setting}) => namedBy(setting, settings)));

/** The setting to repeat in the command: itself, the Secret that carries it, or none if the default is the same. */
function namedBy(setting: Setting, settings: Settings): Setting[] {
  if (setting === chart || setting === chartVersion) return [];
  // An answer from the cluster must be given as a flag the next time.
  if (settings.answer(setting)?.source === 'cluster') return [setting];
  if (!settings.isExplicit(setting))
    return setting.required && settings.answer(setting)?.source !== 'values-file' ? [setting] : [];
  const carrier = setting.carriedBy?.();
  if (carrier === undefined) return [setting];
  // The command does not contain the secret, so a default that depends on it does not apply.
  const get: Get = (each) => (each.kind.isSecret ? undefined : settings.get(each));
  return carrier.fallback?.(get) === settings.get(carrier) ? [] : [carrier];
}

/** An effective setting and where its value comes from. */
export interface ExplainedSetting {
  id: string;
  value: unknown;
  source: AnswerSource;
  because?: string;
}

/** Every effective setting in the order of the catalog, without secrets. */
export function explainSettings({
  settings,
  effective,
  target,
  recommendation,
}: GeneratedValues): ExplainedSetting[] {
  const chosen: Readonly<Record<string, string>> = {
    [chart.id]: target.chart,
    [chartVersion.id]: target.version,
  };
  return catalog.flatMap((setting): ExplainedSetting[] => {
    if (setting.kind.isSecret) return [];
    const answer = settings.answer(setting);
    const read = effective.get(setting.id);
    const isOverruled =
      answer !== undefined &&
      !settings.isExplicit(setting) &&
      read !== undefined &&
      !sameTree(read, answer.value);
    if (isOverruled)
      return [{id: setting.id, value: read, source: 'flag', because: 'set with --set'}];
    if (answer) {
      const shown = answer.given ?? setting.kind.shown?.(answer.value) ?? answer.value;
      const value = typeof shown === 'string' ? maskSecrets(shown) : shown;
      return [
        {
          id: setting.id,
          value,
          source: answer.source,
          ...(answer.because ? {because: answer.because} : {}),
        },
      ];
    }
    const isRecommended = setting === (chart as Setting) && recommendation !== undefined;
    if (chosen[setting.id] !== undefined)
      return [
        {
          id: setting.id,
          value: chosen[setting.id],
          source: 'default',
          ...(isRecommended ? {because: 'recommended'} : {}),
        },
      ];
    return read === undefined ? [] : [{id: setting.id, value: read, source: 'chart'}];
  });
}

/** A line above the key with this path, without the leading #. */
export interface KeyComment {
  path: readonly string[];
  text: string;
}

/**
 * Writes values as YAML that Helm cannot misread: texts in quotes, keys too where YAML 1.1 would read another type, long
 * texts as blocks. `comments` go above their keys, `header` above everything; both without the leading #. With `isPlain`, only texts
 * that need them have quotes, lists of texts are on one line, and no lines are empty, as in Kubernetes manifests.
 */
export function toYaml(
  values: Values | Values[],
  {
    header = [],
    comments = [],
    isPlain = false,
  }: {header?: readonly string[]; comments?: readonly KeyComment[]; isPlain?: boolean} = {},
): string {
  const document = new Document(values, {version: '1.1'});
  visit(document, {
    Pair(_, pair) {
      if (isScalar(pair.key) && !/^[A-Za-z_][-A-Za-z0-9_./]*$/.test(String(pair.key.value)))
        pair.key.type = Scalar.QUOTE_DOUBLE;
    },
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'string') return;
      if (isBlock(node.value)) node.type = Scalar.BLOCK_LITERAL;
      else if (!isPlain) node.type = Scalar.QUOTE_DOUBLE;
    },
    Seq(_, node) {
      node.flow = isPlain && node.items.every(isScalar);
    },
  });
  if (isYamlMap(document.contents) && !isPlain) {
    for (const [index, pair] of document.contents.items.entries()) {
      if (isPair(pair) && isScalar(pair.key)) pair.key.spaceBefore = index > 0;
    }
  }
  for (const {path, text} of comments) {
    const key = keyAt(document.contents, path);
    if (key !== undefined)
      key.commentBefore = [...(key.commentBefore ? [key.commentBefore] : []), ` ${text}`].join(
        '\n',
      );
  }
  const body =
    Object.keys(values).length === 0
      ? '{}\n'
      : document.toString({lineWidth: 0, flowCollectionPadding: false});
  const text =
    [...header.map((line) => (line === '' ? '#' : `# ${line}`)), ...(header.length > 0 ? [''] : [])]
      .map((line) => `${line}\n`)
      .join('') + body;
  refuseMisreading(text, values);
  return text;
}

/** The last key of the path; the last one that exists, if the rest is not in a mapping. */
function keyAt(contents: unknown, [first, ...rest]: readonly string[]): Scalar | undefined {
  if (!isYamlMap(contents)) return undefined;
  const pair = contents.items.find(({key}) => isScalar(key) && String(key.value) === first);
  return pair && (keyAt(pair.value, rest) ?? (pair.key as Scalar));
}

/** Several lines of printable text, such as a certificate; anything else is safer in quotes. */
const isBlock = (text: string): boolean =>
  /^[\x20-\x7e]+\n[\x20-\x7e\n]*$/.test(text) && !/^\s|[ \n]\n$|[ ]\n/.test(text);

/** Reads the text back as YAML 1.1 and compares it with the values. */
function refuseMisreading(text: string, meant: Values | Values[]): void {
  if (isPrintable(text) && sameTree(readAsHelm(text), meant)) return;
  throw failed('AMBIGUOUS_YAML', 'Cannot write these values as YAML that Helm reads unchanged.', [
    'Check --set for unprintable characters and keys such as "<<"',
  ]);
}

function readAsHelm(text: string): unknown {
  try {
    return parse(text, {version: '1.1'});
  } catch {
    return undefined;
  }
}
