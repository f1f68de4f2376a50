import {at, type Path, sameTree, startsWith} from '../ground/tree.ts';
import type {Target} from './define.ts';
import {within} from './releases.ts';
import type {ChartName} from './schema.ts';

/** One place of a key. */
interface Place {
  chart: ChartName;
  in?: string;
  path: string;
}

const [k8s, local, job] = (['agent-k8s', 'agent-local', 'agent-job'] as const).map(
  (chart) =>
    (path: string, range?: string): Place => ({chart, path, ...(range === undefined ? {} : {in: range})}),
) as [ToPlace, ToPlace, ToPlace];
type ToPlace = (path: string, range?: string) => Place;

const FLAT = '<=0.5.63';
const NESTED = '>=0.5.64';

/** Keys without a setting that have the same meaning under different names: docs/charts, "Keys". */
const MATCHING: readonly (readonly Place[])[] = [
  [k8s('nameOverride'), local('nameOverride'), job('nameOverride')],
  [k8s('fullnameOverride'), local('fullnameOverride'), job('fullnameOverride')],
  [k8s('serviceAccount'), local('serviceAccount'), job('serviceAccount')],
  [k8s('extraEnv'), local('extraEnv'), job('extraEnv', FLAT), job('agent.extraEnv', NESTED)],
  [k8s('extraEnv.SCALR_AGENT_SENTRY_DSN'), local('extraEnv.SCALR_AGENT_SENTRY_DSN'), job('agent.sentryDsn', '>=0.5.74')],
  [k8s('controllerPodAnnotations'), job('controllerPodAnnotations', FLAT), job('agent.podAnnotations', NESTED)],
  [k8s('agent.kubernetes_task_annotations'), job('task.podAnnotations', NESTED)],
  [local('podSecurityContext'), job('podSecurityContext', FLAT), job('global.podSecurityContext', NESTED)],
  [local('affinity'), job('task.affinity', NESTED)],
  [local('extraVolumes'), job('task.extraVolumes', NESTED)],
  [local('extraVolumeMounts'), job('task.runner.extraVolumeMounts', NESTED)],
  [local('agent.cacheDir'), job('agent.cacheDir')],
  [local('agent.providerNetworkMirrors'), job('agent.providerNetworkMirrors')],
  [local('agent.tls'), job('global.tls', NESTED)],
  [local('persistence.data'), job('persistence.data', NESTED)],
  [job('terminationGracePeriodSeconds', FLAT), job('agent.terminationGracePeriodSeconds', NESTED)],
];

/** The key with the same meaning in the target, if any. The longest match wins. */
export function matchingKey(path: Path, from: Target, to: Target): Path | undefined {
  const isOf = ({chart, in: range}: Place, target: Target): boolean => chart === target.chart && within(target.version, range);
  const found = MATCHING.flatMap((places) => {
    const source = places.find((each) => isOf(each, from) && startsWith(path, at(each.path)));
    const target = places.find((each) => isOf(each, to));
    return source && target ? [{length: at(source.path).length, to: [...at(target.path), ...path.slice(at(source.path).length)]}] : [];
  });
  const [best] = found.toSorted((one, other) => other.length - one.length);
  return best && (from.chart !== to.chart || !sameTree(best.to, path)) ? best.to : undefined;
}
