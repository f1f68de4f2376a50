import {scalrChart} from '../charts/releases/chart-name.ts';
import type {Values} from '../ground/tree.ts';
import {url} from '../settings/agent.ts';
import {readValues} from '../values/reading/read-values.ts';

/** The address that a release connects to; unknown if only its token contains it. */
export function addressIn(values: Values | undefined, chart = ''): string | undefined {
  const target = scalrChart(chart);
  const found =
    values === undefined || target === undefined
      ? undefined
      : readValues(values, target).settings.get(url.id);
  return typeof found === 'string' && URL.canParse(found) ? found : undefined;
}
