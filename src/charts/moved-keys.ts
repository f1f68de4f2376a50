import {at, type Path, sameTree, spellPath, startsWith} from '../ground/tree.ts';
import type {ChartName} from './releases/chart-name.ts';
import {knowsKey} from './releases/keys.ts';
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

/** By chart: of several keys, the one that the version has. */
type MatchingKeys = Readonly<Partial<Record<ChartName, readonly string[]>>>;

const inAllCharts = (key: string): MatchingKeys => ({
  'agent-k8s': [key],
  'agent-local': [key],
  'agent-job': [key],
});

/** Keys without a setting that have the same meaning under different names: docs/charts, "Keys". */
const MATCHING: readonly MatchingKeys[] = [
  inAllCharts('nameOverride'),
  inAllCharts('fullnameOverride'),
  inAllCharts('serviceAccount'),
  {...inAllCharts('extraEnv'), 'agent-job': ['extraEnv', 'agent.extraEnv']},
  {...inAllCharts('extraEnv.SCALR_AGENT_SENTRY_DSN'), 'agent-job': ['agent.sentryDsn']},
  {
    'agent-k8s': ['controllerPodAnnotations'],
    'agent-job': ['controllerPodAnnotations', 'agent.podAnnotations'],
  },
  {'agent-k8s': ['agent.kubernetes_task_annotations'], 'agent-job': ['task.podAnnotations']},
  {
    'agent-local': ['podSecurityContext'],
    'agent-job': ['podSecurityContext', 'global.podSecurityContext'],
  },
  {'agent-local': ['affinity'], 'agent-job': ['task.affinity']},
  {'agent-local': ['extraVolumes'], 'agent-job': ['task.extraVolumes']},
  {'agent-local': ['extraVolumeMounts'], 'agent-job': ['task.runner.extraVolumeMounts']},
  {'agent-local': ['agent.cacheDir'], 'agent-job': ['agent.cacheDir']},
  {
    'agent-local': ['agent.providerNetworkMirrors'],
    'agent-job': ['agent.providerNetworkMirrors'],
  },
  {'agent-local': ['agent.tls'], 'agent-job': ['global.tls']},
  {'agent-local': ['persistence.data'], 'agent-job': ['persistence.data']},
  {'agent-job': ['terminationGracePeriodSeconds', 'agent.terminationGracePeriodSeconds']},
];

/** The key with the same meaning in the target, if any. The longest match wins. */
export function matchingKey(path: Path, from: Target, to: Target): Path | undefined {
  const found = MATCHING.flatMap((keys) => {
    const source = keysIn(keys, from).find((key) => startsWith(path, key));
    const [target] = keysIn(keys, to);
    return source && target
      ? [{length: source.length, to: [...target, ...path.slice(source.length)]}]
      : [];
  });
  const [best] = found.toSorted((one, other) => other.length - one.length);
  return best && (from.chart !== to.chart || !sameTree(best.to, path)) ? best.to : undefined;
}

const keysIn = (keys: MatchingKeys, target: Target): Path[] =>
  (keys[target.chart] ?? []).map(at).filter((key) => knowsKey(target, key));
