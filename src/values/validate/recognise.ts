import type {Target} from '../../charts/define.ts';
import {type ChartName, chartSchema, leavesOf} from '../../charts/schema.ts';
import {newestOf} from '../../charts/target.ts';
import {isMap, leafPaths, type Values} from '../../charts/tree.ts';

/** The chart version that the first lines of the file name, as `values` writes them. */
export function namedInHeader(text: string): Target | undefined {
  const [, chart, version] = /^# Values of (agent-(?:k8s|local|job)) (\d+\.\d+\.\d+)/m.exec(text.slice(0, 500)) ?? [];
  return chart === undefined || version === undefined ? undefined : {chart: chart as ChartName, version};
}

/** The only chart whose newest version knows some key of the file that no other knows; undefined where that is no or every chart. */
export function chartByKeys(values: Values): ChartName | undefined {
  if (!isMap(values)) return undefined;
  const keys = leafPaths(values).map((path) => path.slice(0, 2).join('.'));
  const known = (['agent-k8s', 'agent-local', 'agent-job'] as const).map((chart) => ({
    chart,
    paths: new Set(
      leavesOf(chartSchema(chart), newestOf(chart)).flatMap(({path}) => [path.slice(0, 1).join('.'), path.slice(0, 2).join('.')]),
    ),
  }));
  const proofs = keys
    .map((key) => known.filter(({paths}) => paths.has(key)).map(({chart}) => chart))
    .filter((charts) => charts.length === 1);
  const charts = new Set(proofs.flat());
  return charts.size === 1 ? [...charts][0] : undefined;
}
