import {ChartVersion} from '../../src/charts/chart-version.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {chartSchema} from '../../src/charts/releases/schema.ts';
import {newestOf} from '../../src/charts/releases/target.ts';
import {sample} from './sample.ts';

export const CHART_NAMES: readonly ChartName[] = ['agent-k8s', 'agent-local', 'agent-job'];

/** Every supported chart version. */
export const TARGETS = CHART_NAMES.flatMap((chart) =>
  chartSchema(chart)['x-releases'].map(({version}) => new ChartVersion({chart, version})),
);

type NamedVersion = (typeof TARGETS)[number];

/** About ten versions for slow tests, the newest ones among them; all of them in the weekly run. */
export function someVersions(all: readonly NamedVersion[] = TARGETS): NamedVersion[] {
  const older = all.filter(({chart, version}) => version !== newestOf(chart));
  const newest = all.filter((each) => !older.includes(each));
  return [...newest, ...sample(older, Math.ceil(older.length / 8))];
}
