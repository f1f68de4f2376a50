import {concurrency} from '../settings/purpose.ts';
import type {Row} from './define.ts';
import {unwritten} from './row-kinds.ts';
import type {ChartName} from './schema.ts';

/** The agent pool decides how many runs start: the chart has no key for a limit. */
export const noRunLimit = (chart: ChartName, perRun: string): Row<number> =>
  unwritten(concurrency, {
    partly: (value) =>
      `${chart} does not limit concurrent runs: it starts a ${perRun} for each run that the agent pool assigns. The number is only used to plan capacity; the nodes need capacity for ${value} run pods.`,
  });
