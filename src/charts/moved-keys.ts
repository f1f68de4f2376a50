import {at, type Path, sameTree, spellPath, startsWith} from '../ground/tree.ts';
import type {ChartName} from './releases/chart-name.ts';
import type {Target} from './releases/target.ts';
import {within} from './releases/versions.ts';

interface DocumentedKey {
  chart: ChartName;
  in?: string;
  path: string;
  instead: string;
  /** Completes the name of the key (default: it was documented, but never released). */
  was?: string;
  /** The keys below have the same names there. */
  isSection?: true;
}

const NESTED_JOB = {chart: 'agent-job', in: '>=0.5.64'} as const;
const SECRET_NAME = 'agent.tokenExistingSecret.name: the name of a Secret that contains the token';

/** Keys of documents that were written before their release and changed in between, and keys that moved to a section of another name. */
const DOCUMENTED: readonly DocumentedKey[] = [
  {chart: 'agent-job', in: '<=0.5.63', path: 'agent.auth', instead: 'agent.tokenExistingSecret'},
  {...NESTED_JOB, path: 'agent.auth', instead: SECRET_NAME},
  {
    ...NESTED_JOB,
    path: 'agent.securityContext',
    instead: 'agent.controller.securityContext and task.worker.securityContext',
  },
  {...NESTED_JOB, path: 'controller.resources', instead: 'agent.resources', isSection: true},
  {...NESTED_JOB, path: 'controller.nodeSelector', instead: 'agent.nodeSelector', isSection: true},
  {...NESTED_JOB, path: 'controller.tolerations', instead: 'agent.tolerations'},
  {
    ...NESTED_JOB,
    in: '>=0.5.67',
    path: 'task.worker.image',
    instead: 'agent.image',
    was: 'is removed since 0.5.67: workers use the image of the agent',
    isSection: true,
  },
  {chart: 'agent-local', path: 'agent.auth', instead: SECRET_NAME},
];

/** What a document calls this key or one above it, and the key to use instead. */
export function documentedKey(
  path: Path,
  target: Target,
): {was: string; instead: string} | undefined {
  const found = DOCUMENTED.find(
    (each) =>
      each.chart === target.chart &&
      within(target.version, each.in) &&
      startsWith(path, at(each.path)),
  );
  if (found === undefined) return undefined;
  const below = found.isSection ? path.slice(at(found.path).length) : [];
  return {
    was: found.was ?? 'was documented, but never released',
    instead: [found.instead, ...below.map((key) => spellPath([key]))].join('.'),
  };
}

/** True for a section that holds such keys, but is none itself. */
export const hasDocumentedKeys = (path: Path, {chart, version}: Target): boolean =>
  DOCUMENTED.some(
    (each) =>
      each.chart === chart &&
      within(version, each.in) &&
      startsWith(at(each.path), path) &&
      at(each.path).length > path.length,
  );

interface Place {
  chart: ChartName;
  in?: string;
  path: string;
}

const placeIn = (chart: ChartName) => (path: string, range?: string) => ({
  chart,
  path,
  ...(range === undefined ? {} : {in: range}),
});

const k8s = placeIn('agent-k8s');
const local = placeIn('agent-local');
const job = placeIn('agent-job');

const FLAT = '<=0.5.63';
const NESTED = '>=0.5.64';

/** Keys without a setting that have the same meaning under different names: docs/charts, "Keys". */
const MATCHING: readonly (readonly Place[])[] = [
  [k8s('nameOverride'), local('nameOverride'), job('nameOverride')],
  [k8s('fullnameOverride'), local('fullnameOverride'), job('fullnameOverride')],
  [k8s('serviceAccount'), local('serviceAccount'), job('serviceAccount')],
  [k8s('extraEnv'), local('extraEnv'), job('extraEnv', FLAT), job('agent.extraEnv', NESTED)],
  [
    k8s('extraEnv.SCALR_AGENT_SENTRY_DSN'),
    local('extraEnv.SCALR_AGENT_SENTRY_DSN'),
    job('agent.sentryDsn', '>=0.5.74'),
  ],
  [
    k8s('controllerPodAnnotations'),
    job('controllerPodAnnotations', FLAT),
    job('agent.podAnnotations', NESTED),
  ],
  [k8s('agent.kubernetes_task_annotations'), job('task.podAnnotations', NESTED)],
  [
    local('podSecurityContext'),
    job('podSecurityContext', FLAT),
    job('global.podSecurityContext', NESTED),
  ],
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
  const isOf = ({chart, in: range}: Place, target: Target): boolean =>
    chart === target.chart && within(target.version, range);
  const found = MATCHING.flatMap((places) => {
    const source = places.find((each) => isOf(each, from) && startsWith(path, at(each.path)));
    const target = places.find((each) => isOf(each, to));
    return source && target
      ? [
          {
            length: at(source.path).length,
            to: [...at(target.path), ...path.slice(at(source.path).length)],
          },
        ]
      : [];
  });
  const [best] = found.toSorted((one, other) => other.length - one.length);
  return best && (from.chart !== to.chart || !sameTree(best.to, path)) ? best.to : undefined;
}
