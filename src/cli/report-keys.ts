import {isUnknown} from '../charts/releases/target.ts';
import {type SettingFinding, warningOf} from '../ground/finding.ts';
import type {Values} from '../ground/tree.ts';
import type {KeyReport} from '../operations/confirm-keys.ts';
import type {ReadChart} from '../operations/read-chart.ts';
import {toolPaths} from './connection-flags.ts';
import type {ChartDeps} from './read-chart.ts';

/** Values, and the chart that was read for them. */
interface ValuesForChart {
  chart: ReadChart | undefined;
  values: Values;
}

/** What rendering showed about the values, in their order; undefined for a chart that this program knows. */
export async function reportKeys(
  all: readonly ValuesForChart[],
  {app, flags}: ChartDeps,
): Promise<(KeyReport | undefined)[]> {
  const confirmed = new Map<ValuesForChart, KeyReport>();
  for (const chart of new Set(all.flatMap((each) => each.chart ?? []))) {
    if (!isUnknown(chart.target, true)) continue;
    const {confirmKeys} = await import('../operations/confirm-keys.ts');
    const ofChart = all.filter((each) => each.chart === chart);
    const values = ofChart.map((each) => each.values);
    const found = await confirmKeys(values, chart, app.processes(toolPaths(flags)));
    for (const [index, each] of ofChart.entries()) confirmed.set(each, found[index] as KeyReport);
  }
  return all.map((each) => confirmed.get(each));
}

export const unconfirmedWarnings = (confirmed: KeyReport | undefined): SettingFinding[] =>
  (confirmed?.unconfirmed ?? []).map(({message}) => warningOf('UNCONFIRMED_KEY', message));
