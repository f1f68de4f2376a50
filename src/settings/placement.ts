import {changing} from '../ground/finding.ts';
import {defineSetting, type Setting} from './define.ts';
import {InvalidValue} from './kinds/kind.ts';
import {mounts, object, objects, tolerations} from './kinds/kubernetes.ts';
import {annotations, labels} from './kinds/lists.ts';

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
  summary: 'Taint that runs tolerate: key=value:effect, key:effect, key=value or key.',
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
    'Volume to mount where runs execute: secret/NAME:PATH, configmap/NAME:PATH or pvc/NAME:PATH.',
  kind: mounts(),
});

export const sidecar = defineSetting('Placement', 'sidecar', {
  isForRuns: true,
  question: 'Additional container in run pods',
  summary: 'Additional container in run pods, as JSON.',
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
  summary: 'Label for agent and run pods.',
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
          `${AZURE_LABEL} is reserved for workload identity`,
          changing`Use ${{setting: {id: 'workload-identity'}, value: 'azure'}}`,
        );
  },
});

export const podAnnotation = defineSetting('Placement', 'pod-annotation', {
  question: 'Pod annotation',
  summary: 'Annotation for agent and run pods.',
  kind: annotations(),
});

export const placementSettings: readonly Setting[] = [
  nodeSelector,
  controllerNodeSelector,
  toleration,
  controllerToleration,
  affinity,
  controllerAffinity,
  mount,
  sidecar,
  podLabel,
  podAnnotation,
];
