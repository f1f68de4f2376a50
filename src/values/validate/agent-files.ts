import type {ChartName} from '../../charts/releases/chart-name.ts';

/** The only chart of ours that a text names. */
export function chartNamed(text: string): ChartName | undefined {
  const names = new Set([...text.matchAll(NAME)].map(([name]) => name));
  return names.size === 1 ? ([...names][0] as ChartName) : undefined;
}

const NAME = /\bagent-(?:k8s|local|job)\b/g;

/** A chart of ours, in a text about charts or Scalr. */
export const namesChart = (text: string): boolean =>
  text.search(NAME) >= 0 && /scalr|chart/i.test(text);

/** Keys that only values of an agent have. */
export const looksLikeAgentValues = (text: string): boolean =>
  /^agent["']?\s*:/m.test(text) &&
  /^\s+["']?(?:tokenExistingSecret|container_task_\w+|providerCache)["']?\s*:|scalr\.io\b|SCALR_/m.test(
    text,
  );
