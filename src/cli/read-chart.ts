import {type ChartRequirements, recommend} from '../charts/recommend.ts';
import type {ChartName} from '../charts/releases/chart-name.ts';
import {isUnknown} from '../charts/releases/target.ts';
import {oncePerVersion} from '../charts/releases/versions.ts';
import type {ReadChart} from '../operations/read-chart.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import type {App} from './app.ts';
import {type ClusterFlags, toolPaths} from './connection-flags.ts';

export interface ChartDeps {
  app: Pick<App, 'charts' | 'processes'>;
  /** The path of helm. */
  flags: ClusterFlags;
}

/** The chart of this version, read from `source` or the repository; undefined for a version that this program knows. @throws ExpectedError */
export async function readUnknownChart(
  name: ChartName,
  version: string,
  source: string | undefined,
  deps: ChartDeps,
): Promise<ReadChart | undefined> {
  if (!isUnknown({chart: name, version}, source !== undefined)) return undefined;
  return source === undefined
    ? downloaded(deps, `${name}@${version}`)
    : readChartFrom(source, {chart: name, version}, deps);
}

/** Once for all files and clusters of a command. */
const downloaded = oncePerVersion((deps: ChartDeps, name): Promise<ReadChart> => {
  const [chart, version] = name.split('@') as [string, string];
  return readChartFrom(undefined, {chart, version}, deps);
});

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

/** The chart that the settings name, read if its version is unknown. @throws ExpectedError */
export async function readChartOfSettings(
  settings: Settings,
  facts: ChartRequirements | undefined,
  deps: ChartDeps,
): Promise<ReadChart | undefined> {
  const version = settings.get(chartVersion);
  if (version === undefined) return undefined;
  const name = settings.get(chart) ?? recommend(settings, facts).chart;
  return readUnknownChart(name, version, settings.get(chartSource), deps);
}
