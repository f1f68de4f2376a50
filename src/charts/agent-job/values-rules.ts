import {
  at,
  getAt,
  isMap,
  isOn,
  itemsAt,
  sameTree,
  type Tree,
  textAt,
  type Values,
} from '../../ground/tree.ts';
import {namesRegistry} from '../../settings/kinds/images.ts';
import {efsHandles} from '../shared/clouds.ts';
import {keyError, keyWarning} from '../shared/key-rule.ts';
import {
  httpsMirrors,
  overriddenKey,
  requiredDefault,
  requiresServiceAccountToken,
  requiresSwitch,
  runsNotCovered,
  selectorLabels,
  unquotedInTemplate,
  zeroDisables,
} from '../shared/key-rules.ts';
import type {ValuesRule} from '../shared/rule.ts';
import {certificateRules, keyOfSecret} from '../shared/secret-rules.ts';
import {
  directories,
  requiresClaimSize,
  requiresVolumes,
  separateDirectories,
} from '../shared/volume-rules.ts';
import {FLAT, MUTUAL_TLS, NESTED} from './ranges.ts';

const grants = (rule: Tree, field: string, desired: string): boolean =>
  isMap(rule) && itemsAt(rule, field).some((each) => each === desired || each === '*');

const allows = (
  values: Values,
  key: string,
  [group, resource, verb]: readonly [string, string, string],
): boolean =>
  itemsAt(values, key).some(
    (rule) =>
      grants(rule, 'apiGroups', group) &&
      grants(rule, 'resources', resource) &&
      grants(rule, 'verbs', verb),
  );

const NAME_ACCOUNT = 'Set it to true, or set serviceAccount.name to a service account with a Role';
const isNamed = (values: Values): boolean => textAt(values, 'serviceAccount.name') !== '';

/** Permissions that the controller requires: templates/rbac.yaml. */
const NEEDED: readonly (readonly [string, string, string])[] = [
  ['batch', 'jobs', 'create'],
  ['batch', 'jobs', 'watch'],
  ['', 'pods', 'watch'],
];

/** Rules for the permissions of the controller of agent-job. */
const permissionRules: readonly ValuesRule[] = [
  requiresServiceAccountToken('the controller'),
  keyError('NO_PERMISSIONS', {
    in: FLAT,
    keys: ['serviceAccount.create'],
    isWrong: (values) => getAt(values, ['serviceAccount', 'create']) === false && !isNamed(values),
    message:
      'Without it, the chart creates no Role, and the controller uses the default service account, which cannot create Jobs.',
    suggestion: NAME_ACCOUNT,
  }),
  keyError('NO_PERMISSIONS', {
    in: NESTED,
    keys: ['rbac.create'],
    isWrong: (values) =>
      !isOn(values, 'rbac.create') && !isOn(values, 'serviceAccount.create') && !isNamed(values),
    message:
      'The controller uses the default service account of the namespace, which cannot create Jobs.',
    suggestion: NAME_ACCOUNT,
  }),
  keyWarning('ROLE_NOT_CREATED', {
    in: NESTED,
    keys: ['rbac.create'],
    isWrong: (values) =>
      !isOn(values, 'rbac.create') && isOn(values, 'serviceAccount.create') && !isNamed(values),
    message:
      'The chart creates the service account without a Role. Without your own RoleBinding, the controller cannot create Jobs.',
    suggestion: NAME_ACCOUNT,
  }),
  keyError('NO_PERMISSIONS', {
    in: NESTED,
    keys: ['rbac.rules'],
    isWrong: (values, key) =>
      isOn(values, 'rbac.create') && NEEDED.some((each) => !allows(values, key, each)),
    message: 'These rules do not allow the controller to create and watch jobs and to watch pods.',
    suggestion: 'Remove it to use the chart default',
  }),
  keyError('NO_PERMISSIONS', {
    in: '>=0.5.68',
    keys: ['rbac.clusterRules'],
    isWrong: (values, key) =>
      isOn(values, 'rbac.create') &&
      !allows(values, key, ['scalr.io', 'agenttasktemplates', 'get']),
    message: 'These rules do not allow the controller to get agenttasktemplates.scalr.io.',
    suggestion: 'Remove it to use the chart default',
  }),
];

export const AGENT_BUDGET = 'agent.podDisruptionBudget';
export const TASK_BUDGET = 'task.podDisruptionBudget';

export const boundsOf = (values: Values, budget: string): [least: Tree, most: Tree] =>
  ['minAvailable', 'maxUnavailable'].map(
    (key) => getAt(values, at(`${budget}.${key}`)) ?? null,
  ) as [Tree, Tree];

/** Values that the templates treat as unset: docs/charts/agent-job.md, "Disruption budgets". */
export const isUnset = (bound: Tree): boolean => bound === null || bound === 0 || bound === '';

export const controllersOf = (values: Values): number =>
  Number(getAt(values, at('agent.replicaCount')));
export const isForControllers = (values: Values): boolean =>
  isOn(values, `${AGENT_BUDGET}.enabled`) && controllersOf(values) > 1;

const NO_BOUND = {
  message: 'The PodDisruptionBudget requires minAvailable or maxUnavailable.',
  suggestion: 'Set one of the two, or disable the PodDisruptionBudget with enabled: false',
};

/** Disruption budgets without bounds, or that block node drains. */
const budgetRules: readonly ValuesRule[] = [
  keyError('INVALID_PDB', {
    ...NO_BOUND,
    in: NESTED,
    keys: [AGENT_BUDGET],
    isWrong: (values, key) => isForControllers(values) && boundsOf(values, key).every(isUnset),
  }),
  keyError('INVALID_PDB', {
    ...NO_BOUND,
    in: '>=0.6.1',
    keys: [TASK_BUDGET],
    isWrong: (values, key) => {
      const [least, most] = boundsOf(values, key);
      return isOn(values, `${key}.enabled`) && isUnset(least) && most === null;
    },
  }),
  keyWarning('DRAIN_BLOCKED', {
    in: NESTED,
    keys: [`${AGENT_BUDGET}.minAvailable`],
    isWrong: (values) => {
      const [least] = boundsOf(values, AGENT_BUDGET);
      return (
        isForControllers(values) &&
        (least === '100%' || (least !== '' && Number(least) >= controllersOf(values)))
      );
    },
    message: (values) =>
      `All ${controllersOf(values)} controllers must be available, so nodes with a controller cannot be drained.`,
    suggestion: '1',
  }),
];

const NAME_LABEL = 'app.kubernetes.io/name';
const CLAIM = 'persistence.persistentVolumeClaim.claimName';
const VOLUMES = ['persistence.data', 'persistence.cache'];

/** True if NO_PROXY contains cluster-internal names. */
const isInCluster = (list: string): boolean =>
  list.split(',').some((each) => /^\.?(svc|cluster\.local)$/.test(each.trim()));

/** The name label that each spread constraint of the controllers selects. */
const selectedNames = (values: Values): (Tree | undefined)[] =>
  itemsAt(values, 'agent.topologySpreadConstraints').map((each) =>
    getAt(each, ['labelSelector', 'matchLabels', NAME_LABEL]),
  );

const CACHE_LIMITS = ['providerCache', 'moduleCache', 'binaryCache'].map(
  (name) => `agent.${name}.sizeLimit`,
);

/** Rules between keys of agent-job. */
export const valuesRules: readonly ValuesRule[] = [
  separateDirectories,
  ...certificateRules({tls: 'global.tls', bundles: NESTED, mutualTls: MUTUAL_TLS}),
  overriddenKey({
    in: '>=0.6.2',
    winner: 'persistence.cache.hostPath.path',
    loser: 'persistence.cache.persistentVolumeClaim.claimName',
  }),
  requiresVolumes({
    in: NESTED,
    volumes: 'task.extraVolumes',
    mounts: ['task.worker.extraVolumeMounts', 'task.runner.extraVolumeMounts'],
    containers: 'task.sidecars',
    own: [
      'worker',
      'sa-token',
      'data-dir',
      'cache',
      'cache-dir',
      'tmp-dir',
      'podinfo',
      'client-cert',
      'ca-bundle',
    ],
  }),
  ...VOLUMES.map((volume) =>
    requiresSwitch({
      in: NESTED,
      key: `${volume}.persistentVolumeClaim.claimName`,
      on: `${volume}.enabled`,
    }),
  ),
  requiresSwitch({in: FLAT, key: CLAIM, on: 'persistence.enabled'}),
  runsNotCovered({in: FLAT, covered: 'the controller', fixedIn: '0.5.69'}),
  keyError('PVC_NAME_REQUIRED', {
    in: FLAT,
    keys: ['persistence.enabled'],
    isWrong: (values, key) =>
      isOn(values, key) && textAt(values, CLAIM) === '' && !isMap(getAt(values, at('secret'))),
    message:
      'This version cannot render a new PVC, because the chart does not define secret.annotations.',
    suggestion: `Set ${CLAIM}, or add secret: {annotations: {}}`,
  }),
  keyError('PVC_NOT_RENDERED', {
    in: FLAT,
    keys: ['efsVolumeHandle'],
    isWrong: (values, key) =>
      isOn(values, 'persistence.enabled') &&
      textAt(values, CLAIM) === '' &&
      textAt(values, key) !== '',
    message:
      'With a PVC from persistence, the EFS PVC is not created (missing document separator in the chart).',
    suggestion: 'Use only one of the two',
  }),
  keyWarning('CACHE_NOT_FOUND_BY_RUNS', {
    in: '0.5.64',
    keys: ['persistence.cache.enabled'],
    isWrong: isOn,
    message:
      'Runs do not share a persistent cache in this version. They read other directories of the volume than the worker writes.',
    suggestion: 'Use 0.5.65 or later',
  }),
  keyWarning('SHORT_GRACE_PERIOD', {
    in: NESTED,
    keys: ['agent.terminationGracePeriodSeconds'],
    isWrong: (values, key) => Number(getAt(values, at(key))) < 180,
    message:
      'The controller drains for 180 s (fixed in the chart) and is killed before it finishes.',
    suggestion: '180',
  }),
  keyWarning('CLUSTER_THROUGH_PROXY', {
    in: NESTED,
    keys: ['global.proxy'],
    isWrong: (values) =>
      isOn(values, 'global.proxy.enabled') && !isInCluster(textAt(values, 'global.proxy.noProxy')),
    message:
      'noProxy contains no cluster-internal names, so connections inside the cluster use the proxy.',
    suggestion: 'global.proxy.noProxy: "localhost,127.0.0.1,.svc,.cluster.local,169.254.169.254"',
  }),
  keyError('TWO_REGISTRIES', {
    in: NESTED,
    keys: ['agent.image.repository', 'task.runner.image.repository'],
    isWrong: (values, key) =>
      textAt(values, 'global.imageRegistry') !== '' &&
      textAt(values, 'global.imageNamespace') === '' &&
      namesRegistry(textAt(values, key)),
    message:
      'global.imageRegistry is prepended to this repository, which already contains a registry.',
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
    verdict: 'error',
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
    verdict: 'error',
    test: (values) =>
      selectedNames(values).flatMap((name, index) => {
        if (name !== 'agent-job' || textAt(values, 'nameOverride') === 'agent-job') return [];
        const path = [
          'agent',
          'topologySpreadConstraints',
          index,
          'labelSelector',
          'matchLabels',
          NAME_LABEL,
        ];
        return [
          {
            path,
            message: 'Since 0.5.68, this label of the pods is scalr-agent, so no pod matches.',
            suggestion: 'scalr-agent',
          },
        ];
      }),
  },
  selectorLabels({
    in: '>=0.5.68',
    keys: ['global.labels', 'global.podLabels', 'agent.podLabels', 'task.podLabels'],
    labels: [NAME_LABEL, 'app.kubernetes.io/instance', 'app.kubernetes.io/component'],
    because: 'The label is used by the Deployment selector and would be rendered twice.',
  }),
  unquotedInTemplate({
    keys: [
      'nameOverride',
      'fullnameOverride',
      'serviceAccount.name',
      'agent.dataDir',
      'agent.cacheDir',
    ],
  }),
  unquotedInTemplate({
    in: FLAT,
    keys: [
      'agent.tokenExistingSecret',
      'agent.tokenExistingSecretKey',
      'efsVolumeHandle',
      CLAIM,
      'persistence.persistentVolumeClaim.storageClassName',
    ],
  }),
  unquotedInTemplate({
    in: NESTED,
    keys: [
      'agent.tokenExistingSecret.name',
      'agent.tokenExistingSecret.key',
      'task.job.basename',
      ...VOLUMES.map((volume) => `${volume}.persistentVolumeClaim.claimName`),
    ],
  }),
  unquotedInTemplate({
    in: '>=0.5.64 <=0.6.1',
    keys: VOLUMES.map((volume) => `${volume}.persistentVolumeClaim.storageClassName`),
  }),
  requiresClaimSize({volumes: ['persistence', ...VOLUMES]}),
  keyOfSecret({
    in: NESTED,
    secrets: ['agent.tokenExistingSecret.name', 'agent.token'],
    keys: ['agent.tokenExistingSecret.key'],
  }),
  requiredDefault({in: FLAT, keys: ['podAnnotations', 'controllerPodAnnotations']}),
  requiredDefault({
    in: NESTED,
    keys: ['global.podAnnotations', 'agent.podAnnotations', 'task.podAnnotations'],
  }),
  keyError('WRONG_VALUE', {
    in: NESTED,
    keys: CACHE_LIMITS,
    // The binary cache has no switch.
    isWrong: (values, key) =>
      getAt(values, at(key.replace('sizeLimit', 'enabled'))) !== false &&
      getAt(values, at(key)) === '',
    message: 'The cache requires a size limit.',
    suggestion: '40Gi',
  }),
  directories({keys: ['agent.dataDir', 'agent.cacheDir']}),
  httpsMirrors,
  ...permissionRules,
  ...budgetRules,
  efsHandles({in: FLAT}),
  zeroDisables({
    in: NESTED,
    keys: ['agent.replicaCount'],
    message: 'With zero replicas, no controller runs, so no run starts.',
  }),
  zeroDisables({
    in: NESTED,
    keys: CACHE_LIMITS,
    message: 'With zero, the cache stays empty.',
  }),
  zeroDisables({
    in: NESTED,
    keys: ['task.job.ttlSecondsAfterFinished'],
    message: 'With zero, run pods and their logs are deleted as soon as they finish.',
  }),
  zeroDisables({
    in: NESTED,
    keys: ['task.terminationGracePeriodSeconds'],
    message: 'With zero, runs have no time to push their state.',
  }),
  keyError('WRONG_OPTION', {
    in: NESTED,
    keys: ['otel.endpoint'],
    isWrong: (values, key) => isOn(values, 'otel.enabled') && getAt(values, at(key)) === '',
    message: 'The endpoint must not be empty.',
    suggestion: '"otel-collector.observability.svc:4317"',
  }),
];
