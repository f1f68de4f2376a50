import {namesRegistry} from '../../settings/addresses.ts';
import type {ValuesRule} from '../define.ts';
import {at, getAt, isMap, sameTree, type Tree, type Values} from '../tree.ts';
import {directories, runsNotCovered, separateDirectories, tokenInOnePiece, urlOfAccount} from '../values-rules/agent.ts';
import {certificateRules, wins} from '../values-rules/certificates.ts';
import {isOn, textAt} from '../values-rules/reading.ts';
import {keyOfSecret, notNull, printedBare, selectorLabels} from '../values-rules/texts.ts';
import {mountsOfVolumes, needsSwitch, sizedClaims} from '../values-rules/volumes.ts';
import {FLAT, MUTUAL_TLS, NESTED} from './versions.ts';

const NAME_LABEL = 'app.kubernetes.io/name';
const OWN_VOLUMES = ['worker', 'sa-token', 'data-dir', 'cache', 'cache-dir', 'tmp-dir', 'podinfo', 'client-cert', 'ca-bundle'];
const CLAIM = 'persistence.persistentVolumeClaim.claimName';

/** Names that the NO_PROXY of a pod needs so that the cluster itself is not asked of the proxy. */
const isInCluster = (list: string): boolean => list.split(',').some((each) => /^\.?(svc|cluster\.local)$/.test(each.trim()));

/** The name label that each spread constraint of the controllers selects. */
function selectedNames(values: Values): (Tree | undefined)[] {
  const constraints = getAt(values, at('agent.topologySpreadConstraints'));
  return (Array.isArray(constraints) ? constraints : []).map((each) => getAt(each, ['labelSelector', 'matchLabels', NAME_LABEL]));
}

/** R16: the templates stop at a cache in use whose limit is empty. */
const sizedCache = (range: string, name: string, hasSwitch: boolean): ValuesRule => ({
  id: 'R16',
  code: 'WRONG_VALUE',
  in: range,
  severity: 'error',
  test: (values) => {
    const isUsed = !hasSwitch || isOn(values, `agent.${name}.enabled`);
    const path = at(`agent.${name}.sizeLimit`);
    return isUsed && getAt(values, path) === '' ? [{path, message: 'The cache needs a limit.', suggestion: '40Gi'}] : [];
  },
});

/** Rules between keys of agent-job. */
export const valuesRules: readonly ValuesRule[] = [
  tokenInOnePiece,
  urlOfAccount,
  separateDirectories,
  ...certificateRules('global.tls', NESTED, MUTUAL_TLS),
  wins('R17', '>=0.6.2', 'persistence.cache.hostPath.path', 'persistence.cache.persistentVolumeClaim.claimName'),
  mountsOfVolumes(
    'task.extraVolumes',
    ['task.worker.extraVolumeMounts', 'task.runner.extraVolumeMounts'],
    OWN_VOLUMES,
    NESTED,
    'task.sidecars',
  ),
  ...['data', 'cache'].map((name) =>
    needsSwitch('T13', NESTED, `persistence.${name}.persistentVolumeClaim.claimName`, `persistence.${name}.enabled`),
  ),
  needsSwitch('T13', FLAT, CLAIM, 'persistence.enabled'),
  runsNotCovered(FLAT, 'the controller'),
  {
    id: 'T14',
    code: 'CLAIM_HAS_TO_BE_NAMED',
    in: FLAT,
    severity: 'error',
    test: (values) => {
      if (!isOn(values, 'persistence.enabled') || textAt(values, CLAIM) !== '' || isMap(getAt(values, at('secret')))) return [];
      return [
        {
          path: at('persistence.enabled'),
          message:
            'The templates of this version break on a claim of their own, because they read secret.annotations, which the chart lacks.',
          suggestion: `Set ${CLAIM}, or add secret: {annotations: {}}`,
        },
      ];
    },
  },
  {
    id: '6.2',
    code: 'CLAIM_LOST',
    in: FLAT,
    severity: 'error',
    test: (values) =>
      isOn(values, 'persistence.enabled') && textAt(values, CLAIM) === '' && textAt(values, 'efsVolumeHandle') !== ''
        ? [
            {
              path: at('efsVolumeHandle'),
              message: 'Together with a persistence claim the claim of EFS gets lost (no separator between the two documents).',
              suggestion: 'Use one of the two',
            },
          ]
        : [],
  },
  {
    id: 'R7',
    code: 'SHORT_GRACE_PERIOD',
    in: NESTED,
    severity: 'warning',
    test: (values) =>
      Number(getAt(values, at('agent.terminationGracePeriodSeconds'))) < 180
        ? [
            {
              path: at('agent.terminationGracePeriodSeconds'),
              message: 'The controller drains for 180 s, a constant of the chart, and is killed before.',
              suggestion: '180',
            },
          ]
        : [],
  },
  {
    id: 'R32',
    code: 'CLUSTER_THROUGH_PROXY',
    in: NESTED,
    severity: 'warning',
    test: (values) =>
      isOn(values, 'global.proxy.enabled') && !isInCluster(textAt(values, 'global.proxy.noProxy'))
        ? [
            {
              path: at('global.proxy'),
              message: 'noProxy holds no names inside the cluster, so the agent asks the proxy for them.',
              suggestion: 'global.proxy.noProxy: "localhost,127.0.0.1,.svc,.cluster.local,169.254.169.254"',
            },
          ]
        : [],
  },
  {
    id: 'R38',
    code: 'TWO_REGISTRIES',
    in: NESTED,
    severity: 'error',
    test: (values) =>
      textAt(values, 'global.imageRegistry') === ''
        ? []
        : ['agent.image.repository', 'task.runner.image.repository']
            .filter((path) => namesRegistry(textAt(values, path)) && textAt(values, 'global.imageNamespace') === '')
            .map((path) => ({
              path: at(path),
              message: 'global.imageRegistry is put in front of this repository, which names a registry already.',
              suggestion: 'Leave the registry out of one of the two',
            })),
  },
  {
    id: 'R41',
    code: 'MEMORY_MONITOR_WITHOUT_LIMIT',
    in: '>=0.5.74',
    severity: 'warning',
    test: (values) =>
      getAt(values, at('task.runner.resources.limits.memory')) === undefined
        ? [
            {
              path: at('task.runner.memorySoftLimitPercent'),
              message: 'A percentage of no memory limit is nothing: set task.runner.resources.limits.memory.',
            },
          ]
        : [],
  },
  {
    id: 'T32',
    code: 'OTHER_KEY_WINS',
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
            message: `In this version global.podSecurityContext.${key} wins.`,
            suggestion: `global.podSecurityContext.${key}`,
          }));
      }),
  },
  {
    id: 'T35',
    code: 'SELECTS_NOTHING',
    in: '>=0.5.68',
    severity: 'error',
    test: (values) =>
      selectedNames(values).flatMap((name, index) =>
        name === 'agent-job' && textAt(values, 'nameOverride') !== 'agent-job'
          ? [
              {
                path: ['agent', 'topologySpreadConstraints', index, 'labelSelector', 'matchLabels', NAME_LABEL],
                message: 'Since 0.5.68 the pods say scalr-agent here, so this selects none of them.',
                suggestion: 'scalr-agent',
              },
            ]
          : [],
      ),
  },
  selectorLabels(
    '6.1',
    '>=0.5.68',
    ['global.labels', 'global.podLabels', 'agent.podLabels', 'task.podLabels'],
    [NAME_LABEL, 'app.kubernetes.io/instance', 'app.kubernetes.io/component'],
    'The selector of the Deployment looks for this label, which would come out twice.',
  ),
  printedBare('*', 'nameOverride', 'fullnameOverride', 'serviceAccount.name', 'agent.dataDir', 'agent.cacheDir'),
  printedBare(FLAT, 'agent.tokenExistingSecret', 'agent.tokenExistingSecretKey', 'efsVolumeHandle', CLAIM),
  printedBare(FLAT, 'persistence.persistentVolumeClaim.storageClassName'),
  printedBare(NESTED, 'agent.tokenExistingSecret.name', 'agent.tokenExistingSecret.key'),
  printedBare(NESTED, ...['data', 'cache'].map((name) => `persistence.${name}.persistentVolumeClaim.claimName`)),
  printedBare('>=0.5.64 <=0.6.1', ...['data', 'cache'].map((name) => `persistence.${name}.persistentVolumeClaim.storageClassName`)),
  printedBare('>=0.5.68', 'task.job.basename'),
  sizedClaims(FLAT, 'persistence'),
  sizedClaims(NESTED, 'persistence.data', 'persistence.cache'),
  keyOfSecret(NESTED, ['agent.tokenExistingSecret.name', 'agent.token'], 'agent.tokenExistingSecret.key'),
  notNull(FLAT, 'podAnnotations', 'controllerPodAnnotations'),
  notNull(NESTED, 'global.podAnnotations', 'agent.podAnnotations', 'task.podAnnotations'),
  sizedCache(NESTED, 'providerCache', true),
  sizedCache('>=0.5.65', 'moduleCache', true),
  sizedCache('>=0.6.2', 'binaryCache', false),
  directories('*', 'agent.dataDir'),
  directories(NESTED, 'agent.cacheDir'),
];
