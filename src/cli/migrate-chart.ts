import {isUnknown} from '../charts/target.ts';
import {ExitCode, ExpectedError} from '../ground/errors.ts';
import type {ReadChart} from '../operations/read-chart.ts';
import {type MigratedFile, parseTarget} from '../values/migrate/migrate-file.ts';
import {dotted, type ValuesFinding} from '../values/validate/finding.ts';
import {type ChartDeps, confirmIn, readFrom, readIfUnknown} from './read-chart.ts';

/** The target of a migration, if it is read from a chart: --chart-source, or an unknown version in --to. @throws ExpectedError */
export async function migrationChart(to: string | undefined, source: string | undefined, deps: ChartDeps): Promise<ReadChart | undefined> {
  if (source === undefined) {
    const wanted = to === undefined ? undefined : parseTarget('--to', to).target;
    return wanted && readIfUnknown(wanted.chart, wanted.version, undefined, deps);
  }
  const [name = '', version = ''] = to?.split('@') ?? [];
  const read = await readFrom(source, {chart: name, version}, deps);
  const {target} = read;
  if (to === undefined || (target.chart === name && ['', target.version].includes(version))) return read;
  throw new ExpectedError(`--to is ${to}, but the chart in --chart-source is ${target.chart} ${target.version}.`, {
    code: 'CONFLICTING_SETTINGS',
    exit: ExitCode.usage,
    suggestions: ['Omit --to, or set --chart-source to another chart'],
  });
}

/** Findings about keys that have no confirmed effect in an unknown version. Files of other engines have no lines for them. */
export async function confirmMigrated(chart: ReadChart, {values}: MigratedFile, deps: ChartDeps): Promise<ValuesFinding[]> {
  if (!isUnknown(chart.target, true)) return [];
  const {unconfirmed, rejection} = await confirmIn(chart, values, deps);
  return [
    ...unconfirmed.map(({path, message}): ValuesFinding => ({severity: 'warning', code: 'UNCONFIRMED_KEY', path: dotted(path), message})),
    ...(rejection ? [{severity: 'error' as const, code: 'REFUSED_BY_CHART', path: '', message: rejection.message}] : []),
  ];
}
