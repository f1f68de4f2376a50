import type {Target} from '../../charts/releases/target.ts';
import {url} from '../../settings/agent.ts';
import type {Settings} from '../../settings/settings.ts';

/** Steps of an install that uses what was exported, and what else the user must know. */
export interface Use {
  steps: string[];
  notes: string[];
}

/** How an install uses what was exported: the command if the settings suffice for it, otherwise the flags that it needs. */
export function useOf(
  what: string,
  settings: Settings,
  {target, flags}: {target: Target; flags: readonly string[]},
): Use {
  const chart = `--chart ${target.chart} --chart-version ${target.version}`;
  const all = [chart, ...flags];
  return settings.get(url) === undefined
    ? {
        steps: [],
        notes: [`To use ${what}, add these flags to scalr-agent install: ${all.join(' ')}`],
      }
    : {steps: [['scalr-agent install', ...all].join(' ')], notes: []};
}
