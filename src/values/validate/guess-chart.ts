import {chartFor} from '../../charts/chart-version.ts';
import {CHART_NAMES, type ChartName} from '../../charts/releases/chart-name.ts';
import {chartSchema, leavesOf} from '../../charts/releases/schema.ts';
import {newestOf, type Target} from '../../charts/releases/target.ts';
import {targetOf} from '../../charts/target-of.ts';
import {failed} from '../../ground/errors.ts';
import {leafPaths, mergeValues, spellPath, type Values} from '../../ground/tree.ts';
import type {ValuesFile} from '../../settings/chart-values.ts';
import type {Setting} from '../../settings/define.ts';
import {agentImage, imageRegistry} from '../../settings/images.ts';
import {namesRegistry} from '../../settings/kinds/images.ts';
import {chart, chartVersion} from '../../settings/release.ts';
import type {Settings} from '../../settings/settings.ts';
import {writtenSettings} from '../reading/read-values.ts';
import {readLayers} from '../reading/source.ts';
import {nestedChart} from '../rules/check-values.ts';
import {type CheckedFile, type FileGroup, readOf} from './file-group.ts';

/** Chart of a group; `source` says where it was found, and is absent if the settings contain the chart. */
export interface ChartGuess {
  name: ChartName | undefined;
  version: string | undefined;
  /** The version is a setting. */
  isGiven: boolean;
  source?: string;
}

export const KEYS = 'the keys of the file';

/** From the settings, else from the header of the file, else from keys that only one chart has. */
export function guessChart({files, release, around}: FileGroup, settings: Settings): ChartGuess {
  if (around) return {name: undefined, version: undefined, isGiven: false};
  const header = release
    ? undefined
    : files.map(({text}) => readHeader(text)).findLast((each) => each !== undefined);
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
function chartByKeys(files: readonly CheckedFile[]): ChartName | undefined {
  const values = files
    .map((file): Values => readOf(file).source?.values ?? {})
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

export const ADD_CHART = 'Add --chart agent-k8s, agent-local or agent-job';

/** An answer, and its origin if that is not the file itself. */
interface FoundAnswer {
  value: unknown;
  because?: string | undefined;
}

/**
 * The settings in the files of --values-file, by id, and the chart they are for. `named` holds the chart, the version and the agent image
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
  const written = writtenSettings(values, target);
  if (replacesRegistry(named, target)) written.delete(imageRegistry.id);
  return new Map<string, FoundAnswer>([
    ...[...written].map(([id, value]): [string, FoundAnswer] => [id, {value}]),
    [chart.id, {value: name, because}],
    ...(version === undefined ? [] : [[chartVersion.id, {value: version, because}] as const]),
  ]);
}

/** An agent image with a registry replaces the one of the files, if the chart has one key for both. */
function replacesRegistry(named: Settings, target: Target): boolean {
  const image = named.get(agentImage);
  if (image === undefined || !namesRegistry(image)) return false;
  const paths = (setting: Setting): string[] =>
    chartFor(target)
      .rows.filter((row) => row.setting === setting)
      .flatMap((row) => row.paths.map(spellPath));
  const ofImage = paths(agentImage);
  return paths(imageRegistry).every((path) => ofImage.includes(path));
}
