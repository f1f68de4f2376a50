import {image, namesRegistry, registry} from './addresses.ts';
import {defineSetting, type Get, InvalidValue} from './define.ts';
import {choice, objectName, seconds} from './kinds.ts';
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

export const gracePeriod = defineSetting({
  id: 'grace-period',
  group: 'Lifecycle',
  question: 'How long may stopping take?',
  summary: 'How long stopping may take, in seconds or as 1h30m.',
  kind: seconds({min: 1, max: 604_800}),
});
