import type {Target} from '../../charts/define.ts';
import {type ChartName, leavesOf, schemaOf} from '../../charts/schema.ts';
import {isMap, type Values} from '../../charts/tree.ts';
import {type Finding, findingAt, type Source} from './finding.ts';

const CHART_NAMES: readonly ChartName[] = ['agent-k8s', 'agent-local', 'agent-job'];

/** The kind of the Kubernetes manifest that a file holds instead of values. */
export const manifestKind = ({apiVersion, kind}: Values): string | undefined =>
  typeof apiVersion === 'string' && typeof kind === 'string' ? kind : undefined;

/** The chart below whose name all values stand, as a parent chart passes them on. */
export const nestedChart = (values: Values): ChartName | undefined => {
  const found = CHART_NAMES.filter((name) => isMap(values[name]));
  return found.length === 1 ? found[0] : undefined;
};

/** Where manifests of engines hold values. */
const VALUES_OF: Readonly<Record<string, string>> = {
  Application: 'spec.source.helm.values',
  ApplicationSet: 'spec.template.spec.source.helm.values',
  HelmRelease: 'spec.values',
  HelmChart: 'spec.valuesContent',
};

/** The one finding that explains all others: the file is not what Helm reads as values of this chart. */
export function checkShape(source: Source, target: Target): Finding[] {
  const kind = manifestKind(source.values);
  if (kind !== undefined) {
    const place = Object.hasOwn(VALUES_OF, kind) ? VALUES_OF[kind] : undefined;
    const message = `This is a Kubernetes manifest (${kind}), not values of a Helm chart.`;
    const suggestion = place === undefined ? 'Check the values.yaml of the chart instead' : `Check what stands below ${place} instead`;
    return [findingAt(source, ['kind'], 'MANIFEST', message, {suggestion})];
  }
  const name = [...CHART_NAMES, 'scalr-agent'].find((each) => isSubchart(source.values, each, target));
  if (name === undefined) return [];
  const message = `The values stand below ${name}, as in the values of a parent chart: ${target.chart} reads none of them there.`;
  const suggestion = `Move them to the top of the file; of a parent chart check what stands below ${name}`;
  return [findingAt(source, [name], 'NESTED_VALUES', message, {suggestion})];
}

/** True where the key holds a map with keys of the chart, and the chart has none of that name. */
function isSubchart(values: Values, name: string, target: Target): boolean {
  const below = Object.hasOwn(values, name) ? values[name] : undefined;
  if (!isMap(below)) return false;
  const known = new Set(leavesOf(schemaOf(target), target.version).map(({path}) => path[0]));
  return !known.has(name) && Object.keys(below).some((key) => known.has(key));
}
