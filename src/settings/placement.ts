import {defineSetting} from './define.ts';
import {labels, tolerations} from './lists.ts';

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
