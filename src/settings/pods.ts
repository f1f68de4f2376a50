import {image, namesRegistry, registry} from './addresses.ts';
import {defineSetting, type Get, InvalidValue} from './define.ts';
import {choice, integer, objectName, onOff, seconds} from './kinds.ts';
import {annotations, labels, listOf, tolerations} from './lists.ts';
import {bytes, cpu} from './quantity.ts';

export const runCpuRequest = defineSetting({
  id: 'run-cpu-request',
  group: 'Size',
  question: 'CPU a run asks for',
  summary: 'CPU a run asks for, in cores.',
  kind: cpu(),
});

export const runCpuLimit = defineSetting({
  id: 'run-cpu-limit',
  group: 'Size',
  question: 'CPU a run may use',
  summary: 'CPU a run may use, in cores.',
  kind: cpu(),
});

export const runMemoryRequest = defineSetting({
  id: 'run-memory-request',
  group: 'Size',
  question: 'Memory a run asks for',
  summary: 'Memory a run asks for.',
  kind: bytes(),
});

export const runMemoryLimit = defineSetting({
  id: 'run-memory-limit',
  group: 'Size',
  question: 'Memory a run may use',
  summary: 'Memory a run may use; beyond it the run is killed.',
  kind: bytes(),
});

export const controllerReplicas = defineSetting({
  id: 'controller-replicas',
  group: 'Size',
  question: 'Number of controllers',
  summary: 'Number of controller pods.',
  kind: integer({min: 1, max: 10}),
});

export const controllerCpuRequest = defineSetting({
  id: 'controller-cpu-request',
  group: 'Size',
  question: 'CPU request of the controller',
  summary: 'CPU request of the controller, in cores.',
  kind: cpu(),
});

export const controllerCpuLimit = defineSetting({
  id: 'controller-cpu-limit',
  group: 'Size',
  question: 'CPU limit of the controller',
  summary: 'CPU limit of the controller, in cores.',
  kind: cpu(),
});

export const controllerMemoryRequest = defineSetting({
  id: 'controller-memory-request',
  group: 'Size',
  question: 'Memory request of the controller',
  summary: 'Memory request of the controller.',
  kind: bytes(),
});

export const controllerMemoryLimit = defineSetting({
  id: 'controller-memory-limit',
  group: 'Size',
  question: 'Memory limit of the controller',
  summary: 'Memory limit of the controller; Kubernetes kills it above the limit.',
  kind: bytes(),
});

export const nodeSelector = defineSetting({
  id: 'node-selector',
  group: 'Placement',
  question: 'Label of the nodes for runs',
  summary: 'Label of the nodes for runs; may be repeated.',
  kind: labels(),
});

export const controllerNodeSelector = defineSetting({
  id: 'controller-node-selector',
  group: 'Placement',
  question: 'Label of the nodes for the controller',
  summary: 'Label of the nodes for the controller; may be repeated.',
  kind: labels(),
});

export const toleration = defineSetting({
  id: 'toleration',
  group: 'Placement',
  question: 'Taint that runs tolerate',
  summary: 'Taint that runs tolerate, as kubectl taint spells it; may be repeated.',
  kind: tolerations(),
});

export const controllerToleration = defineSetting({
  id: 'controller-toleration',
  group: 'Placement',
  question: 'Taint that the controller tolerates',
  summary: 'Taint that the controller tolerates; may be repeated.',
  kind: tolerations(),
});

/** Labels that the charts set themselves, because their selectors look for them. */
const SELECTOR_LABELS = ['app.kubernetes.io/name', 'app.kubernetes.io/instance', 'app.kubernetes.io/component'];
/** Set by --workload-identity azure. */
export const AZURE_LABEL = 'azure.workload.identity/use';

export const podLabel = defineSetting({
  id: 'pod-label',
  group: 'Placement',
  question: 'Label of the pods',
  summary: 'Label of the pods of the agent and of runs; may be repeated.',
  kind: labels(),
  rule: (map) => {
    const own = SELECTOR_LABELS.find((label) => map[label] !== undefined);
    if (own !== undefined) return new InvalidValue(`the chart sets ${own} itself and finds its pods by it`, 'Choose another label');
    return map[AZURE_LABEL] === undefined
      ? undefined
      : new InvalidValue(`${AZURE_LABEL} has a setting of its own`, 'Use --workload-identity azure');
  },
});

export const podAnnotation = defineSetting({
  id: 'pod-annotation',
  group: 'Placement',
  question: 'Annotation of the pods',
  summary: 'Annotation of the pods of the agent and of runs; may be repeated.',
  kind: annotations(),
});

export const serviceAccountName = defineSetting({
  id: 'service-account-name',
  group: 'Identity',
  question: 'Existing service account',
  summary: 'Existing service account; together with --service-account-annotation the chart creates it under this name.',
  kind: objectName(),
});

export const serviceAccountAnnotation = defineSetting({
  id: 'service-account-annotation',
  group: 'Identity',
  question: 'Annotation of the service account',
  summary: 'Annotation of the service account that the chart creates, for cloud identities; may be repeated.',
  kind: annotations(),
});

export const imageRegistry = defineSetting({
  id: 'image-registry',
  group: 'Images',
  question: 'Registry that mirrors the images',
  summary: 'Registry that mirrors the images; it is put in front of every one.',
  kind: registry(),
});

export const imagePullPolicy = defineSetting({
  id: 'image-pull-policy',
  group: 'Images',
  question: 'When are images pulled?',
  summary: 'Pull policy of the images.',
  kind: choice(['Always', 'IfNotPresent', 'Never']),
});

export const imagePullSecret = defineSetting({
  id: 'image-pull-secret',
  group: 'Images',
  question: 'Secret for pulling images',
  summary: 'Secret for pulling images; may be repeated.',
  kind: listOf(objectName()),
});

const ownRegistry = (value: string, get: Get): InvalidValue | undefined =>
  get(imageRegistry) !== undefined && namesRegistry(value)
    ? new InvalidValue(`"${value}" names a registry and --image-registry would be put in front of it`, 'Leave out one of the two')
    : undefined;

export const agentImage = defineSetting({
  id: 'agent-image',
  group: 'Images',
  question: 'Image of the agent',
  summary: 'Image of the agent; without a tag the one the chart was tested with.',
  kind: image(),
  rule: ownRegistry,
});

export const runnerImage = defineSetting({
  id: 'runner-image',
  group: 'Images',
  question: 'Image that runs execute in',
  summary: 'Image that runs execute in, with its tag.',
  kind: image({tagged: true}),
  rule: ownRegistry,
});

export const shutdownMode = defineSetting({
  id: 'shutdown-mode',
  group: 'Lifecycle',
  question: 'What happens to runs when a pod is stopped?',
  summary: 'What happens to runs when a pod is stopped: stop them in order, let them finish, or kill them.',
  kind: choice(['graceful', 'drain', 'force']),
});

/** Below 1,000,000, which Helm prints as 1e+06. */
const WEEK = 604_800;

export const gracePeriod = defineSetting({
  id: 'grace-period',
  group: 'Lifecycle',
  question: 'How long may stopping take?',
  summary: 'How long stopping may take, in seconds or as 1h30m.',
  kind: seconds({min: 1, max: WEEK}),
});

export const jobTtl = defineSetting({
  id: 'job-ttl',
  group: 'Lifecycle',
  question: 'How long do finished Jobs stay?',
  summary: 'Time that finished Jobs and their logs stay, in seconds or as 1h30m.',
  kind: seconds({min: 1, max: WEEK}),
});

export const schedulingTimeout = defineSetting({
  id: 'scheduling-timeout',
  group: 'Lifecycle',
  question: 'How long may the pod of a run stay unscheduled?',
  summary: 'Time that the pod of a run may wait for a node before the run fails, in seconds or as 10m.',
  kind: seconds({min: 1, max: 86_400}),
});

export const acquireTimeout = defineSetting({
  id: 'acquire-timeout',
  group: 'Lifecycle',
  question: 'How long may a worker take to accept a run?',
  summary: 'Time that a worker may take to accept a run, start of a new node included, in seconds or as 10m.',
  kind: seconds({min: 1, max: 86_400}),
});

export const writableRoot = defineSetting({
  id: 'writable-root',
  group: 'Lifecycle',
  question: 'Run as root with a writable root filesystem?',
  summary: 'Execute runs as root with a writable root filesystem, for hooks that install packages.',
  kind: onOff(),
  caution: (isOn) =>
    isOn
      ? 'Runs execute as root. All Linux capabilities stay dropped, so apt-get needs -o APT::Sandbox::User=root. Use an image that holds the packages where you can.'
      : undefined,
});
