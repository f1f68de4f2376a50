import {failed} from '../ground/errors.ts';
import type {ReadChart} from '../operations/read-chart.ts';
import {parseTarget} from '../values/migrate/migrate-file.ts';
import {type ChartDeps, readChartFrom, readUnknownChart} from './read-chart.ts';

/** The target of a migration, if it is read from a chart: --chart-source, or an unknown version in --to. @throws ExpectedError */
export async function migrationChart(
  to: string | undefined,
  source: string | undefined,
  deps: ChartDeps,
): Promise<ReadChart | undefined> {
  if (source === undefined) {
    const desired = to === undefined ? undefined : parseTarget('--to', to).target;
    return desired && readUnknownChart(desired.chart, desired.version, undefined, deps);
  }
  const [name = '', version = ''] = to?.split('@') ?? [];
  const read = await readChartFrom(source, {chart: name, version}, deps);
  const {target} = read;
  if (to === undefined || (target.chart === name && ['', target.version].includes(version)))
    return read;
  throw failed(
    'CONFLICTING_SETTINGS',
    `--to is ${to}, but the chart in --chart-source is ${target.chart} ${target.version}.`,
    ['Omit --to, or set --chart-source to another chart'],
  );
}
