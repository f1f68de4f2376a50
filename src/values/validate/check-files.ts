import type {Target} from '../../charts/define.ts';
import type {ChartName} from '../../charts/schema.ts';
import {newestOf, releasesOf, targetOf} from '../../charts/target.ts';
import {mergeValues, type Values} from '../../charts/tree.ts';
import {ExitCode, ExpectedError, type Warning} from '../../errors.ts';
import {chart, chartVersion} from '../../settings/release.ts';
import type {Settings} from '../../settings/settings.ts';
import type {Finding} from './finding.ts';
import {chartByKeys, namedInHeader} from './recognise.ts';
import {readSource} from './source.ts';
import {validate, validateLayers} from './validate.ts';

export interface ValuesFile {
  file: string;
  text: string;
}

/** What is checked as one: a file of its own, or several that Helm merges. */
export interface Group {
  files: readonly ValuesFile[];
  areLayers: boolean;
}

export interface Checked extends Group {
  target: Target;
  findings: readonly Finding[];
  /** How many findings were mended in the files. */
  fixed?: number;
}

export const nameOf = ({files}: Group): string => files.map(({file}) => file).join(' + ');

/** The file a finding is shown in: the one that wrote the value, for what is missing the one that wins. */
export const fileOf = ({files}: Group, {file}: Finding): string => file ?? (files.at(-1)?.file as string);

/** Checks every group against the chart that the settings name, else the one it says itself. @throws ExpectedError */
export function checkGroups(
  groups: readonly Group[],
  settings: Settings,
  atHand?: Target,
): {checked: Checked[]; warnings: Warning[]; notes: string[]} {
  if (atHand) return checkAgainst(groups, atHand);
  const clues = groups.map((group) => clueOf(group, settings));
  const unknown = groups.filter((_, index) => clues[index]?.name === undefined);
  if (unknown.length > 0) throw chartUnknown(unknown.map(nameOf));
  const warnings = new Map<string, Warning>();
  const checked = groups.map((group, index): Checked => {
    const {name, version} = clues[index] as Clue;
    const known = version === undefined ? settings : settings.with(chartVersion, {value: version, source: 'default'});
    const found = targetOf(known, () => name as ChartName);
    for (const warning of found.warnings) warnings.set(warning.message, warning);
    return {...group, target: found.target, findings: findingsOf(group, found.target)};
  });
  const notes = checked.flatMap((each, index) => {
    const {source} = clues[index] as Clue;
    const what = groups.length === 1 ? 'Checked' : `${nameOf(each)}: checked`;
    return source === undefined ? [] : [`${what} as ${each.target.chart} ${each.target.version}, according to ${source}.`];
  });
  return {checked, warnings: [...warnings.values()], notes};
}

/** Against a chart at hand, which says itself what it is. */
function checkAgainst(groups: readonly Group[], target: Target): ReturnType<typeof checkGroups> {
  const {chart: name, version} = target;
  const isKnown = releasesOf(name).includes(version);
  const rules = isKnown ? '' : `; the rules between them are those known of ${newestOf(name)}`;
  return {
    checked: groups.map((group) => ({...group, target, findings: findingsOf(group, target)})),
    warnings: [],
    notes: [`Checked as ${name} ${version}: keys, types and defaults are those of the chart at hand${rules}.`],
  };
}

export const findingsOf = ({files, areLayers}: Group, target: Target): Finding[] =>
  areLayers ? validateLayers(files, target) : validate(files[0]?.text ?? '', target);

/** What is known about the chart, and who said so where the operator did not. */
interface Clue {
  name: ChartName | undefined;
  version: string | undefined;
  source?: string;
}

/** From the settings, else from the first lines of the file, else from keys that only one chart has. */
function clueOf({files}: Group, settings: Settings): Clue {
  const header = files.map(({text}) => namedInHeader(text)).findLast((each) => each !== undefined);
  const said = settings.get(chart);
  const name = said ?? header?.chart ?? chartByKeys(files.map(valuesOf).reduce(mergeValues, {}));
  const version = settings.get(chartVersion) ?? (header?.chart === name ? header?.version : undefined);
  return {name, version, ...(said === undefined ? {source: header ? 'the first lines of the file' : 'its keys'} : {})};
}

const valuesOf = ({text}: ValuesFile): Values => readSource(text).source?.values ?? {};

const chartUnknown = (names: readonly string[]): ExpectedError =>
  new ExpectedError(
    names.length === 1
      ? 'The file does not say which chart it is for.'
      : `These files do not say which chart they are for: ${names.join(', ')}.`,
    {code: 'MISSING_SETTING', exit: ExitCode.usage, suggestions: ['Add --chart agent-k8s, agent-local or agent-job']},
  );
