import type {ChartName} from '../../charts/releases/chart-name.ts';
import type {Target} from '../../charts/releases/target.ts';
import {chartOptions, newestOf, releasesOf} from '../../charts/releases/target.ts';
import {otherVersions, targetOf} from '../../charts/target-of.ts';
import {ExpectedError} from '../../ground/errors.ts';
import {type KeyFinding, remediesOf, type SettingFinding} from '../../ground/finding.ts';
import {few} from '../../ground/text.ts';
import {getAt, type Path} from '../../ground/tree.ts';
import {chartVersion} from '../../settings/release.ts';
import type {Settings} from '../../settings/settings.ts';
import {findingAt, type ValuesSource} from '../reading/finding.ts';
import {mergeSources, readSource} from '../reading/source.ts';
import {checkClearText, checkTokenInGit, isExported} from '../rules/check-clear-text.ts';
import {looksLikeAgentValues} from './agent-files.ts';
import {certainFindings, uncheckedValues} from './certain-findings.ts';
import {
  type FileGroup,
  fileOf,
  groupName,
  type ReleaseOfGroup,
  readOf,
  type UncheckedReason,
  uncheckedFile,
  whyUnknownVersion,
} from './file-group.ts';
import {ADD_CHART, type ChartGuess, guessChart, KEYS} from './guess-chart.ts';
import {validate, validateLayers} from './validate.ts';

export interface CheckedGroup extends FileGroup {
  /** Absent if the files cannot be read as values, and do not tell their chart. */
  target?: Target;
  findings: readonly KeyFinding[];
  fixed?: number;
}

/** What Helm reads from the files of a group without errors. */
export function sourceOf({files, areLayers}: FileGroup): ValuesSource {
  const layers = files.flatMap((each) => {
    const {source} = readOf(each);
    return source === undefined ? [] : [{file: each.file, source}];
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

/** The findings of a group. A crash of a check is reported as a finding, so that other files are still checked. */
export function findingsOf(group: FileGroup, target: Target): KeyFinding[] {
  const {files, areLayers, release} = group;
  try {
    const found = areLayers
      ? validateLayers(files, target)
      : validate(files[0]?.text ?? '', target);
    const isForGit = release !== undefined || files.some(({text}) => isExported(text));
    const inGit = isForGit ? checkTokenInGit(sourceOf(group), found) : [];
    const all = withoutRepeatedTokens(inGit, found);
    return release === undefined ? all : inRelease(all, release, sourceOf(group));
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

/** With the problems around the values, and without fixes, which cannot edit a part of a file. */
function inRelease(
  findings: readonly KeyFinding[],
  {kind, around, unread, address}: ReleaseOfGroup,
  source: ValuesSource,
): KeyFinding[] {
  const prefix = address === undefined ? '' : `${address}: `;
  const certain = certainFindings(findings, source.values, unread.length > 0).map((finding) => ({
    ...finding,
    message: `${prefix}${finding.message}`,
    remedies: finding.remedies.map(({text}) => ({text})),
  }));
  return withoutRepeatedTokens(around, [...certain, ...uncheckedValues(source, kind)]);
}

/** A token in a file for Git is reported once, as an error. */
export function withoutRepeatedTokens(
  first: readonly KeyFinding[],
  others: readonly KeyFinding[],
): KeyFinding[] {
  const known = first.filter(({code}) => code === 'TOKEN_IN_FILE').map(({subject}) => subject.line);
  const isRepeated = ({code, subject}: KeyFinding): boolean =>
    /^(CLEAR_TEXT_CREDENTIAL|TOKEN_IN_FILE)$/.test(code) && known.includes(subject.line);
  return [...first, ...others.filter((each) => !isRepeated(each))];
}

/** Charts that are read, because this program does not know their version. */
interface GivenCharts {
  /** Of --chart-source, for all files. */
  given?: Target | undefined;
  read?: readonly Target[];
  /** Why a chart could not be read, by CHART VERSION. */
  unreadable?: ReadonlyMap<string, ExpectedError>;
}

interface CheckedGroups {
  checked: CheckedGroup[];
  warnings: SettingFinding[];
  notes: string[];
}

/**
 * Checks every group against the given chart, the chart that the settings name, or the one found in the file. What cannot be checked is a
 * finding, so that the others are checked. @throws ExpectedError if nothing else is given
 */
export function checkGroups(
  groups: readonly FileGroup[],
  settings: Settings,
  charts: GivenCharts = {},
): CheckedGroups {
  if (charts.given) return checkAgainst(groups, charts.given);
  const warnings = new Map<string, SettingFinding>();
  const isOnly = groups.length === 1;
  const results = groups.map((group) => {
    const guess = guessChart(group, settings);
    const {
      target,
      warnings: found = [],
      findings,
    } = checkGroup({group, guess, isOnly}, settings, charts);
    for (const warning of found) warnings.set(warning.message, warning);
    const checked: CheckedGroup = target ? {...group, target, findings} : {...group, findings};
    return {checked, guess};
  });
  return {
    checked: withoutRepeats(results.map(({checked}) => checked)),
    warnings: [...warnings.values()],
    notes: results.flatMap(({checked, guess}) => notesOf(checked, guess, isOnly)),
  };
}

/** Releases can share a file, whose findings are listed once. */
function withoutRepeats(checked: readonly CheckedGroup[]): CheckedGroup[] {
  const known = new Set<string>();
  return checked.map((group) => {
    const findings = group.findings.filter((each) => {
      const {code, message, subject} = each;
      const {path, line} = subject;
      const key = JSON.stringify([fileOf(group, subject), code, path, line, message]);
      const isNew = group.release === undefined || line === undefined || !known.has(key);
      known.add(key);
      return isNew;
    });
    return {...group, findings};
  });
}

interface GuessedGroup {
  group: FileGroup;
  guess: ChartGuess;
  /** No other files are checked. */
  isOnly: boolean;
}

function checkGroup(
  {group, guess, isOnly}: GuessedGroup,
  settings: Settings,
  {read = [], unreadable}: GivenCharts,
): {target?: Target; warnings?: SettingFinding[]; findings: readonly KeyFinding[]} {
  const {name, version} = guess;
  if (group.around) return {findings: group.around};
  if (name === undefined) return {findings: withoutChart(group, isOnly)};
  const {release} = group;
  if (release?.unknown && !guess.isGiven)
    return {findings: notCheckedRelease(group, release.unknown)};
  const failure = unreadable?.get(`${name} ${version}`);
  if (failure) return {findings: unsupportedVersion(group, {name, version}, failure)};
  const known =
    version === undefined
      ? settings
      : settings.with(chartVersion, {value: version, source: 'default'});
  const chartRead = read.find((each) => each.chart === name && each.version === version);
  try {
    const {target, warnings} = targetOf(known, () => name, chartRead);
    return {target, warnings, findings: findingsOf(group, target)};
  } catch (error) {
    if (!(error instanceof ExpectedError) || guess.isGiven || (isOnly && !release)) throw error;
    return {findings: unsupportedVersion(group, {name, version}, error)};
  }
}

const notCheckedRelease = (group: FileGroup, why: UncheckedReason): KeyFinding[] => [
  ...(group.release?.around ?? []),
  uncheckedFile(fileOf(group), why),
];

/** A version that does not exist is an error; one that this program does not know is unknown. */
function unsupportedVersion(
  group: FileGroup,
  {name, version = newestOf(name)}: {name: ChartName; version?: string | undefined},
  {code, message, suggestions}: ExpectedError,
): KeyFinding[] {
  const [suggestion = 'Set --chart-version'] = suggestions;
  const file = fileOf(group);
  if (code === 'VERSION_TOO_OLD') {
    const [oldest = ''] = releasesOf(name);
    const reason = `${message} Against ${oldest}, keys that it no longer has are unknown keys`;
    return notCheckedRelease(group, whyUnknownVersion(file, reason, oldest));
  }
  if (code !== 'VERSION_NOT_RELEASED')
    return notCheckedRelease(group, {reason: message.replace(/\.$/, ''), command: suggestion});
  return [
    ...(group.release?.around ?? []),
    {
      code,
      verdict: 'error',
      subject: {path: '', file},
      message,
      remedies: remediesOf(otherVersions(name, version, (other) => `version ${other}`)[0]),
    },
  ];
}

/** @throws ExpectedError for the only file of a run */
function withoutChart(group: FileGroup, isOnly: boolean): KeyFinding[] {
  const found = unreadableIn(group);
  if (isOnly && found.length === 0) throw chartUnknown(group);
  const isAgent = looksLikeAgentValues(group.files.map((each) => each.text).join('\n'));
  if (!isOnly && !isAgent) return found.filter(({code}) => !OF_OTHERS.test(code));
  if (found.some(({verdict}) => verdict === 'error')) return found;
  const name = groupName(group);
  const command = `scalr-agent validate ${name} --chart CHART`;
  return [...found, uncheckedFile(name, {reason: 'the file does not tell its chart', command})];
}

/** What files of other programs can be: lists, and streams of documents. */
const OF_OTHERS = /^(NO_MAPPING|SEVERAL_DOCUMENTS)$/;

function notesOf(checked: CheckedGroup, guess: ChartGuess, isOnly: boolean): string[] {
  const name = groupName(checked);
  const what = isOnly ? 'Checked' : `${name}: checked`;
  const {kind, unread = []} = checked.release ?? {};
  const notes: string[] = [];
  if (guess.source !== undefined && checked.target !== undefined)
    notes.push(`${what} against ${sourceText(guess, checked.target, checked.release?.because)}`);
  if (unread.length > 0 && checked.target)
    notes.push(`${name}: checked without other values of the ${kind} (${few(unread)}).`);
  return notes;
}

/** Chart and version, and where they come from. */
function sourceText(
  {source, version, isGiven}: ChartGuess,
  target: Target,
  because?: string,
): string {
  const isDerived = because !== undefined && !isGiven;
  const what = source !== KEYS && version && !isGiven && !isDerived ? 'chart and version' : 'chart';
  const which = isDerived ? ` (${because})` : '';
  const detected = `${target.chart} ${target.version}${which}: ${what} detected from ${source}.`;
  return version === undefined
    ? `${detected} This is the newest known version; set --chart-version to the version that you install.`
    : detected;
}

/** Findings of files that are no values of any chart. */
function unreadableIn({files, areLayers}: FileGroup): KeyFinding[] {
  return files.flatMap(({file, text}) => {
    const {source, findings} = readSource(text);
    const found = [...(source === undefined ? findings : []), ...checkClearText(text)];
    return areLayers ? found.map((each) => ({...each, subject: {...each.subject, file}})) : found;
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

function chartUnknown(group: FileGroup): ExpectedError {
  const name = groupName(group) === '-' ? 'Standard input' : groupName(group);
  const isEmpty = group.files.every(({text}) => text.trim() === '');
  const message = isEmpty
    ? `${name} is empty, so the chart is unknown.`
    : `Cannot tell which chart ${groupName(group)} is for.`;
  return new ExpectedError(message, {
    code: 'MISSING_SETTING',
    options: chartOptions,
    suggestions: [ADD_CHART],
  });
}
