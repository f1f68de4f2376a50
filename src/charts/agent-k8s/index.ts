import {at, getAt, textAt} from '../../ground/tree.ts';
import {cache} from '../../settings/cache.ts';
import {cloud} from '../../settings/cluster.ts';
import {gracePeriod, shutdownMode} from '../../settings/lifecycle.ts';
import {dataHome} from '../../settings/storage.ts';
import type {Chart} from '../shared/chart.ts';
import {dataPath, efsHandles, isCos, watchedByKubelet} from '../shared/clouds.ts';
import {keyError, keyWarning} from '../shared/key-rule.ts';
import {
  requiredDefault,
  requiresServiceAccountToken,
  runsNotCovered,
  selectorLabels,
  sharedValuesRules,
  unquotedInTemplate,
} from '../shared/key-rules.ts';
import type {ChartDefault} from '../shared/row.ts';
import type {ChartRule, RuleFacts, ValuesRule} from '../shared/rule.ts';
import {breaksTemplates, isPem, settingError, settingWarning} from '../shared/setting-rule.ts';
import {pinnedAgent, rootOnOpenShift, sharedRules, shortestGrace} from '../shared/setting-rules.ts';
import {directories} from '../shared/volume-rules.ts';
import {mirroredRunner, refusals, rows} from './rows.ts';
import {GOLDEN, ignoredKeys, images, kubernetesFloors, ownVariables} from './versions.ts';

const secondsAt = ({values}: RuleFacts, path: string): number => Number(getAt(values, at(path)));

/** The time the agent itself takes to stop: docs/charts/agent-k8s.md, "Stopping". */
function secondsToStop(facts: RuleFacts): number {
  const stop = secondsAt(facts, 'agent.grace_shutdown_timeout');
  const seconds = {
    drain: secondsAt(facts, 'agent.worker_drain_timeout') + stop,
    graceful: stop,
    force: 0,
  };
  return seconds[facts.get(shutdownMode) ?? 'drain'];
}

/** Rules of agent-k8s, in addition to the shared rules. */
export const rules: readonly ChartRule[] = [
  shortestGrace({usual: 'drain', seconds: {drain: 90, graceful: 20, force: 1}}),
  settingError('GRACE_PERIOD_TOO_SHORT', {
    setting: gracePeriod,
    isWrong: (_, facts) =>
      !(secondsAt(facts, 'terminationGracePeriodSeconds') >= secondsToStop(facts)),
    message: (_, facts) =>
      `Pods are killed after ${secondsAt(facts, 'terminationGracePeriodSeconds')} s, but the agent timeouts add up to ${secondsToStop(facts)} s`,
    suggestion: (_, facts) =>
      `Use ${facts.spell(gracePeriod, secondsToStop(facts))}, or shorter timeouts`,
  }),
  ...['agent.ca_cert', 'agent.container_task_ca_cert'].map((path) =>
    breaksTemplates({
      path,
      breaks: isPem,
      suggestion: 'Encode the PEM file as base64 on one line: base64 --wrap=0 ca.pem',
    }),
  ),
  settingError('WATCHED_DIRECTORY', {
    setting: dataHome,
    isWrong: (get) => get(cache) === 'hostpath' && isCos(get) && watchedByKubelet(get(dataHome)),
    message: (get) =>
      `${get(dataHome)} is watched by the kubelet, which treats files in it as volume plugins`,
    suggestion: (get, {spell}) => `Use ${spell(dataHome, dataPath(get)?.value)}`,
  }),
  settingWarning('UNKNOWN_NODES', {
    setting: dataHome,
    isWrong: (get) => get(cache) === 'hostpath' && watchedByKubelet(get(dataHome)),
    message: (get, {isExplicit, spell}) =>
      `The data directory on every node is ${get(dataHome)}, a GKE path that is discouraged even on GKE.${isExplicit(dataHome) ? '' : ` Set ${spell(cloud)} or ${spell(dataHome)}.`}`,
  }),
  settingWarning('NOEXEC_DIRECTORY', {
    setting: dataHome,
    isWrong: (get) =>
      get(cache) === 'hostpath' && isCos(get) && !get(dataHome)?.startsWith('/home/kubernetes/'),
    message: (get) =>
      `On Container-Optimized OS, ${get(dataHome)} is probably mounted noexec, like most directories. Use ${dataPath(get)?.value}.`,
  }),
  rootOnOpenShift,
];

/** Rules between keys of agent-k8s. */
export const valuesRules: readonly ValuesRule[] = [
  keyError('NOT_ONE_LINE', {
    keys: ['agent.ca_cert', 'agent.container_task_ca_cert'],
    // BREAKS_TEMPLATES reports the others. Line breaks in base64 become spaces.
    isWrong: (values, key) =>
      !/^\/\S*$|^[A-Za-z0-9+/]*=*$/.test(textAt(values, key)) && !isPem(textAt(values, key)),
    message:
      'The value must be a path in the image or a PEM file encoded as one line of base64 (base64 -w0).',
  }),
  keyWarning('NOT_ROOT_ON_HOSTPATH', {
    keys: ['securityContext.runAsUser', 'podSecurityContext.runAsUser'],
    isWrong: (values, key) =>
      textAt(values, 'efsVolumeHandle') === '' && Number(getAt(values, at(key)) ?? 0) !== 0,
    message:
      'The kubelet creates the data directory on the node for root. Other users can write to it only with EFS.',
  }),
  runsNotCovered({covered: 'the controller and the workers'}),
  keyError('NO_PERMISSIONS', {
    keys: ['serviceAccount.create'],
    isWrong: (values, key) =>
      getAt(values, at(key)) === false && textAt(values, 'serviceAccount.name') === '',
    message:
      'Without it, the chart creates no Role, and the controller uses the default service account, which cannot create pods.',
    suggestion: 'Set it to true, or set serviceAccount.name to a service account with a Role',
  }),
  selectorLabels({
    keys: ['agent.kubernetes_task_labels'],
    labels: ['app.kubernetes.io/name', 'app.kubernetes.io/instance'],
    because: 'The worker selector uses this label and could match run pods.',
  }),
  keyWarning('IMAGE_MODE', {
    in: GOLDEN,
    keys: ['agent.container_task_image'],
    isWrong: (values) => textAt(values, 'agent.container_task_image_mode') === 'legacy',
    message: 'Ignored in legacy mode; the image is used in golden mode only.',
    suggestion: 'agent.container_task_image_mode: golden',
  }),
  keyWarning('IMAGE_MODE', {
    in: GOLDEN,
    keys: ['agent.container_task_image_registry'],
    isWrong: (values, key) =>
      textAt(values, 'agent.container_task_image_mode') !== 'legacy' &&
      !textAt(values, 'agent.container_task_image').startsWith(textAt(values, key)),
    message:
      'Ignored in golden mode; agent.container_task_image contains the full image reference.',
  }),
  unquotedInTemplate({
    keys: [
      'nameOverride',
      'fullnameOverride',
      'serviceAccount.name',
      'agent.tokenExistingSecret',
      'agent.tokenExistingSecretKey',
      'agent.data_home',
      'efsVolumeHandle',
    ],
  }),
  requiredDefault({keys: ['podAnnotations', 'controllerPodAnnotations', 'workerPodAnnotations']}),
  directories({keys: ['agent.data_home']}),
  requiresServiceAccountToken('the controller'),
  efsHandles({}),
  keyWarning('ZERO_VALUE', {
    keys: ['agent.worker_drain_timeout', 'agent.grace_shutdown_timeout'],
    isWrong: (values, key) =>
      isZero(getAt(values, at(key))) &&
      actionsWith(key).includes(textAt(values, 'agent.worker_on_stop_action')),
    message: 'With zero, runs are killed immediately.',
    suggestion: 'Remove it to use the chart default',
  }),
  keyWarning('ZERO_VALUE', {
    keys: ['terminationGracePeriodSeconds'],
    isWrong: (values, key) => isZero(getAt(values, at(key))),
    message: 'With zero, pods are killed immediately.',
    suggestion: 'Remove it to use the chart default',
  }),
  keyError('IMAGE_MODE', {
    in: GOLDEN,
    keys: ['agent.container_task_image'],
    isWrong: (values, key) =>
      textAt(values, 'agent.container_task_image_mode') === 'golden' &&
      getAt(values, at(key)) === '',
    message: 'Golden mode requires a runner image.',
    suggestion: 'Remove it to use the chart default',
  }),
];

const isZero = (value: unknown): boolean =>
  Number(value) === 0 && value !== '' && value !== undefined && value !== null;

const actionsWith = (key: string): string[] =>
  key.endsWith('drain_timeout') ? ['drain'] : ['drain', 'grace-shutdown'];

/** Defaults that depend on other settings. */
const defaults: readonly ChartDefault[] = [
  {setting: dataHome, value: (get) => (get(cache) === 'efs' ? undefined : dataPath(get))},
];

/** A controller and one worker per node; the agent starts a pod per run, outside the release. */
export const agentK8s: Chart = {
  name: 'agent-k8s',
  character: 'one pod per run; uses root and node directories',
  rows,
  refusals,
  defaults,
  derived: [mirroredRunner],
  rules: [...sharedRules, pinnedAgent('agent-k8s', images), ...rules],
  valuesRules: [...sharedValuesRules, ...valuesRules],
  ownVariables,
  containers: [{name: 'controller and the worker', extraEnv: ['extraEnv']}],
  images,
  ignoredKeys,
  kubernetesFloors,
};
