import type {Target} from '../charts/releases/target.ts';
import {type ExpectedError, failed, usageError} from '../ground/errors.ts';
import type {Files} from '../ground/system/system.ts';
import {few} from '../ground/text.ts';
import type {ReadChart} from '../operations/read-chart.ts';
import type {ValuesFile} from '../settings/chart-values.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {
  type CheckedGroup,
  type FileGroup,
  guessChart,
  sourceOf,
  withFindings,
} from '../values/validate/check-files.ts';
import {type ChartDeps, readChartFrom, readUnknownChart} from './read-chart.ts';
import {readTexts} from './read-texts.ts';
import {reportKeys} from './report-keys.ts';

/** Words of files with releases, and names of files of other tools; values files with them are only read twice. */
const OTHER_TOOLS =
  /\b(?:kind|releases|helm_release|override|each cluster)\b|(?:^|\/)\.sops\.ya?ml\n|\.(?:tf|tf\.json|gotmpl)\n/;

type Readers = Pick<Files, 'read' | 'readStdin'>;

/** What is validated together: the values of each release in a file of another tool, and each other file alone. @throws ExpectedError */
export const readGroups = async (names: readonly string[], files: Readers): Promise<FileGroup[]> =>
  (await groupsPerFile(names, files)).flatMap(({groups}) => groups);

/** The values files to merge, where a file of another tool stands for the values of its only release. @throws ExpectedError */
export const readValuesTexts = async (
  names: readonly string[],
  files: Readers,
): Promise<ValuesFile[]> =>
  (await groupsPerFile(names, files)).flatMap(({file, groups: [group, ...others]}) => {
    if (group?.around) throw unclear(file, 'it has no values');
    if (group === undefined || others.length > 0)
      throw unclear(file, `it has ${others.length + 1} releases of the charts`);
    const {release} = group;
    if (release?.isPartial)
      throw unclear(
        file,
        `other values of the ${release.kind} are not in it${unreadText(release.unread)}`,
      );
    return group.files;
  });

const groupsPerFile = async (names: readonly string[], files: Readers) =>
  Promise.all(
    (await readTexts(names, files)).map(async (each) => ({
      file: each.file,
      groups: await groupsOf(each, files),
    })),
  );

async function groupsOf(given: ValuesFile, files: Readers): Promise<FileGroup[]> {
  const alone = [{files: [given], areLayers: false}];
  if (!OTHER_TOOLS.test(`${given.file}\n${given.text}`)) return alone;
  const {releaseGroups} = await import('../values/embedded/embedded-groups.ts');
  const found = await releaseGroups(given, async (path) =>
    (await files.read(path)).toString('utf8'),
  );
  return found.length > 0 ? found : alone;
}

const unreadText = (unread: readonly string[]): string =>
  unread.length === 0 ? '' : ` (${few(unread)})`;

const unclear = (name: string, reason: string): ExpectedError =>
  failed('UNREADABLE_FILE', `Cannot determine the values in ${name}: ${reason}.`, [
    'Save all values of the release in a separate file, and use that file',
  ]);

/** Charts to check files against that this program has to read: the one of --chart-source, or those in unknown versions. */
export interface ChartsToCheck {
  given?: Target;
  read: readonly ReadChart[];
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
  for (const {name, version} of groups.map((group) => guessChart(group, settings))) {
    if (name === undefined || version === undefined || read.has(`${name} ${version}`)) continue;
    const found = await readUnknownChart(name, version, undefined, deps);
    if (found) read.set(`${name} ${version}`, found);
  }
  return {read: [...read.values()]};
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
