import {at, getAt, isMap, isOn, sameTree, type Tree, textAt, type Values} from '../../ground/tree.ts';
import {namesRegistry} from '../../settings/addresses.ts';
import {efsHandles, secureMirrors} from '../address-rules.ts';
import type {ValuesRule} from '../define.ts';
import {
  aboveZero,
  certificateRules,
  directories,
  keyError,
  keyOfSecret,
  keyWarning,
  mountsOfVolumes,
  needsSwitch,
  notNull,
  otherKeyWins,
  printedBare,
  runsNotCovered,
  selectorLabels,
  separateDirectories,
  sizedClaims,
} from '../shared-values-rules.ts';
import {permissionRules} from './permission-rules.ts';
import {FLAT, MUTUAL_TLS, NESTED} from './versions.ts';

const AGENT_BUDGET = 'agent.podDisruptionBudget';
const TASK_BUDGET = 'task.podDisruptionBudget';

const boundsOf = (values: Values, budget: string): [least: Tree, most: Tree] => [
  getAt(values, at(`${budget}.minAvailable`)) ?? null,
  getAt(values, at(`${budget}.maxUnavailable`)) ?? null,
];

/** Values that the templates treat as unset: docs/charts/agent-job.md, "Disruption budgets". */
const isUnset = (bound: Tree): boolean => bound === null || bound === 0 || bound === '';

const controllersOf = (values: Values): number => Number(getAt(values, at('agent.replicaCount')));
const isForControllers = (values: Values): boolean => isOn(values, `${AGENT_BUDGET}.enabled`) && controllersOf(values) > 1;

const noBound = (path: string): {path: readonly string[]; message: string; suggestion: string} => ({
  path: at(path),
  message: 'The PodDisruptionBudget requires minAvailable or maxUnavailable.',
  suggestion: 'Set one of the two, or disable the PodDisruptionBudget with enabled: false',
});

/** Disruption budgets without bounds, or that block node drains. */
const budgetRules: readonly ValuesRule[] = [
  {
    code: 'INVALID_PDB',
    in: NESTED,
    severity: 'error',
    test: (values) => (isForControllers(values) && boundsOf(values, AGENT_BUDGET).every(isUnset) ? [noBound(AGENT_BUDGET)] : []),
  },
  {
    code: 'INVALID_PDB',
    in: '>=0.6.1',
    severity: 'error',
    test: (values) => {
      const [least, most] = boundsOf(values, TASK_BUDGET);
      return isOn(values, `${TASK_BUDGET}.enabled`) && isUnset(least) && most === null ? [noBound(TASK_BUDGET)] : [];
    },
  },
  {
    code: 'DRAIN_BLOCKED',
    in: NESTED,
    severity: 'warning',
    test: (values) => {
      const [least] = boundsOf(values, AGENT_BUDGET);
      const isAll = least === '100%' || (least !== '' && Number(least) >= controllersOf(values));
      if (!isForControllers(values) || !isAll) return [];
      const message = `All ${controllersOf(values)} controllers must be available, so nodes with a controller cannot be drained.`;
      return [{path: at(`${AGENT_BUDGET}.minAvailable`), message, suggestion: '1'}];
    },
  },
];

const NAME_LABEL = 'app.kubernetes.io/name';
const CLAIM = 'persistence.persistentVolumeClaim.claimName';
const VOLUMES = ['persistence.data', 'persistence.cache'];

/** True if NO_PROXY contains cluster-internal names. */
const isInCluster = (list: string): boolean => list.split(',').some((each) => /^\.?(svc|cluster\.local)$/.test(each.trim()));

/** The name label that each spread constraint of the controllers selects. */
function selectedNames(values: Values): (Tree | undefined)[] {
  const constraints = getAt(values, at('agent.topologySpreadConstraints'));
  return (Array.isArray(constraints) ? constraints : []).map((each) => getAt(each, ['labelSelector', 'matchLabels', NAME_LABEL]));
}

/** Rendering fails if a cache in use has an empty limit; a cache without a switch is always in use. */
const sizedCache = ({in: range, name, hasSwitch}: {in: string; name: string; hasSwitch: boolean}): ValuesRule =>
  keyError('WRONG_VALUE', {
    in: range,
    keys: [`agent.${name}.sizeLimit`],
    isWrong: (values, key) => (!hasSwitch || isOn(values, `agent.${name}.enabled`)) && getAt(values, at(key)) === '',
    message: 'The cache requires a size limit.',
    suggestion: '40Gi',
  });

/** Rules between keys of agent-job. */
export const valuesRules: readonly ValuesRule[] = [
  separateDirectories,
  ...certificateRules({tls: 'global.tls', bundles: NESTED, mutualTls: MUTUAL_TLS}),
  otherKeyWins({in: '>=0.6.2', winner: 'persistence.cache.hostPath.path', loser: 'persistence.cache.persistentVolumeClaim.claimName'}),
  mountsOfVolumes({
    in: NESTED,
    volumes: 'task.extraVolumes',
    mounts: ['task.worker.extraVolumeMounts', 'task.runner.extraVolumeMounts'],
    containers: 'task.sidecars',
    own: ['worker', 'sa-token', 'data-dir', 'cache', 'cache-dir', 'tmp-dir', 'podinfo', 'client-cert', 'ca-bundle'],
  }),
  ...VOLUMES.map((volume) => needsSwitch({in: NESTED, key: `${volume}.persistentVolumeClaim.claimName`, on: `${volume}.enabled`})),
  needsSwitch({in: FLAT, key: CLAIM, on: 'persistence.enabled'}),
  runsNotCovered({in: FLAT, covered: 'the controller', fixedIn: '0.5.69'}),
  keyError('PVC_NAME_REQUIRED', {
    in: FLAT,
    keys: ['persistence.enabled'],
    isWrong: (values, key) => isOn(values, key) && textAt(values, CLAIM) === '' && !isMap(getAt(values, at('secret'))),
    message: 'This version cannot render a new PVC, because the chart does not define secret.annotations.',
    suggestion: `Set ${CLAIM}, or add secret: {annotations: {}}`,
  }),
  keyError('PVC_NOT_RENDERED', {
    in: FLAT,
    keys: ['efsVolumeHandle'],
    isWrong: (values, key) => isOn(values, 'persistence.enabled') && textAt(values, CLAIM) === '' && textAt(values, key) !== '',
    message: 'With a PVC from persistence, the EFS PVC is not created (missing document separator in the chart).',
    suggestion: 'Use only one of the two',
  }),
  keyWarning('CACHE_NOT_FOUND_BY_RUNS', {
    in: '0.5.64',
    keys: ['persistence.cache.enabled'],
    isWrong: isOn,
    message: 'Runs do not share a persistent cache in this version: they read other directories of the volume than the worker writes.',
    suggestion: 'Use 0.5.65 or later',
  }),
  keyWarning('SHORT_GRACE_PERIOD', {
    in: NESTED,
    keys: ['agent.terminationGracePeriodSeconds'],
    isWrong: (values, key) => Number(getAt(values, at(key))) < 180,
    message: 'The controller drains for 180 s (fixed in the chart) and is killed before it finishes.',
    suggestion: '180',
  }),
  keyWarning('CLUSTER_THROUGH_PROXY', {
    in: NESTED,
    keys: ['global.proxy'],
    isWrong: (values) => isOn(values, 'global.proxy.enabled') && !isInCluster(textAt(values, 'global.proxy.noProxy')),
    message: 'noProxy contains no cluster-internal names, so connections inside the cluster use the proxy.',
    suggestion: 'global.proxy.noProxy: "localhost,127.0.0.1,.svc,.cluster.local,169.254.169.254"',
  }),
  keyError('TWO_REGISTRIES', {
    in: NESTED,
    keys: ['agent.image.repository', 'task.runner.image.repository'],
    isWrong: (values, key) =>
      textAt(values, 'global.imageRegistry') !== '' && textAt(values, 'global.imageNamespace') === '' && namesRegistry(textAt(values, key)),
    message: 'global.imageRegistry is prepended to this repository, which already contains a registry.',
    suggestion: 'Remove the registry from one of the two',
  }),
  keyWarning('MEMORY_MONITOR_WITHOUT_LIMIT', {
    in: '>=0.5.74',
    keys: ['task.runner.memorySoftLimitPercent'],
    isWrong: (values) => getAt(values, at('task.runner.resources.limits.memory')) === undefined,
    message: 'The percentage requires a memory limit: set task.runner.resources.limits.memory.',
  }),
  {
    code: 'KEY_OVERRIDDEN',
    in: '0.5.64 - 0.5.75 || 0.5.78 - 0.5.79',
    severity: 'error',
    test: (values) =>
      ['agent.podSecurityContext', 'task.podSecurityContext'].flatMap((path) => {
        const own = getAt(values, at(path));
        const global = getAt(values, at('global.podSecurityContext'));
        if (!isMap(own) || !isMap(global)) return [];
        return Object.keys(own)
          .filter((key) => global[key] !== undefined && !sameTree(global[key], own[key]))
          .map((key) => ({
            path: [...at(path), key],
            message: `In this version, global.podSecurityContext.${key} takes precedence.`,
            suggestion: `global.podSecurityContext.${key}`,
          }));
      }),
  },
  {
    code: 'SELECTOR_MATCHES_NOTHING',
    in: '>=0.5.68',
    severity: 'error',
    test: (values) =>
      selectedNames(values).flatMap((name, index) =>
        name === 'agent-job' && textAt(values, 'nameOverride') !== 'agent-job'
          ? [
              {
                path: ['agent', 'topologySpreadConstraints', index, 'labelSelector', 'matchLabels', NAME_LABEL],
                message: 'Since 0.5.68, this label of the pods is scalr-agent, so no pod matches.',
                suggestion: 'scalr-agent',
              },
            ]
          : [],
      ),
  },
  selectorLabels({
    in: '>=0.5.68',
    keys: ['global.labels', 'global.podLabels', 'agent.podLabels', 'task.podLabels'],
    labels: [NAME_LABEL, 'app.kubernetes.io/instance', 'app.kubernetes.io/component'],
    because: 'The label is used by the Deployment selector and would be rendered twice.',
  }),
  printedBare({keys: ['nameOverride', 'fullnameOverride', 'serviceAccount.name', 'agent.dataDir', 'agent.cacheDir']}),
  printedBare({
    in: FLAT,
    keys: [
      'agent.tokenExistingSecret',
      'agent.tokenExistingSecretKey',
      'efsVolumeHandle',
      CLAIM,
      'persistence.persistentVolumeClaim.storageClassName',
    ],
  }),
  printedBare({
    in: NESTED,
    keys: [
      'agent.tokenExistingSecret.name',
      'agent.tokenExistingSecret.key',
      ...VOLUMES.map((volume) => `${volume}.persistentVolumeClaim.claimName`),
    ],
  }),
  printedBare({in: '>=0.5.64 <=0.6.1', keys: VOLUMES.map((volume) => `${volume}.persistentVolumeClaim.storageClassName`)}),
  printedBare({in: '>=0.5.68', keys: ['task.job.basename']}),
  sizedClaims({in: FLAT, volumes: ['persistence']}),
  sizedClaims({in: NESTED, volumes: VOLUMES}),
  keyOfSecret({in: NESTED, secrets: ['agent.tokenExistingSecret.name', 'agent.token'], keys: ['agent.tokenExistingSecret.key']}),
  notNull({in: FLAT, keys: ['podAnnotations', 'controllerPodAnnotations']}),
  notNull({in: NESTED, keys: ['global.podAnnotations', 'agent.podAnnotations', 'task.podAnnotations']}),
  sizedCache({in: NESTED, name: 'providerCache', hasSwitch: true}),
  sizedCache({in: '>=0.5.65', name: 'moduleCache', hasSwitch: true}),
  sizedCache({in: '>=0.6.2', name: 'binaryCache', hasSwitch: false}),
  directories({keys: ['agent.dataDir']}),
  directories({in: NESTED, keys: ['agent.cacheDir']}),
  secureMirrors,
  ...permissionRules,
  ...budgetRules,
  efsHandles({in: FLAT}),
  aboveZero({in: NESTED, keys: ['agent.replicaCount'], message: 'With zero replicas, no controller runs, so no run starts.'}),
  aboveZero({
    in: NESTED,
    keys: ['providerCache', 'moduleCache', 'binaryCache'].map((name) => `agent.${name}.sizeLimit`),
    message: 'With zero, the cache stays empty.',
  }),
  aboveZero({
    in: NESTED,
    keys: ['task.job.ttlSecondsAfterFinished'],
    message: 'With zero, run pods and their logs are deleted as soon as they finish.',
  }),
  aboveZero({in: NESTED, keys: ['task.terminationGracePeriodSeconds'], message: 'With zero, runs have no time to push their state.'}),
  keyError('WRONG_OPTION', {
    in: NESTED,
    keys: ['otel.endpoint'],
    isWrong: (values, key) => isOn(values, 'otel.enabled') && getAt(values, at(key)) === '',
    message: 'The endpoint must not be empty.',
    suggestion: '"otel-collector.observability.svc:4317"',
  }),
];
