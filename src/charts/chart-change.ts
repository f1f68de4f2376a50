import type {ChartName} from './schema.ts';

/** What a change of the chart does to the agent and to runs in flight, by what makes it. */
export const CHART_CHANGES = {
  upgrade: 'installs the new chart as a second release and waits until it is ready, then drains and uninstalls the old one',
  install: 'stops the installed agent and waits for its runs, then replaces every object of the release; no agent runs in between',
  helm: 'replaces every object of the release at once; runs in flight are lost',
} as const;

/** The next step that keeps an agent running. */
export const changeWithUpgrade = (chart: ChartName, command = 'scalr-agent upgrade'): string =>
  `To install ${chart} beside it first: ${command} --chart ${chart}`;
