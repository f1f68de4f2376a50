import {CHART_NAMES, type ChartName} from '../charts/releases/chart-name.ts';
import {isUnknown, isUsable} from '../charts/releases/target.ts';
import {ExpectedError} from '../ground/errors.ts';
import {oneOf} from '../ground/text.ts';
import type {ReadChart} from '../operations/read-chart.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import type {App} from './app.ts';
import {type ClusterFlags, toolPaths} from './connection-flags.ts';

export interface ChartDeps {
  app: Pick<App, 'charts' | 'processes'>;
  /** The path of helm. */
  flags: ClusterFlags;
  /** Charts from the repository by name and version, for a command that needs one several times. */
  downloads?: Map<string, Promise<ReadChart>>;
}

/** The chart of this version, read from `source` or the repository; undefined for a version that this program knows. @throws ExpectedError */
export async function readUnknownChart(
  name: ChartName,
  version: string,
  source: string | undefined,
  deps: ChartDeps,
): Promise<ReadChart | undefined> {
  if (!isUnknown({chart: name, version}, source !== undefined)) return undefined;
  const named = {chart: name, version};
  if (source !== undefined) return readChartFrom(source, named, deps);
  const key = `${name} ${version}`;
  const download = deps.downloads?.get(key) ?? readChartFrom(undefined, named, deps);
  deps.downloads?.set(key, download);
  return download;
}

/** Reads a chart; without a source from the repository. @throws ExpectedError */
export async function readChartFrom(
  source: string | undefined,
  named: {chart: string; version: string},
  {app, flags}: ChartDeps,
): Promise<ReadChart> {
  const {readChart} = await import('../operations/read-chart.ts');
  const desired = {...named, ...(source === undefined ? {} : {source})};
  return readChart(desired, {
    charts: app.charts,
    processes: {run: (call) => app.processes(toolPaths(flags)).run(call)},
  });
}

function versionOfNoChart(version: string): ExpectedError {
  const usable = CHART_NAMES.filter((name) => isUsable({chart: name, version}));
  // Each chart tells which versions it has.
  const charts = usable.length === 0 ? CHART_NAMES : usable;
  return new ExpectedError(
    `--chart-version ${version}: the chart is missing, and each chart has versions of its own.`,
    {
      code: 'MISSING_SETTING',
      suggestions: [`Add --chart ${oneOf(charts)}`],
      options: charts.map((name) => ({add: `--chart ${name}`, when: `For ${name}`})),
    },
  );
}

/** The chart that the settings name, read if its version is unknown. @throws ExpectedError */
export async function readChartOfSettings(
  settings: Settings,
  deps: ChartDeps,
): Promise<ReadChart | undefined> {
  const version = settings.get(chartVersion);
  if (version === undefined) return undefined;
  const name = settings.get(chart);
  if (name === undefined) throw versionOfNoChart(version);
  return readUnknownChart(name, version, settings.get(chartSource), deps);
}
