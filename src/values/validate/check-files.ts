import {CHART_NAMES, type ChartName} from '../../charts/releases/chart-name.ts';
import {chartSchema, leavesOf} from '../../charts/releases/schema.ts';
import {
  chartOptions,
  newestOf,
  releasesOf,
  type Target,
  targetOf,
} from '../../charts/releases/target.ts';
import {type KeyFinding, remediesOf, type SettingFinding} from '../../findings/finding.ts';
import {ExpectedError, failed} from '../../ground/errors.ts';
import {few} from '../../ground/text.ts';
import {getAt, leafPaths, mergeValues, type Path, type Values} from '../../ground/tree.ts';
import type {ValuesFile} from '../../settings/chart-values.ts';
import {chart, chartVersion} from '../../settings/release.ts';
import type {Settings} from '../../settings/settings.ts';
import {findingAt, type ValuesSource} from '../reading/finding.ts';
import {writtenSettings} from '../reading/read-values.ts';
import {mergeSources, readLayers, readSource} from '../reading/source.ts';
import {checkClearText} from '../rules/check-clear-text.ts';
import {checkManifest, nestedChart} from '../rules/check-values.ts';
import {validate, validateLayers} from './validate.ts';

interface CheckedFile extends ValuesFile {
  /** The text of the whole file, if the values are only a part of it. */
  shown?: string;
}

/** The release of another tool, such as Flux, that has the values. */
interface ReleaseOfGroup {
  kind: string;
  chart: ChartName;
  /** Undefined unless it is exact. */
  version: string | undefined;
  /** Problems of the file around the values. */
  around: readonly KeyFinding[];
  /** The release has other values too, so nothing is known to be missing. */
  isPartial: boolean;
  /** Its values files that could not be read. */
  unread: readonly string[];
}

/** Files that are checked together: a single file, or several that Helm merges. */
export interface FileGroup {
  files: readonly CheckedFile[];
  areLayers: boolean;
  release?: ReleaseOfGroup;
  /** All findings of a file without values. */
  around?: readonly KeyFinding[];
}

export interface CheckedGroup extends FileGroup {
  /** Absent if the files cannot be read as values, and do not tell their chart. */
  target?: Target;
  findings: readonly KeyFinding[];
  fixed?: number;
}

/** What Helm reads from the files of a group without errors. */
export function sourceOf({files, areLayers}: FileGroup): ValuesSource {
  const layers = files.flatMap(({file, text}) => {
    const {source} = readSource(text);
    return source === undefined ? [] : [{file, source}];
  });
  return areLayers || layers.length !== 1
    ? mergeSources(layers)
    : (layers[0] as (typeof layers)[number]).source;
}

/** A group with warnings about keys that its files set, and with reasons why the chart rejects the files. */
export function withFindings(
  group: CheckedGroup,
  keys: readonly {path: Path; message: string}[],
  refused: readonly string[],
): CheckedGroup {
  const source = sourceOf(group);
  const isSet = ({path}: {path: Path}): boolean =>
    path.length === 0 || getAt(source.values, path) !== undefined;
  return {
    ...group,
    findings: [
      ...group.findings,
      ...keys
        .filter(isSet)
        .map(({path, message}) =>
          findingAt(source, path, {code: 'UNCONFIRMED_KEY', message, verdict: 'warning'}),
        ),
      ...refused.map((message) => findingAt(source, [], {code: 'REFUSED_BY_CHART', message})),
    ],
  };
}

export const groupName = ({files}: FileGroup): string => files.map(({file}) => file).join(' + ');

/** The file a finding is shown in: the one that wrote the value, or the last one for something missing. */
export const fileOf = ({files}: FileGroup, {subject}: KeyFinding): string =>
  subject.file ?? (files.at(-1)?.file as string);

/** The findings of a group. A crash of a check is reported as a finding, so that other files are still checked. */
export function findingsOf({files, areLayers, release}: FileGroup, target: Target): KeyFinding[] {
  try {
    const found = areLayers
      ? validateLayers(files, target)
      : validate(files[0]?.text ?? '', target);
    return release === undefined
      ? found
      : withoutRepeatedTokens(
          release.around,
          found.flatMap((each) => inRelease(each, release, files)),
        );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `Cannot check this file: unexpected error (${reason}).`;
    return [
      {
        code: 'CHECK_FAILED',
        verdict: 'error',
        subject: {path: ''},
        message,
        remedies: remediesOf('Report this bug with the file, without its secrets'),
      },
    ];
  }
}

/** A token in a file for Git is reported once, as an error. */
export function withoutRepeatedTokens(
  first: readonly KeyFinding[],
  others: readonly KeyFinding[],
): KeyFinding[] {
  const known = first.filter(({code}) => code === 'TOKEN_IN_FILE').map(({subject}) => subject.line);
  const isRepeated = ({code, subject}: KeyFinding): boolean =>
    code === 'CLEAR_TEXT_CREDENTIAL' && known.includes(subject.line);
  return [...first, ...others.filter((each) => !isRepeated(each))];
}

/** Without what other values or templates can decide, and without a fix, which cannot edit a part of a file. */
function inRelease(
  found: KeyFinding,
  {isPartial}: ReleaseOfGroup,
  files: readonly ValuesFile[],
): KeyFinding[] {
  const finding = {...found, remedies: found.remedies.map(({text}) => ({text}))};
  const {file, line = 0, path} = found.subject;
  const text =
    (files.find((each) => each.file === file) ?? files.at(-1))?.text.split('\n')[line - 1] ?? '';
  if (finding.code === 'CLEAR_TEXT_CREDENTIAL') return [finding];
  // A missing key has the position of the key above it.
  const isMissing = !text.includes(/[^.]*$/.exec(path.replaceAll(/\[\d+\]/g, ''))?.[0] ?? '');
  return (isPartial && isMissing) || text.includes('{{') ? [] : [finding];
}

/**
 * Checks every group against the given chart, the chart that the settings name, or the one found in the file; `read` are charts in versions
 * that this program does not know. @throws ExpectedError
 */
export function checkGroups(
  groups: readonly FileGroup[],
  settings: Settings,
  {given, read = []}: {given?: Target | undefined; read?: readonly Target[]} = {},
): {checked: CheckedGroup[]; warnings: SettingFinding[]; notes: string[]} {
  if (given) return checkAgainst(groups, given);
  const guesses = groups.map((group) => guessChart(group, settings));
  const unreadable = groups.map(
    (group, index) =>
      group.around ?? (guesses[index]?.name === undefined ? unreadableIn(group) : []),
  );
  const unknown = groups.filter(
    ({around}, index) =>
      !around && guesses[index]?.name === undefined && unreadable[index]?.length === 0,
  );
  if (unknown.length > 0) throw chartUnknown(unknown);
  const warnings = new Map<string, SettingFinding>();
  const checked = groups.map((group, index): CheckedGroup => {
    const {name, version} = guesses[index] as ChartGuess;
    if (group.around || name === undefined) return {...group, findings: unreadable[index] ?? []};
    const known =
      version === undefined
        ? settings
        : settings.with(chartVersion, {value: version, source: 'default'});
    const found = targetOf(
      known,
      () => name,
      read.find((each) => each.chart === name && each.version === version),
    );
    for (const warning of found.warnings) warnings.set(warning.message, warning);
    return {...group, target: found.target, findings: findingsOf(group, found.target)};
  });
  const notes = checked.flatMap((each, index) => {
    const guess = guesses[index] as ChartGuess;
    const what = groups.length === 1 ? 'Checked' : `${groupName(each)}: checked`;
    const {isPartial, kind, unread = []} = each.release ?? {};
    const which = unread.length === 0 ? '' : ` (${few(unread)})`;
    return [
      ...(guess.source === undefined || each.target === undefined
        ? []
        : [`${what} against ${sourceText(guess, each.target)}`]),
      ...(isPartial
        ? [`${groupName(each)}: other values of the ${kind} were not checked${which}.`]
        : []),
    ];
  });
  return {checked, warnings: [...warnings.values()], notes};
}

/** Chart and version, and where they come from. */
function sourceText({source, version, isGiven}: ChartGuess, target: Target): string {
  const what = source !== KEYS && version && !isGiven ? 'chart and version' : 'chart';
  const detected = `${target.chart} ${target.version}: ${what} detected from ${source}.`;
  return version === undefined
    ? `${detected} This is the newest known version; set --chart-version to the version that you install.`
    : detected;
}

/** Findings of files that are no values of any chart. */
function unreadableIn({files, areLayers}: FileGroup): KeyFinding[] {
  return files.flatMap(({file, text}) => {
    const {source, findings} = readSource(text);
    const found = [
      ...(source === undefined ? findings : checkManifest(source)),
      ...checkClearText(text),
    ];
    return areLayers ? found.map((each) => ({...each, file})) : found;
  });
}

/** Against a chart of --chart-source, which names its own version. */
function checkAgainst(
  groups: readonly FileGroup[],
  target: Target,
): ReturnType<typeof checkGroups> {
  const {chart: name, version} = target;
  const isKnown = releasesOf(name).includes(version);
  const rules = isKnown ? '' : ` Rules between keys are those of ${newestOf(name)}.`;
  return {
    checked: groups.map((group) =>
      group.around
        ? {...group, findings: group.around}
        : {...group, target, findings: findingsOf(group, target)},
    ),
    warnings: [],
    notes: [
      `Checked against ${name} ${version}. Keys, types and defaults are read from the given chart.${rules}`,
    ],
  };
}

/** Chart of a group; `source` says where it was found, and is absent if the settings contain the chart. */
interface ChartGuess {
  name: ChartName | undefined;
  version: string | undefined;
  /** The version is a setting. */
  isGiven: boolean;
  source?: string;
}

const KEYS = 'the keys of the file';

/** From the settings, else from the header of the file, else from keys that only one chart has. */
export function guessChart({files, release, around}: FileGroup, settings: Settings): ChartGuess {
  if (around) return {name: undefined, version: undefined, isGiven: false};
  const header = files.map(({text}) => readHeader(text)).findLast((each) => each !== undefined);
  const given = settings.get(chart);
  const name = given ?? release?.chart ?? header?.chart ?? chartByKeys(files);
  const named = release ?? header;
  const givenVersion = settings.get(chartVersion);
  const version = givenVersion ?? (named?.chart === name ? named?.version : undefined);
  const ofHeader = header ? 'the file header' : KEYS;
  const source = release ? `the ${release.kind}` : ofHeader;
  return {
    name,
    version,
    isGiven: givenVersion !== undefined,
    ...(given === undefined ? {source} : {}),
  };
}

/** The chart version that the first lines of the file name, as `values` writes them. */
function readHeader(text: string): Target | undefined {
  const [, name, version] =
    /^# Values of (agent-(?:k8s|local|job)) (\d+\.\d+\.\d+)/m.exec(text.slice(0, 500)) ?? [];
  return name === undefined || version === undefined
    ? undefined
    : {chart: name as ChartName, version};
}

/** The only chart whose newest version has a key of the files that the others lack; undefined for none or several. */
function chartByKeys(files: readonly ValuesFile[]): ChartName | undefined {
  const values = files
    .map(({text}): Values => readSource(text).source?.values ?? {})
    .reduce(mergeValues, {});
  const nested = nestedChart(values);
  if (nested !== undefined) return nested;
  const keys = leafPaths(values).map((path) => path.slice(0, 2).join('.'));
  const known = CHART_NAMES.map((name) => {
    const paths = leavesOf(chartSchema(name), newestOf(name)).map(({path}) => path);
    return {
      name,
      keys: new Set(
        paths.flatMap((path) => [path.slice(0, 1).join('.'), path.slice(0, 2).join('.')]),
      ),
    };
  });
  const owners = keys.map((key) =>
    known.filter((each) => each.keys.has(key)).map(({name}) => name),
  );
  const charts = new Set(owners.filter((names) => names.length === 1).flat());
  return charts.size === 1 ? [...charts][0] : undefined;
}

const ADD_CHART = 'Add --chart agent-k8s, agent-local or agent-job';

function chartUnknown(groups: readonly FileGroup[]): ExpectedError {
  const names = groups.map(groupName);
  const [first] = groups;
  const unclear =
    names.length === 1
      ? `Cannot tell which chart ${names[0]} is for.`
      : `Cannot tell which chart these files are for: ${names.join(', ')}.`;
  const isEmpty = names.length === 1 && first?.files.every(({text}) => text.trim() === '');
  return new ExpectedError(isEmpty ? `${names[0]} is empty, so the chart is unknown.` : unclear, {
    code: 'MISSING_SETTING',
    options: chartOptions,
    suggestions: [ADD_CHART],
  });
}

/** An answer, and its origin if that is not the file itself. */
interface FoundAnswer {
  value: unknown;
  because?: string | undefined;
}

/**
 * The settings in the files of --values-file, by id, and the chart they are for. `named` holds the chart and the version
 * of other sources. @throws ExpectedError
 */
export function settingsInFiles(
  files: readonly ValuesFile[],
  named: Settings,
): Map<string, FoundAnswer> {
  const values = readLayers(files);
  const {name, version, source: because} = guessChart({files, areLayers: true}, named);
  if (name === undefined) {
    const names = files.map(({file}) => file).join(', ');
    throw failed('INVALID_SETTING', `Cannot tell which chart ${names} is for.`, [ADD_CHART]);
  }
  const known =
    version === undefined
      ? named
      : named.with(chartVersion, {value: version, source: 'values-file'});
  const {target} = targetOf(known, () => name);
  return new Map<string, FoundAnswer>([
    ...[...writtenSettings(values, target)].map(([id, value]): [string, FoundAnswer] => [
      id,
      {value},
    ]),
    [chart.id, {value: name, because}],
    ...(version === undefined ? [] : [[chartVersion.id, {value: version, because}] as const]),
  ]);
}
