import {gracePeriod, shutdownMode} from '../../settings/pods.ts';
import {cache, dataHome} from '../../settings/storage.ts';
import {efsHandles} from '../address-rules.ts';
import {dataPath, isCos, watchedByKubelet} from '../clouds.ts';
import type {ChartRule, RuleFacts, ValuesRule} from '../define.ts';
import {breaksTemplates, isPem, rootOnOpenShift, settingRule, shortestGrace} from '../shared-rules.ts';
import {directories, keyRule, notNull, printedBare, runsNotCovered, selectorLabels, tokenOfAccount} from '../shared-values-rules.ts';
import {at, getAt, textAt} from '../tree.ts';
import {GOLDEN} from './versions.ts';

const secondsAt = ({values}: RuleFacts, path: string): number => Number(getAt(values, at(path)));

/** The time the agent itself takes to stop: docs/charts/agent-k8s.md, "Stopping". */
function secondsToStop(facts: RuleFacts): number {
  const stop = secondsAt(facts, 'agent.grace_shutdown_timeout');
  const seconds = {drain: secondsAt(facts, 'agent.worker_drain_timeout') + stop, graceful: stop, force: 0};
  return seconds[facts.get(shutdownMode) ?? 'drain'];
}

/** Rules of agent-k8s beside the shared ones. */
export const rules: readonly ChartRule[] = [
  shortestGrace({usual: 'drain', seconds: {drain: 90, graceful: 20, force: 1}}),
  settingRule({
    code: 'GRACE_PERIOD_TOO_SHORT',
    severity: 'error',
    setting: gracePeriod,
    isWrong: (_, facts) => !(secondsAt(facts, 'terminationGracePeriodSeconds') >= secondsToStop(facts)),
    message: (_, facts) =>
      `pods are killed after ${secondsAt(facts, 'terminationGracePeriodSeconds')} s, and the timeouts of the agent add up to ${secondsToStop(facts)} s`,
    suggestion: (_, facts) => `Use --grace-period ${secondsToStop(facts)}, or shorter timeouts`,
  }),
  ...['agent.ca_cert', 'agent.container_task_ca_cert'].map((path) =>
    breaksTemplates({path, breaks: isPem, suggestion: 'Give the certificates with --ca-file'}),
  ),
  settingRule({
    code: 'WATCHED_DIRECTORY',
    severity: 'error',
    setting: dataHome,
    isWrong: (get) => get(cache) === 'hostpath' && isCos(get) && watchedByKubelet(get(dataHome)),
    message: (get) => `${get(dataHome)} is watched by the kubelet, which takes what lies there for volume plugins`,
    suggestion: (get) => `Use --data-home ${dataPath(get)?.value}`,
  }),
  settingRule({
    code: 'UNKNOWN_NODES',
    severity: 'warning',
    setting: dataHome,
    isWrong: (get) => get(cache) === 'hostpath' && watchedByKubelet(get(dataHome)),
    message: (get, {isExplicit}) =>
      `The data lies in ${get(dataHome)} on every node, a path made for GKE and discouraged there.${isExplicit(dataHome) ? '' : ' Say --cloud or --data-home.'}`,
  }),
  settingRule({
    code: 'NOEXEC_DIRECTORY',
    severity: 'warning',
    setting: dataHome,
    isWrong: (get) => get(cache) === 'hostpath' && isCos(get) && !get(dataHome)?.startsWith('/home/kubernetes/'),
    message: (get) =>
      `On Container-Optimized OS most directories are mounted noexec, ${get(dataHome)} probably too; ${dataPath(get)?.value} is not.`,
  }),
  rootOnOpenShift,
];

/** Rules between keys of agent-k8s. */
export const valuesRules: readonly ValuesRule[] = [
  keyRule({
    code: 'NOT_ONE_LINE',
    severity: 'error',
    keys: ['agent.ca_cert', 'agent.container_task_ca_cert'],
    // Line ends, quotes and backslashes break the manifest, and BREAKS_TEMPLATES is about those.
    isWrong: (values, key) => !/^\/\S*$|^[A-Za-z0-9+/]*=*$|[\n"\\]/.test(textAt(values, key)),
    message: 'This takes the path of a file in the image or the base64 of the PEM file in one line (base64 -w0).',
  }),
  keyRule({
    code: 'NOT_ROOT_ON_HOSTPATH',
    severity: 'warning',
    keys: ['securityContext.runAsUser', 'podSecurityContext.runAsUser'],
    isWrong: (values, key) => textAt(values, 'efsVolumeHandle') === '' && Number(getAt(values, at(key)) ?? 0) !== 0,
    message: 'The kubelet makes the data directory of the node for root, and another user cannot write there: only with EFS.',
  }),
  runsNotCovered({covered: 'the controller and the workers'}),
  keyRule({
    code: 'NO_PERMISSIONS',
    severity: 'error',
    keys: ['serviceAccount.create'],
    isWrong: (values, key) => getAt(values, at(key)) === false && textAt(values, 'serviceAccount.name') === '',
    message: 'Without it the chart makes no Role either, and the controller runs as the default account, which may not create pods.',
    suggestion: 'Leave it true, or set serviceAccount.name to an account that has a Role',
  }),
  selectorLabels({
    keys: ['agent.kubernetes_task_labels'],
    labels: ['app.kubernetes.io/name', 'app.kubernetes.io/instance'],
    because: 'The selector of the workers looks for this label, and they could adopt the pods of runs.',
  }),
  keyRule({
    code: 'IMAGE_MODE',
    in: GOLDEN,
    severity: 'warning',
    keys: ['agent.container_task_image'],
    isWrong: (values) => textAt(values, 'agent.container_task_image_mode') === 'legacy',
    message: 'The mode is legacy, and this image counts only in golden mode.',
    suggestion: 'agent.container_task_image_mode: golden',
  }),
  keyRule({
    code: 'IMAGE_MODE',
    in: GOLDEN,
    severity: 'warning',
    keys: ['agent.container_task_image_registry'],
    isWrong: (values) => textAt(values, 'agent.container_task_image_mode') !== 'legacy',
    message: 'The mode is golden, where the whole reference stands in agent.container_task_image.',
  }),
  printedBare({
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
  notNull({keys: ['podAnnotations', 'controllerPodAnnotations', 'workerPodAnnotations']}),
  directories({keys: ['agent.data_home']}),
  tokenOfAccount('the controller'),
  efsHandles({}),
  keyRule({
    code: 'ZERO',
    severity: 'warning',
    keys: ['agent.worker_drain_timeout', 'agent.grace_shutdown_timeout'],
    isWrong: (values, key) => isZero(getAt(values, at(key))) && actionsWith(key).includes(textAt(values, 'agent.worker_on_stop_action')),
    message: 'Zero leaves runs no time to stop: they are killed at once.',
    suggestion: 'Leave it out to keep the default',
  }),
  keyRule({
    code: 'ZERO',
    severity: 'warning',
    keys: ['terminationGracePeriodSeconds'],
    isWrong: (values, key) => isZero(getAt(values, at(key))),
    message: 'Zero kills the pods at once.',
    suggestion: 'Leave it out to keep the default',
  }),
  keyRule({
    code: 'IMAGE_MODE',
    in: GOLDEN,
    severity: 'error',
    keys: ['agent.container_task_image'],
    isWrong: (values, key) => textAt(values, 'agent.container_task_image_mode') === 'golden' && getAt(values, at(key)) === '',
    message: 'The mode is golden, and there is no image for runs.',
    suggestion: 'Leave it out to keep the default',
  }),
];

const isZero = (value: unknown): boolean => Number(value) === 0 && value !== '' && value !== undefined && value !== null;

/** The actions on stop that wait for a time-out. */
const actionsWith = (key: string): string[] => (key.endsWith('drain_timeout') ? ['drain'] : ['drain', 'grace-shutdown']);
