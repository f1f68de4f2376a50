import {image, namesRegistry, registry} from './addresses.ts';
import {defineSetting, type Get, InvalidValue, type Kind} from './define.ts';
import {bytes, choice, cpu, integer, objectName, onOff, seconds} from './kinds.ts';
import {annotations, labels, listOf, mounts, object, objects, tolerations} from './lists.ts';

/** Requests and limits of one kind of container. */
function sizesOf(id: string, owner: string, limit: string, more: {isForRuns?: true} = {}) {
  const size = (name: string, what: string, kind: Kind<string>, note = '') =>
    defineSetting('Size', `${id}-${name}`, {
      question: `${what} of ${owner}`,
      summary: `${what} of ${owner}${note}.`,
      kind,
      ...more,
    });
  return {
    cpuRequest: size('cpu-request', 'CPU request', cpu(), ', in cores'),
    cpuLimit: size('cpu-limit', 'CPU limit', cpu(), ', in cores'),
    memoryRequest: size('memory-request', 'Memory request', bytes()),
    memoryLimit: size('memory-limit', 'Memory limit', bytes(), limit),
  };
}

export const {
  cpuRequest: runCpuRequest,
  cpuLimit: runCpuLimit,
  memoryRequest: runMemoryRequest,
  memoryLimit: runMemoryLimit,
} = sizesOf('run', 'a run', '; a run that exceeds it is killed', {isForRuns: true});

export const {
  cpuRequest: workerCpuRequest,
  cpuLimit: workerCpuLimit,
  memoryRequest: workerMemoryRequest,
  memoryLimit: workerMemoryLimit,
} = sizesOf('worker', 'the worker container in each run pod', '', {isForRuns: true});

export const controllerReplicas = defineSetting('Size', 'controller-replicas', {
  question: 'Controller replicas',
  summary: 'Number of controller replicas.',
  kind: integer({min: 1, max: 10}),
});

export const {
  cpuRequest: controllerCpuRequest,
  cpuLimit: controllerCpuLimit,
  memoryRequest: controllerMemoryRequest,
  memoryLimit: controllerMemoryLimit,
} = sizesOf('controller', 'the controller', '; a controller that exceeds it is killed');

export const nodeSelector = defineSetting('Placement', 'node-selector', {
  question: 'Node selector for runs',
  kind: labels(),
});

export const controllerNodeSelector = defineSetting('Placement', 'controller-node-selector', {
  question: 'Node selector for the controller',
  kind: labels(),
});

export const toleration = defineSetting('Placement', 'toleration', {
  question: 'Toleration for runs',
  summary:
    'Taint that runs tolerate: key=value:effect, key:effect, key=value or key; can be repeated.',
  kind: tolerations(),
});

export const controllerToleration = defineSetting('Placement', 'controller-toleration', {
  question: 'Toleration for the controller',
  kind: tolerations(),
});

export const affinity = defineSetting('Placement', 'affinity', {
  question: 'Affinity for runs',
  summary: 'Affinity for the pods that execute runs, as JSON.',
  kind: object(),
});

export const controllerAffinity = defineSetting('Placement', 'controller-affinity', {
  question: 'Affinity for the controller',
  summary: 'Affinity for the controller, as JSON.',
  kind: object(),
});

export const mount = defineSetting('Placement', 'mount', {
  isForRuns: true,
  question: 'Secret, ConfigMap or PVC to mount',
  summary:
    'Volume to mount where runs execute: secret/NAME:PATH, configmap/NAME:PATH or pvc/NAME:PATH; can be repeated.',
  kind: mounts(),
});

export const sidecar = defineSetting('Placement', 'sidecar', {
  isForRuns: true,
  question: 'Additional container in run pods',
  summary: 'Additional container in run pods, as JSON; can be repeated.',
  kind: objects(),
});

/** Labels that the charts set and use in selectors. */
const SELECTOR_LABELS = [
  'app.kubernetes.io/name',
  'app.kubernetes.io/instance',
  'app.kubernetes.io/component',
];
/** Set by --workload-identity azure. */
export const AZURE_LABEL = 'azure.workload.identity/use';

export const podLabel = defineSetting('Placement', 'pod-label', {
  question: 'Pod label',
  summary: 'Label for agent and run pods; can be repeated.',
  kind: labels(),
  rule: (map) => {
    const own = SELECTOR_LABELS.find((label) => map[label] !== undefined);
    if (own !== undefined)
      return new InvalidValue(
        `${own} is reserved for the selectors of the chart`,
        'Use another label',
      );
    return map[AZURE_LABEL] === undefined
      ? undefined
      : new InvalidValue(
          `${AZURE_LABEL} is reserved for --workload-identity`,
          'Use --workload-identity azure',
        );
  },
});

export const podAnnotation = defineSetting('Placement', 'pod-annotation', {
  question: 'Pod annotation',
  summary: 'Annotation for agent and run pods; can be repeated.',
  kind: annotations(),
});

export const serviceAccountName = defineSetting('Identity', 'service-account-name', {
  question: 'Existing service account',
  summary:
    'Existing service account; with --service-account-annotation, the chart creates it under this name.',
  kind: objectName(),
});

export const serviceAccountAnnotation = defineSetting('Identity', 'service-account-annotation', {
  question: 'Annotation of the service account',
  summary:
    'Annotation of the service account that the chart creates, for cloud identities; can be repeated.',
  kind: annotations(),
});

export const imageRegistry = defineSetting('Images', 'image-registry', {
  question: 'Image registry mirror',
  summary: 'Image registry mirror; prepended to every image name.',
  kind: registry(),
});

export const imagePullPolicy = defineSetting('Images', 'image-pull-policy', {
  question: 'Image pull policy',
  kind: choice(['Always', 'IfNotPresent', 'Never']),
});

export const imagePullSecret = defineSetting('Images', 'image-pull-secret', {
  question: 'Image pull secret',
  kind: listOf(objectName()),
});

const ownRegistry = (value: string, get: Get): InvalidValue | undefined =>
  get(imageRegistry) !== undefined && namesRegistry(value)
    ? new InvalidValue(
        `"${value}" already contains a registry, and --image-registry would be prepended`,
        'Remove one of the two',
      )
    : undefined;

export const agentImage = defineSetting('Images', 'agent-image', {
  question: 'Agent image',
  summary: 'Agent image; the default tag is the agent version of the chart.',
  kind: image(),
  rule: ownRegistry,
});

export const runnerImage = defineSetting('Images', 'runner-image', {
  isForRuns: true,
  question: 'Runner image',
  summary: 'Runner image, including its tag.',
  kind: image({tagged: true}),
  rule: ownRegistry,
});

export const shutdownMode = defineSetting('Lifecycle', 'shutdown-mode', {
  isForRuns: true,
  question: 'What happens to runs when a pod is stopped?',
  summary:
    'Shutdown of runs when a pod is stopped: graceful (stop gracefully), drain (let runs finish) or force (kill).',
  kind: choice(['graceful', 'drain', 'force']),
});

/** Below 1,000,000, which Helm prints as 1e+06. */
const WEEK = 604_800;

export const gracePeriod = defineSetting('Lifecycle', 'grace-period', {
  isForRuns: true,
  question: 'Termination grace period',
  summary: 'Termination grace period; seconds or a duration, for example 1h30m.',
  kind: seconds({min: 1, max: WEEK}),
});

export const jobTtl = defineSetting('Lifecycle', 'job-ttl', {
  isForRuns: true,
  question: 'Retention time of finished Jobs',
  summary:
    'Retention time of finished Jobs and their logs; seconds or a duration, for example 1h30m.',
  kind: seconds({min: 1, max: WEEK}),
});

export const schedulingTimeout = defineSetting('Lifecycle', 'scheduling-timeout', {
  isForRuns: true,
  question: 'Scheduling timeout of run pods',
  summary:
    'Scheduling timeout of run pods; a run fails if its pod is not scheduled in time. Seconds or a duration, for example 10m.',
  kind: seconds({min: 1, max: 86_400}),
});

export const acquireTimeout = defineSetting('Lifecycle', 'acquire-timeout', {
  isForRuns: true,
  question: 'Timeout for accepting a run',
  summary:
    'Timeout for a worker to accept a run, including the start of a new node. Seconds or a duration, for example 10m.',
  kind: seconds({min: 1, max: 86_400}),
});

export const writableRoot = defineSetting('Lifecycle', 'writable-root', {
  isForRuns: true,
  question: 'Run as root with a writable root filesystem?',
  summary: 'Execute runs as root with a writable root filesystem, for hooks that install packages.',
  kind: onOff(),
  caution: (isOn) =>
    isOn
      ? 'Runs execute as root. All Linux capabilities are still dropped, so apt-get requires -o APT::Sandbox::User=root. If possible, use an image that contains the packages.'
      : undefined,
});
