export const CHART_NAMES: readonly ChartName[] = ['agent-k8s', 'agent-local', 'agent-job'];

export const isChart = (name: unknown): name is ChartName =>
  CHART_NAMES.includes(name as ChartName);
export const scalrChart = (chart: string): {chart: ChartName; version: string} | undefined => {
  const [, name, version] = /^(agent-(?:k8s|local|job))-(\d.*)$/.exec(chart) ?? [];
  return name === undefined || version === undefined
    ? undefined
    : {chart: name as ChartName, version};
};

export type ChartName = 'agent-k8s' | 'agent-local' | 'agent-job';
