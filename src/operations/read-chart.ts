import type {Target} from '../charts/define.ts';
import type {ChartName} from '../charts/schema.ts';
import {newestOf} from '../charts/target.ts';
import {ExpectedError} from '../ground/errors.ts';
import {toolFailure} from '../ground/tool-errors.ts';
import {type ChartReference, pull, showNewest} from '../helm/helm.ts';
import type {Charts, Processes} from '../ports/system.ts';
import {readMetadata, targetOfChart} from '../values/chart-files.ts';

/** A chart that was read, and its directory or archive on this machine. */
export interface ReadChart {
  target: Target;
  path: string;
}

interface ReadChartDeps {
  charts: Charts;
  processes: Pick<Processes, 'run'>;
}

/** Reads a chart of an unknown version from --chart-source, or downloads it. @throws ExpectedError */
export async function readChart(wanted: ChartReference, {charts, processes}: ReadChartDeps): Promise<ReadChart> {
  const {source} = wanted;
  const isHere = source !== undefined && !/^[a-z]+:\/\//i.test(source);
  const path = isHere ? source : await charts.download((directory) => download(wanted, directory, processes));
  return {target: await targetOfChart(source ?? `${wanted.chart} ${wanted.version}`, await charts.read(path)), path};
}

async function download(wanted: ChartReference, directory: string, processes: ReadChartDeps['processes']): Promise<void> {
  const call = pull(wanted, directory);
  try {
    const outcome = await processes.run(call);
    if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const {chart, version, source} = wanted;
    if (source !== undefined) throw error.with(`Cannot read the chart in --chart-source.\n${error.message}`, error.suggestions);
    throw error.with(
      `Cannot read ${chart} ${version}. The newest known version is ${newestOf(chart as Target['chart'])}, so ${version} is read from the chart itself.\n${error.message}`,
      [
        ...error.suggestions,
        `Use a downloaded chart: --chart-source ${chart}-${version}.tgz`,
        `Use the newest known version: --chart-version ${newestOf(chart as Target['chart'])}`,
      ],
    );
  }
}

/** The newest version in the public repository; undefined if helm cannot read it. */
export async function newestInRepository(
  chart: ChartName,
  processes: Pick<Processes, 'run'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const {exitCode, stdout} = await processes.run(showNewest(chart), {signal});
    return exitCode === 0 ? readMetadata(chart, stdout).version : undefined;
  } catch (error) {
    if (error instanceof ExpectedError) return undefined;
    throw error;
  }
}
