import {CHART_NAMES, type ChartName, isChart} from '../../charts/releases/chart-name.ts';
import {knowsKey} from '../../charts/releases/keys.ts';
import {newestOf, type Target} from '../../charts/releases/target.ts';
import {otherVersions, targetOf} from '../../charts/target-of.ts';
import {helmCommand} from '../../ground/command-line.ts';
import {refuseEncrypted} from '../../ground/encryption.ts';
import {ExpectedError, failed} from '../../ground/errors.ts';
import type {KeyFinding, SettingFinding} from '../../ground/finding.ts';
import {closest} from '../../ground/similar-text.ts';
import {few} from '../../ground/text.ts';
import {sameTree, type Values} from '../../ground/tree.ts';
import {chart, chartVersion} from '../../settings/release.ts';
import {Settings} from '../../settings/settings.ts';
import {clearTextError} from '../clear-text.ts';
import {type MigratableRelease, migratableReleases} from '../embedded/migratable-releases.ts';
import {readLayers} from '../reading/source.ts';
import {normalized} from '../reading/yaml-syntax.ts';
import {isAnchorHolder} from '../rules/anchor-holders.ts';
import {clearTextPlaces} from '../rules/check-clear-text.ts';
import {applyEdits, type TextEdit} from '../text-edits.ts';
import {guessChart} from '../validate/guess-chart.ts';
import {type Change, withoutRepeats} from './change.ts';
import type {KeptDefaults} from './keep-defaults.ts';
import {type MigratedRelease, migrateRelease} from './migrate-release.ts';
import {migrateText} from './migrate-text.ts';

export interface MigrationRequest {
  file: string;
  text: string;
  /** The text of the Chart.yaml beside the file. */
  parent?: string | undefined;
  /** CHART@VERSION; undefined if the file names them. */
  from: string | undefined;
  to: string | undefined;
  keeps: KeptDefaults;
  /** The target, if it was read from the chart. */
  read?: Target | undefined;
  /** Credentials may stay in the new file. */
  allowsClearText?: boolean;
}

export interface MigratedFile {
  from: string;
  to: string;
  /** The whole new file. */
  yaml: string;
  /** The values in it. */
  values: Values;
  changes: readonly Change[];
  findings: readonly KeyFinding[];
  /** The chart that the findings refer to. */
  target: Target;
  warnings: readonly SettingFinding[];
  notes: readonly string[];
  /** Top-level keys of the old file that neither chart has; the new file does not contain them. */
  unknownSections: readonly string[];
}

/**
 * Migrates a file to another chart version or chart: a values file, or the charts, versions and inline values in a file of another engine,
 * of which all other bytes stay. Pure. @throws ExpectedError
 */
export function migrateFile(request: MigrationRequest): MigratedFile {
  const {file, text, to, read} = request;
  refuseEncrypted(file, text, (decrypt) => migrateDecrypted(decrypt, request));
  const content = normalized(text);
  const releases = migratableReleases({file, text: content}, request.parent);
  const target = migrationTarget(to, read);
  const isWhole = releases.length === 0;
  const parts = isWhole
    ? [migrateWhole(request, target.target)]
    : releases.map((each) => migratePart(each, request, target.target));
  const edited = (): string =>
    applyEdits(
      content,
      withoutRepeatedEdits(
        parts.flatMap(({edits}) => edits),
        file,
      ),
    );
  const texts = parts.flatMap((each) => each.texts);
  const yaml = isWhole ? (texts[0]?.text ?? '') : withEnds(edited(), text);
  if (!request.allowsClearText) refuseClearTextIn(yaml, file);
  const changes = parts.flatMap((each) => each.changes);
  const findings = texts.flatMap((each) => each.findings);
  const charts = [...parts.map(({source}) => source.target), target.target];
  const sections = texts.flatMap(({before}) => unknownSections(before, charts));
  return {
    from: spellTarget(charts[0] as Target),
    to: spellTarget(target.target),
    yaml,
    values: readLayers(texts.map((each) => ({file, text: each.text}))),
    changes: isWhole ? changes : withoutRepeats(changes),
    // Positions inside of the values do not match the lines of the file.
    findings: isWhole
      ? findings
      : findings.map(({subject: {path}, ...finding}) => ({...finding, subject: {path}})),
    target: target.target,
    unknownSections: [...new Set(sections)],
    warnings: [...parts.flatMap(({source}) => source.warnings), ...target.warnings],
    notes: [
      ...parts.flatMap(({source}) => source.notes),
      ...releases.flatMap((each) => notesAbout(each, target.target)),
    ],
  };
}

/** The values of a file, or of one release in it. */
interface MigratedPart extends MigratedRelease {
  source: Source;
}

function migrateWhole({file, text, from, keeps}: MigrationRequest, to: Target): MigratedPart {
  const source = migrationSource(file, text, from);
  const migrated = migrateText({file, text}, source.target, to, {keeps});
  return {source, texts: [migrated], changes: migrated.changes, edits: []};
}

function migratePart(
  release: MigratableRelease,
  {file, from, keeps}: MigrationRequest,
  to: Target,
): MigratedPart {
  const source = sourceOfRelease(file, release, from);
  return {source, ...migrateRelease(release, source.target, to, {file, keeps})};
}

const notesAbout = ({kind, others, note}: MigratableRelease, to: Target): string[] => [
  ...(others.length === 0
    ? []
    : [`Not migrated, because they are not in the file: values of the ${kind} in ${few(others)}.`]),
  ...(note ? [note(to)] : []),
];

/** Two releases can have values in common. @throws ExpectedError if they need different ones */
function withoutRepeatedEdits(edits: readonly TextEdit[], file: string): TextEdit[] {
  const once = edits.filter(
    (edit, index) => edits.findIndex((each) => sameTree({...each}, {...edit})) === index,
  );
  const isTwice = once.some((edit) =>
    once.some((each) => each !== edit && each.start < edit.end && edit.start < each.end),
  );
  if (!isTwice) return once;
  throw failed(
    'UNREADABLE_FILE',
    `Cannot migrate ${file}: releases with different charts or versions have values in common.`,
    ['Give each of these releases its own values, and migrate them again'],
  );
}

/** With the byte order mark and the line ends of the old file. */
const withEnds = (edited: string, text: string): string =>
  (text.startsWith('\uFEFF') ? '\uFEFF' : '') +
  (text.includes('\r\n') ? edited.replaceAll('\n', '\r\n') : edited);

/** The same command for the decrypted file. */
const migrateDecrypted = (decrypt: string, {from, to}: MigrationRequest): string =>
  [
    `Migrate the decrypted values: ${decrypt} | scalr-agent migrate - --to ${to ?? 'CHART@VERSION'}`,
    ...(from === undefined ? [] : [`--from ${from}`]),
  ].join(' ');

/** @throws ExpectedError for credentials in the new file */
function refuseClearTextIn(yaml: string, file: string): void {
  const found = clearTextPlaces(yaml).map(({path, kind, line}) => ({
    place: path === '' ? `line ${line}` : path,
    kind,
  }));
  const name = file === '-' ? 'the new file' : `the new ${file}`;
  if (found.length > 0) throw clearTextError(found, name);
}

const unknownSections = (values: Values, charts: readonly Target[]): string[] =>
  Object.keys(values).filter(
    (key) => !isAnchorHolder(key) && !charts.some((each) => knowsKey(each, [key])),
  );

function sourceOfRelease(
  file: string,
  {kind, chart, version}: MigratableRelease,
  from: string | undefined,
): Source {
  const noted = (found: Omit<Source, 'notes'>): Source => ({
    ...found,
    notes: [`Migrated the ${kind} from ${spellTarget(found.target)}.`],
  });
  if (from !== undefined) return noted(parseTarget('--from', from));
  if (version !== undefined && /^v?\d+\.\d+\.\d+$/.test(version))
    return noted(checkTarget('--from', chart, version));
  throw withoutVersion(`The ${kind} in ${file} ${spellVersion(version)} of ${chart}.`, chart);
}

function spellVersion(version: string | undefined): string {
  if (version === undefined) return 'does not specify a version';
  return `has the ${version.includes('{') ? 'variable version' : 'version range'} "${version}"`;
}

/** The version that is installed decides which keys had an effect. */
const withoutVersion = (message: string, name: ChartName): ExpectedError =>
  missing(
    message,
    [
      `Add the installed version: --from ${name}@VERSION`,
      `Find it in the column CHART of ${helmCommand({}, 'list', '--all-namespaces')}`,
    ],
    `--from ${name}@VERSION`,
  );

export const spellTarget = ({chart, version}: Target): string => `${chart}@${version}`;

/** @throws ExpectedError without --to */
function migrationTarget(
  to: string | undefined,
  read?: Target,
): {target: Target; warnings: SettingFinding[]} {
  if (to !== undefined) return parseTarget('--to', to, read);
  throw missing(
    '--to is required: the chart and version to migrate to.',
    [`Example: --to agent-job@${newestOf('agent-job')}`],
    '--to CHART@VERSION',
  );
}

interface Source {
  target: Target;
  warnings: readonly SettingFinding[];
  notes: readonly string[];
}

/** The chart version of the values: given, or found in the file. */
function migrationSource(file: string, text: string, from: string | undefined): Source {
  if (from !== undefined) return {...parseTarget('--from', from), notes: []};
  const {name, version, source} = guessChart(
    {files: [{file, text}], areLayers: false},
    new Settings(new Map()),
  );
  // Broken YAML tells nothing about the chart.
  if (name === undefined) readLayers([{file, text}]);
  if (name === undefined)
    throw missing(
      `Cannot tell which chart ${file} is for.`,
      ['Set the chart and version of the file, for example --from agent-k8s@0.5.58'],
      '--from CHART@VERSION',
    );
  if (version === undefined)
    throw withoutVersion(
      `The values are for ${name}, but the file does not specify the chart version.`,
      name,
    );
  return {
    ...checkTarget('--from', name, version),
    notes: [`Migrated from ${name} ${version}, detected from ${source}.`],
  };
}

/** `add` is the flag that answers. */
export const missing = (
  message: string,
  suggestions: readonly string[],
  add: string,
): ExpectedError =>
  new ExpectedError(message, {
    code: 'MISSING_SETTING',
    suggestions,
    options: [{add, when: 'Set the chart and its version'}],
  });

const VERSION = /^v?\d+\.\d+\.\d+([-+].*)?$/;

/** The text CHART@VERSION; with --to also CHART, for its newest version. @throws ExpectedError */
export function parseTarget(
  flag: '--from' | '--to',
  text: string,
  read?: Target,
): {target: Target; warnings: SettingFinding[]} {
  const [name = '', version, ...more] = text.split('@');
  if (!isChart(name) || more.length > 0 || version === '') {
    const near = closest(name, CHART_NAMES);
    const example = `${near ?? 'agent-job'}@${VERSION.test(version ?? '') ? version : '0.6.5'}`;
    const isUnknown = more.length === 0 && /^agent-[a-z0-9-]+$/.test(name) && !isChart(name);
    throw failed(
      'INVALID_SETTING',
      isUnknown ? `${flag}: unknown chart ${name}.` : `${flag}: "${text}" is not CHART@VERSION.`,
      [`Example: ${flag} ${example}`, `Charts: ${CHART_NAMES.join(', ')}`],
    );
  }
  if (flag === '--from' && version === undefined)
    throw withoutVersion(`--from: "${text}" has no version.`, name);
  return checkTarget(flag, name, version, read);
}

const hiddenBy = ({code}: ExpectedError): string | undefined =>
  code === 'VERSION_TOO_OLD'
    ? 'Compare the result with the old values: changes before that version are not listed, and keys that it no longer has are dropped'
    : undefined;

/** The chart in this version, or in its newest one. @throws ExpectedError for a version that was never released */
function checkTarget(
  flag: '--from' | '--to',
  name: ChartName,
  version?: string,
  read?: Target,
): {target: Target; warnings: SettingFinding[]} {
  if (version !== undefined && !VERSION.test(version)) {
    throw failed('INVALID_SETTING', `${flag}: "${version}" is not a chart version.`, [
      `Example: ${flag} ${name}@0.6.5`,
    ]);
  }
  const answers = new Map([[chart.id, {value: name, source: 'flag' as const}]]);
  if (version !== undefined)
    answers.set(chartVersion.id, {value: version.replace(/^v/, '') as ChartName, source: 'flag'});
  try {
    return targetOf(new Settings(answers), () => name, read);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    if (version === undefined) throw error;
    const [nearest, newest] = otherVersions(
      name,
      version.replace(/^v/, ''),
      (other) => `${flag} ${name}@${other}`,
    );
    // Old values do not become those of the newest version.
    const more = flag === '--to' ? newest : hiddenBy(error);
    throw error.with(error.message, more === undefined ? [nearest] : [nearest, more]);
  }
}
