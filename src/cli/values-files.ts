import type {Target} from '../charts/releases/target.ts';
import {ExpectedError, failed, usageError} from '../ground/errors.ts';
import type {KeyFinding} from '../ground/finding.ts';
import type {Files} from '../ground/system/system.ts';
import {few, lowerFirst} from '../ground/text.ts';
import type {ReadChart} from '../operations/read-chart.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import type {GivenFile} from '../values/embedded/read-files.ts';
import {type CheckedGroup, sourceOf, withFindings} from '../values/validate/check-files.ts';
import type {CheckedFile, FileGroup} from '../values/validate/file-group.ts';
import {guessChart} from '../values/validate/guess-chart.ts';
import {type ListDeps, readGiven, type TreeOptions} from './list-files.ts';
import {type ChartDeps, readChartFrom, readUnknownChart} from './read-chart.ts';
import {readTexts} from './read-texts.ts';
import {reportKeys} from './report-keys.ts';

type Readers = ListDeps['files'];

/** What is validated together: the values of each release in a file of another tool, and each other file alone. @throws ExpectedError */
export async function readGroups(
  names: readonly string[],
  deps: ListDeps,
  options: TreeOptions,
): Promise<FileGroup[]> {
  const given = await readGiven(names, deps, options);
  const groups = (await groupsPerFile(given, deps.files)).flat();
  // Values of a release are checked with it.
  const ofReleases = new Set(
    groups.flatMap((each) => (each.release ? each.files.map(({file}) => file) : [])),
  );
  return groups.filter(
    ({files: [first], release}) =>
      release || first === undefined || !ofReleases.has(first.file) || isNamed(first.file, names),
  );
}

const isNamed = (file: string, names: readonly string[]): boolean => names.includes(file);

/** The values files to merge, where a file of another tool stands for the values of its only release. @throws ExpectedError */
export const readValuesTexts = async (
  names: readonly string[],
  files: Readers,
): Promise<CheckedFile[]> =>
  (await groupsPerFile(await readTexts(names, files), files)).flatMap(([group, ...others]) => {
    const file = group?.files[0]?.file ?? '';
    if (group?.around) throw unclear(file, reasonIn(group.around));
    if (group === undefined || others.length > 0)
      throw unclear(file, `it has ${others.length + 1} releases of the charts`);
    const {release} = group;
    if (release && release.unread.length > 0)
      throw unclear(
        file,
        `other values of the ${release.kind} are not in it (${few(release.unread)})`,
      );
    return group.files;
  });

const reasonIn = (around: readonly KeyFinding[]): string =>
  lowerFirst(
    around.find(({verdict}) => verdict === 'unknown')?.message ?? 'it has no values',
  ).replace(/\.$/, '');

/** Values of an agent without anything that another tool could read; the readers of other files are then not loaded. */
const isPlain = ({file, text}: GivenFile): boolean =>
  /^(?:-|.*\.ya?ml)$/.test(file) &&
  /^agent:/m.test(text) &&
  !/\b(?:kind|releases|helm\w*|override|objects|sops|each cluster)\b|\{[{%]/.test(text);

async function groupsPerFile(given: readonly GivenFile[], files: Readers): Promise<FileGroup[][]> {
  if (given.every(isPlain)) return given.map((each) => [{files: [each], areLayers: false}]);
  const {readFiles} = await import('../values/embedded/read-files.ts');
  return readFiles(given, async (path) => {
    if ((await files.kindOf(path)) !== 'file') return undefined;
    return (await files.read(path)).toString('utf8');
  });
}

const unclear = (name: string, reason: string): ExpectedError =>
  failed('UNREADABLE_FILE', `Cannot determine the values in ${name}: ${reason}.`, [
    'Save all values of the release in a separate file, and use that file',
  ]);

/** Charts to check files against that this program has to read: the one of --chart-source, or those in unknown versions. */
export interface ChartsToCheck {
  given?: Target;
  read: readonly ReadChart[];
  /** Why a chart could not be read, by CHART VERSION. */
  unreadable?: ReadonlyMap<string, ExpectedError>;
}

/** @throws ExpectedError */
export async function chartsToCheck(
  groups: readonly FileGroup[],
  settings: Settings,
  deps: ChartDeps,
): Promise<ChartsToCheck> {
  const source = settings.get(chartSource);
  if (source !== undefined) {
    const read = await readChartFrom(
      source,
      {chart: settings.get(chart) ?? '', version: settings.get(chartVersion) ?? ''},
      deps,
    );
    return {given: read.target, read: [read]};
  }
  const read = new Map<string, ReadChart>();
  const unreadable = new Map<string, ExpectedError>();
  for (const {name, version} of groups.map((group) => guessChart(group, settings))) {
    const key = `${name} ${version}`;
    if (name === undefined || version === undefined || read.has(key) || unreadable.has(key))
      continue;
    try {
      const found = await readUnknownChart(name, version, undefined, deps);
      if (found) read.set(key, found);
    } catch (error) {
      if (groups.length === 1 || !(error instanceof ExpectedError)) throw error;
      unreadable.set(key, error);
    }
  }
  return {read: [...read.values()], unreadable};
}

/** Adds findings about keys without a confirmed effect to valid files for charts of unknown versions. */
export async function confirmGroups(
  checked: readonly CheckedGroup[],
  {read}: ChartsToCheck,
  deps: ChartDeps,
): Promise<readonly CheckedGroup[]> {
  if (read.length === 0) return checked;
  const given = checked.map((group) => ({
    chart: hasError(group) ? undefined : read.find(({target}) => target === group.target),
    values: sourceOf(group).values,
  }));
  const confirmed = await reportKeys(given, deps);
  return checked.map((group, index) => {
    const found = confirmed[index];
    if (found === undefined) return group;
    const {unconfirmed, rejection} = found;
    return withFindings(group, unconfirmed, rejection ? [rejection.message] : []);
  });
}

const hasError = ({findings}: CheckedGroup): boolean =>
  findings.some(({verdict}) => verdict === 'error');

/** Rejects ambiguous files: `given` are validated separately, `layers` merged. @throws ExpectedError */
export function refuseUnclear(given: readonly string[], layers: readonly string[]): void {
  const file = given[0];
  const layer = layers[0];
  if (file === undefined && layer === undefined) {
    throw usageError('No file to validate.', [
      'Validate a file: scalr-agent validate values.yaml',
      'Validate standard input: scalr-agent validate -',
    ]);
  }
  if (file !== undefined && layer !== undefined) {
    throw usageError(
      `${file} and -f ${layer} cannot be combined: FILE is validated separately, -f is merged.`,
      [
        `Merge all files, the last one wins: ${[...layers, ...given].map((each) => `-f ${each}`).join(' ')}`,
        `Validate each file separately: ${[...given, ...layers].join(' ')}`,
      ],
    );
  }
  if ([...given, ...layers].filter((each) => each === '-').length > 1) {
    throw usageError('Standard input can be read only once.', [
      'Use - once, and file names for the other files',
    ]);
  }
}

/** Rejects --fix for standard input and pipes. @throws ExpectedError */
export async function refuseStandardInput(
  names: readonly string[],
  {kindOf}: Pick<Files, 'kindOf'>,
): Promise<void> {
  for (const name of names) {
    if (name !== '-' && (await kindOf(name)) !== 'stream') continue;
    throw usageError(
      `--fix requires a file, and ${name === '-' ? 'standard input' : name} is not one.`,
      [
        'Save the values in a file: scalr-agent validate values.yaml --fix',
        'Omit --fix to validate without changes',
      ],
    );
  }
}
