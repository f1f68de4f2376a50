import type {Target} from '../../charts/define.ts';
import {type ChartName, leavesOf, schemaOf} from '../../charts/schema.ts';
import {isMap, type Values} from '../../ground/tree.ts';
import {findingAt, type ValuesFinding, type ValuesSource} from './finding.ts';

const CHART_NAMES: readonly ChartName[] = ['agent-k8s', 'agent-local', 'agent-job'];

/** The chart below whose name all values stand, as a parent chart passes them on. */
export const nestedChart = (values: Values): ChartName | undefined => {
  const found = CHART_NAMES.filter((name) => isMap(values[name]));
  return found.length === 1 ? found[0] : undefined;
};

/** The location of the values in manifests of GitOps tools. */
const VALUES_OF: Readonly<Record<string, string>> = {
  Application: 'spec.source.helm.values',
  ApplicationSet: 'spec.template.spec.source.helm.values',
  HelmRelease: 'spec.values',
  HelmChart: 'spec.valuesContent',
};

/** The file is a Kubernetes manifest instead of values. */
export function checkManifest(source: ValuesSource): ValuesFinding[] {
  const {apiVersion, kind} = source.values;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return [];
  const place = Object.hasOwn(VALUES_OF, kind) ? VALUES_OF[kind] : undefined;
  const message = `This is a Kubernetes manifest (${kind}), not a Helm values file.`;
  const suggestion = place === undefined ? 'Check the values.yaml of the chart instead' : `Check the values under ${place} instead`;
  return [findingAt(source, ['kind'], 'MANIFEST', message, {suggestion})];
}

/** The finding that explains all others: the file does not contain values of this chart. */
export function checkShape(source: ValuesSource, target: Target): ValuesFinding[] {
  const manifest = checkManifest(source);
  if (manifest.length > 0) return manifest;
  const name = [...CHART_NAMES, 'scalr-agent'].find((each) => isSubchart(source.values, each, target));
  if (name === undefined) return [];
  const message = `The values are nested under ${name}, as for a parent chart, so ${target.chart} ignores them.`;
  const suggestion = `Move them to the top level; for a parent chart, check only the values under ${name}`;
  return [findingAt(source, [name], 'NESTED_VALUES', message, {suggestion})];
}

/** True if the key holds a map with keys of the chart, and the chart has none of that name. */
function isSubchart(values: Values, name: string, target: Target): boolean {
  const below = Object.hasOwn(values, name) ? values[name] : undefined;
  if (!isMap(below)) return false;
  const known = new Set(leavesOf(schemaOf(target), target.version).map(({path}) => path[0]));
  return !known.has(name) && Object.keys(below).some((key) => known.has(key));
}
