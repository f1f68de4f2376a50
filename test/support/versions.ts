import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {chartSchema} from '../../src/charts/releases/schema.ts';

export const CHART_NAMES: readonly ChartName[] = ['agent-k8s', 'agent-local', 'agent-job'];

/** Every supported chart version. */
export const TARGETS = CHART_NAMES.flatMap((chart) =>
  chartSchema(chart)['x-releases'].map(({version}) => ({chart, version})),
);
